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
from rules.bundle.limits import LimitedRuns, RunStopped, borrowed_runs, packed


def lines_of(page: RawPage, site: SiteRules, *, nodes: bool = False) -> list[Line]:
    """Return the lines of a page: one a record, or one that says why there is none."""
    match = match_page(page, site.clusters)
    rule = site.rules.get(match.cluster) if match.cluster is not None else None
    if rule is None:
        return [line_without_rule(page.url, match)]
    extracted = extract(page, rule, nodes=nodes)
    return lines_of_extracted(page.url, rule, extracted)


def extract(
    page: RawPage, rule: RunnableRule, *, nodes: bool = False, votes: bool = True
) -> Extracted:
    """Return the records of a page.

    `nodes` adds where each value stands; without `votes` the losers do not vote, and confidence is trust.
    """
    if rule.is_by_hand:
        return extract_in_child(page, rule, nodes=nodes, votes=votes)
    return extract_here(page, rule, nodes=nodes, votes=votes)


def extract_in_child(
    page: RawPage,
    rule: RunnableRule,
    *,
    nodes: bool = False,
    votes: bool = True,
    runs: LimitedRuns | None = None,
) -> Extracted:
    """Return the records of a page by a rule that somebody wrote; it may come to its limits."""
    question = {
        "kind": "extract",
        "rule": asdict(rule),
        "nodes": nodes,
        "votes": votes,
        "pages": packed([page]),
    }
    try:
        with nullcontext(runs) if runs else borrowed_runs() as child:
            (answer,) = child.ask(question)
    except RunStopped as stopped:
        return Extracted([], STOPPED, f"the stylesheet was stopped: {stopped}")
    except StylesheetRefused as refused:
        return Extracted([], STYLESHEET_FAILED, str(refused))
    records = [ExtractedRecord(**record) for record in answer["records"]]
    return Extracted(**answer | {"records": records})
