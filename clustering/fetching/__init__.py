"""All that is fetched, and posted to addresses that people gave: guarded, bounded, polite.

Start at `client`, whose `Client` makes every request, and whose `Fetcher` waits for it; `browser`
has the one that runs a page's scripts.

client         one request with its redirects
loop           the asyncio loop of this process, on which all of them are made
guard          which addresses may be connected to
way_out        what refuses the connections that went past the guard
proxies        the proxy that a site is fetched through
sessions       what one site is asked with: headers, cookies, an account
log_in         the log-in by a form
connections    one HTTP/1.1 connection over a socket of the guard
deadlines      the time that a browser may take
decompressing  compressed bodies, within a bound; their charset is chosen in `dom.page`
robots         robots.txt
politeness     pauses that a host asks for, and after failures
refusals       what all refusals of a fetch have in common
"""
