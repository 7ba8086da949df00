"""Say what a rule made of a page as JSON lines, the same in every kind of run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from rules.algorithms.running.matching import Clusters, Match
from rules.algorithms.running.records import Extracted, ExtractedRecord, RunnableRule

Line = dict[str, Any]  # JSON values

NO_RULE: Final = "no_rule"
NO_RECORDS: Final = "no_records"


@dataclass(frozen=True, slots=True)
class SiteRules:
    """The rules of a site and what decides between them."""

    clusters: Clusters
    rules: Mapping[str, RunnableRule]  # by cluster


def line_without_rule(url: str, match: Match) -> Line:
    """Return the line of a page that no rule serves."""
    reason = match.reason or NO_RULE
    why = match.why if match.reason else f"{match.why} The cluster has no published rule."
    return {"url": url, "cluster": match.cluster, "rule": None, "reason": reason, "why": why}


def line_not_taken(url: str, place: str, code: str, reason: str) -> Line:
    """Return the line of something in a source that should be a page and is none."""
    return {
        "url": url or None,
        "cluster": None,
        "rule": None,
        "reason": code,
        "why": f"{place}: {reason}",
    }


def lines_of_extracted(
    url: str, rule: RunnableRule, extracted: Extracted, *, nodes: bool = False
) -> list[Line]:
    """Return one line for each record, or one with the reason why there is none."""
    head = {"url": url, "cluster": rule.cluster, "rule": rule.name}
    if extracted.reason:
        return [
            head | {"record": {}, "raw": {}, "reason": extracted.reason, "why": extracted.detail}
        ]
    if not extracted.records:
        missing = [attribute.name for attribute in rule.attributes]
        return [
            head
            | {"record": {}, "raw": {}, "missing": missing, "confidence": {}, "reason": NO_RECORDS}
        ]
    problem = {"problem": extracted.problem} if extracted.problem else {}
    return [head | _body(record, nodes=nodes) | problem for record in extracted.records]


def _body(record: ExtractedRecord, *, nodes: bool) -> Line:
    line: Line = {"record": record.values, "raw": record.raw, "missing": record.missing}
    if record.failed:
        line["failed"] = record.failed
    line |= {"confidence": record.confidence, "normalized": record.normalized}
    if nodes:
        line["nodes"] = record.nodes
    if record.index is not None:
        line |= {"index": record.index, "key": record.key}
        if nodes:
            line["record_nodes"] = record.record_nodes
    return line
