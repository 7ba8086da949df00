"""The pages of this app: verticals, the queue, annotating."""
