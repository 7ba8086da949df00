"""The queue of samples."""
