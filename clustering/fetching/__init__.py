"""All that is fetched, and all that is posted to addresses that people gave: guarded, bounded, polite."""
