"""A learnt rule as plain values, and its XPaths; pure."""
