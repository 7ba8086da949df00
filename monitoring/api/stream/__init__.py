"""Routes of the stream, of the chain, and of the lists that are visited at certain times.

stream      how fresh records are, and the steps of the chain
kept_lists  lists of addresses that a site keeps
"""
