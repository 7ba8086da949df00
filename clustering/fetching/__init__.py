"""All that is fetched, and posted to addresses that people gave: guarded, bounded, polite.

Start at `client`, whose `Fetcher` makes every request; `browser` has the one that runs a page's
scripts.

client       one request with its redirects
guard        which addresses may be connected to
connections  the network under the HTTP library
deadlines    the time that a request may take
decoding     compressed bodies, within a bound
robots       robots.txt
politeness   pauses that a host asks for, and after failures
refusals     what all refusals of a fetch have in common
"""
