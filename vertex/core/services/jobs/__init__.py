"""Jobs: create, claim, run, sweep; and whether the machinery behind them is alive."""
