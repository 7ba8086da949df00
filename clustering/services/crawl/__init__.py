"""Crawl: visit a site politely and store what came back.

Start at `crawling`, which describes a crawl and runs it.

crawling       the crawl of a site, asked for, run and resumed
list_crawling  the crawl of one list with its records
exploring      the crawl that visits only what a site model asks for
crawler        a crawl at work: one thread stores, others wait for hosts
host_queue     a crawl's requests to one host
fetch_threads  the threads that fetch from one host
frontier       the pages still to visit, as rows
limits         how far and how fast a crawl goes: checked once, whoever asks
crawl_results  answers, judged and stored
hosts          the leases, pauses and robots.txt of hosts

Imported from outside: the three requests for crawls, `takes_page`, and `hosts`.
"""
