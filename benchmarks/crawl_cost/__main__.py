"""Measure what a crawled page costs: see `benchmarks.crawl_cost`."""

from __future__ import annotations

import argparse
import asyncio
from contextlib import ExitStack
from pathlib import Path

from benchmarks import crawl_cost
from benchmarks.crawl_cost import COLUMNS, compare, many_sites, row_of, run
from benchmarks.crawl_cost.ground import serve, serving
from benchmarks.report import markdown_table
from tests.servers import own_postgres


def main() -> None:
    parser = argparse.ArgumentParser(description=crawl_cost.__doc__)
    parser.add_argument("--serve", action="store_true", help="serve the pages (internal)")
    parser.add_argument("--against", type=Path, help="another checkout to compare with")
    parser.add_argument("--sites", type=int, help="crawl so many sites in one process only")
    parser.add_argument("--delay", type=float, default=5.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--postgres", action="store_true", help="many sites on PostgreSQL")
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve())
    elif options.against:
        print(compare(options.against.resolve()))
    elif options.sites:
        with ExitStack() as running:
            cost = many_sites(
                running.enter_context(serving()),
                n_sites=options.sites,
                delay=options.delay,
                seconds=options.seconds,
                database_url=running.enter_context(own_postgres()).address
                if options.postgres
                else "",
            )
        row = row_of(f"{options.sites} sites, {options.delay:g} s between two requests", cost)
        print(markdown_table(list(COLUMNS), [row]))
    else:
        print(run(None))


main()
