"""Extract the records of a page: in this process, or in a limited child if that may take long.

`lines_of` is the one function under every kind of run: `extract_records`, the bundle,
Spark and Scrapy.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict, replace
from typing import Final

import orjson

from clustering.algorithms.grouping import RawPage
from clustering.dom.addresses import BadAddress, normalise_url
from clustering.dom.page import MAX_BYTES, PageTooLarge
from clustering.services.children.limits import CallStopped, ChildrenBusy, call_when_free
from rules.algorithms.by_hand.sandbox import StylesheetRefused
from rules.algorithms.running.matching import Clusters, Match, match_page
from rules.algorithms.running.record_lines import (
    Line,
    SiteRules,
    line_without_rule,
    lines_of_extracted,
)
from rules.algorithms.running.records import Extracted, ExtractedRecord, RunnableRule
from rules.algorithms.running.run_rule import (
    STOPPED,
    STYLESHEET_FAILED,
    TOO_LARGE,
    extract_here,
)
from rules.bundle.limited_child import match_in_child, packed
from rules.bundle.limits import LimitedRuns, RunStopped, borrowed_runs

# An XPath may take the square of a page's elements: with 100,000 `<br>` one took 20 seconds.
# A page of more tags than nearly all have is read where that can be stopped: a learnt rule
# after LEARNT_SECONDS.
MAX_TAGS_HERE: Final = 10_000
LEARNT_SECONDS: Final = 1.0
# Telling the cluster of a page takes time and memory by its bytes: of 3 MB up to 1.9 seconds and
# 490 MB (benchmarks.hostile). Of a page that is larger than nearly all it is told where that can
# be stopped.
MAX_BYTES_HERE: Final = 1_000_000


def lines_of(
    page: RawPage, site: SiteRules, *, nodes: bool = False, in_child: bool = False
) -> list[Line]:
    """Return the lines of a page: one a record, or one that says why there is none.

    They say the address as it is given; clusters and links go by its normalised form. Rules that
    come from elsewhere run `in_child`, whatever their bundle says of itself.
    """
    given_url = page.url
    page = _with_normalised_url(page)
    match = find_cluster(page, site.clusters)
    rule = site.rule_for(match.cluster) if match.cluster is not None else None
    if rule is None:
        return [line_without_rule(given_url, match)]
    extracted = extract(page, rule, nodes=nodes, in_child=in_child)
    return lines_of_extracted(given_url, rule, extracted, match.cluster or "")


def find_cluster(page: RawPage, clusters: Clusters) -> Match:
    """Return which cluster a page belongs to, and why; none where that had to be stopped."""
    if len(page.body) <= MAX_BYTES_HERE:
        return match_page(page, clusters)
    if len(page.body) > MAX_BYTES:
        return Match(None, clusters.variant, str(PageTooLarge(len(page.body))), TOO_LARGE)
    try:
        answer = call_when_free(
            match_in_child,
            page.body,
            page.content_type,
            page.url,
            page.inbound_xpath,
            orjson.dumps(clusters),
        )
    except (CallStopped, ChildrenBusy) as stopped:
        why = f"To tell its cluster was stopped: {stopped}."
        return Match(None, clusters.variant, why, STOPPED)
    return Match(**answer)


def _with_normalised_url(page: RawPage) -> RawPage:
    try:
        url = normalise_url(page.url)
    except BadAddress:
        return page
    return page if url == page.url else replace(page, url=url)


def extract(
    page: RawPage,
    rule: RunnableRule,
    *,
    nodes: bool = False,
    votes: bool = True,
    in_child: bool = False,
) -> Extracted:
    """Return the records of a page.

    `nodes` adds where each value stands; without `votes` the losers do not vote, and confidence is
    the same on all pages. A page that is large enough to keep a learnt rule busy for long is read
    where that can be stopped.
    """
    if in_child or rule.is_by_hand or page.body.count(b"<") > MAX_TAGS_HERE:
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
    """Return the records of a page by a rule that may come to its limits: it is stopped there."""
    question = {
        "kind": "extract",
        "seconds": None if rule.is_by_hand else LEARNT_SECONDS,
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
