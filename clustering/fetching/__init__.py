"""The only package that talks to the network: guarded, bounded and polite."""
