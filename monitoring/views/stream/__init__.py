"""Pages of the stream and of the chain."""
