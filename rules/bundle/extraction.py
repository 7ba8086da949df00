"""Extract the records of a page: in this process, or in a limited child where a person wrote the rule.

`lines_of` is the one function under every kind of run: `extract_records`, the bundle, Spark and Scrapy.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict

from clustering.algorithms.grouping import RawPage
from rules.algorithms.by_hand.sandbox import StylesheetRefused
from rules.algorithms.running.matching import match_page
from rules.algorithms.running.record_lines import (
    Line,
    SiteRules,
    line_without_rule,
    lines_of_extracted,
)
from rules.algorithms.running.records import Extracted, ExtractedRecord, RunnableRule
from rules.algorithms.running.run_rule import STOPPED, STYLESHEET_FAILED, extract_here
from rules.bundle.limits import LimitedRuns, PageBody, RunStopped, borrowed_runs, packed


def lines_of(page: RawPage, site: SiteRules, *, nodes: bool = False) -> list[Line]:
    """Return the lines of a page: one a record, or one that says why there is none."""
    match = match_page(page, site.clusters)
    rule = site.rules.get(match.cluster) if match.cluster is not None else None
    if rule is None:
        return [line_without_rule(page.url, match)]
    extracted = extract(page.body, page.content_type, page.url, rule, nodes=nodes)
    return lines_of_extracted(page.url, rule, extracted)


def extract(
    body: bytes,
    content_type: str,
    url: str,
    rule: RunnableRule,
    *,
    nodes: bool = False,
    votes: bool = True,
) -> Extracted:
    """Return the records of a page's bytes.

    `nodes` adds where each value stands; without `votes` the losers are not asked, and confidence is trust.
    """
    run = extract_in_child if rule.is_by_hand else extract_here
    return run(body, content_type, url, rule, nodes=nodes, votes=votes)


def extract_in_child(
    body: bytes,
    content_type: str,
    url: str,
    rule: RunnableRule,
    *,
    nodes: bool = False,
    votes: bool = True,
    runs: LimitedRuns | None = None,
) -> Extracted:
    """Return the records of a page's bytes by a rule that somebody wrote; it may come to its limits."""
    asked = {"kind": "extract", "rule": asdict(rule), "url": url, "nodes": nodes, "votes": votes}
    try:
        with nullcontext(runs) if runs else borrowed_runs() as child:
            (found,) = child.ask(asked | {"pages": packed([PageBody(body, content_type)])})
    except RunStopped as stopped:
        return Extracted([], STOPPED, f"the stylesheet was stopped: {stopped}")
    except StylesheetRefused as refused:
        return Extracted([], STYLESHEET_FAILED, str(refused))
    return Extracted(
        **found | {"records": [ExtractedRecord(**record) for record in found["records"]]}
    )
