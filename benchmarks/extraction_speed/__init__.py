"""What a page costs from its bytes to a line ready to store, on rules learnt from two pages.

Run it with: python -m benchmarks.run extraction_speed --data FOLDER
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Final, NamedTuple

import orjson
from lxml import html

from benchmarks.extraction_speed.learnt_sites import LearntSite, learnt_sites
from benchmarks.report import markdown_table
from clustering.algorithms.grouping import RawPage
from rules.algorithms.running.matching import match_page
from rules.algorithms.running.record_lines import line_json
from rules.algorithms.running.run_rule import transform
from rules.bundle.extraction import lines_of

TITLE = "Speed of extraction"
N_PAGES: Final = 20  # of a site
N_ROUNDS: Final = 3
MOST_MEDIAN, MOST_WORST = 8.0, 15.0
INTRODUCTION: Final = (
    "Every generated site and every site of SWDE: clustered by `auto`, "
    "a rule learnt from 2 annotated pages and 18 "
    f"others, then run on {N_PAGES} pages, none of them annotated. "
    "Processor time as a multiple of what "
    "`lxml.html.document_fromstring` takes for the same bytes in the same run, the least of "
    f"{N_ROUNDS} rounds. Whole way: from the bytes to the line in JSON, with matching, places, "
    "the losers' "
    "votes and normalised values. The parts are measured one by one: parsing with its guards, "
    "finding the cluster "
    "on the parsed page, the stylesheet with and without votes.\n\n"
)
HEADER: Final = [
    "site",
    "parse, ms",
    "whole way",
    "parse with guards",
    "cluster",
    "stylesheet",
    "without votes",
    "attributes",
]


class SiteCost(NamedTuple):
    """What the pages of a site cost, as multiples of parsing them."""

    name: str
    parse_ms: float
    whole: float
    parse_page: float
    matching: float
    stylesheet: float
    without_votes: float
    n_attributes: int

    def row(self) -> list[object]:
        numbers = [f"{number:.2f}" for number in self[1:-1]]
        return [self.name, *numbers, self.n_attributes]


def run(data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    if data is None or not (data / "swde").is_dir() or not (data / "generated").is_dir():
        return "Left out: the pages of SWDE and the generated sites are not in the folder."
    costs = [cost_of(site) for site in learnt_sites(data)]
    whole = [cost.whole for cost in costs]
    rows = [cost.row() for cost in sorted(costs, key=lambda cost: -cost.whole)]
    p95 = quantiles(whole, n=20)[-1]
    return (
        f"{INTRODUCTION}{len(costs)} sites. Median {median(whole):.1f} x, "
        f"95th percentile {p95:.1f} x, worst "
        f"{max(whole):.1f} x; wanted are {MOST_MEDIAN:.0f} x and {MOST_WORST:.0f} x.\n\n"
        + markdown_table(HEADER, rows)
    )


def cost_of(site: LearntSite) -> SiteCost:
    """Measure the steps of a site in interleaved rounds."""
    pages = site.pages[:N_PAGES]
    (rule,) = site.rules.rules.values()
    steps: list[Callable[[RawPage], object]] = [
        lambda page: html.document_fromstring(page.body),
        lambda page: [
            orjson.dumps(line_json(line, nodes=True))
            for line in lines_of(page, site.rules, nodes=True)
        ],
        lambda page: page.parsed,
        lambda page: match_page(page, site.rules.clusters),
        lambda page: page.tree is not None and transform(rule.stylesheet, page.tree, nodes=True),
        lambda page: page.tree is not None and transform(rule.stylesheet, page.tree, votes=False),
    ]
    rounds = [[_seconds(step, pages) for step in steps] for _ in range(N_ROUNDS)]
    bare, whole, parse, match, votes, no_votes = map(min, zip(*rounds, strict=True))
    return SiteCost(
        site.name,
        bare / len(pages) * 1000,
        whole / bare,
        parse / bare,
        (match - parse) / bare,
        (votes - parse) / bare,
        (no_votes - parse) / bare,
        len(rule.attributes),
    )


def _seconds(step: Callable[[RawPage], object], pages: Sequence[RawPage]) -> float:
    """Return the processor time of a step on pages that nothing was read of yet."""
    fresh = [RawPage(page.url, page.body, page.content_type) for page in pages]
    gc.collect()
    began = time.process_time()
    for page in fresh:
        step(page)
    return time.process_time() - began
