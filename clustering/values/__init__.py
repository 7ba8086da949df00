"""Read values as pages write them: prices, dates, numbers, phones, ratings; pure."""
