"""Crawl: visit a site politely and store what came back.

Start at `crawling`, which describes a crawl and runs it.

crawling       the crawl of a site, asked for, run and resumed
list_crawling  the crawl of one list with its records
address_lists  visits to the addresses of a list
listed_pages   what a job keeps of its list once all its pages are due
revisiting     visits to known pages, and to new ones that they lead to
sitemap_crawling  the crawl of what sitemaps list
exploring      the crawl that visits only what a site model asks for
fetch_service  the jobs that fetch, many in one process
engine         drives the crawls of a process, and stores what comes for all of them
crawler        one crawl at work: what it asks for next
host_queue     a crawl's requests to one host
fetch_tasks    what is fetched: pages of a crawl, and errands
errands        addresses that a check, a repair or a page's look has fetched in the same turns
frontier       the pages still to visit, as rows; addresses that look like a trap are left out
limits         how far and how fast a crawl goes: checked once, whoever asks
crawl_results  answers, judged and stored
rendered_pages  which pages a browser fetches
site_sessions  what a site is asked with, from its row
hosts          the leases, pauses and robots.txt of hosts

Imported from outside: the three requests for crawls, `takes_page`, `hosts` and `errands`.
"""
