"""Measure what a crawled page costs: see `benchmarks.crawl_cost`."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from benchmarks import crawl_cost
from benchmarks.crawl_cost import compare, many_sites, row_of, run, serve, serving


def main() -> None:
    parser = argparse.ArgumentParser(description=crawl_cost.__doc__)
    parser.add_argument("--serve", action="store_true", help="serve the pages (internal)")
    parser.add_argument("--against", type=Path, help="another checkout to compare with")
    parser.add_argument("--sites", type=int, help="crawl so many sites in one process only")
    parser.add_argument("--delay", type=float, default=5.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve())
    elif options.against:
        print(compare(options.against.resolve()))
    elif options.sites:
        with serving() as port:
            cost = many_sites(
                port, n_sites=options.sites, delay=options.delay, seconds=options.seconds
            )
        print(row_of(f"{options.sites} sites", cost))
    else:
        print(run(None))


main()
