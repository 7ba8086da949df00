"""Say what a rule made of a page in lines, alike in all runs; write and read them as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from clustering.dom.addresses import address_keys
from rules.algorithms.running.matching import Clusters, Match
from rules.algorithms.running.records import Extracted, ExtractedRecord, RunnableRule, without_gaps

NO_RULE: Final = "no_rule"
NO_RECORDS: Final = "no_records"
ERROR_PAGE: Final = "error_page"


@dataclass(frozen=True, slots=True)
class SiteRules:
    """The rules of a site and what decides between them."""

    clusters: Clusters
    rules: Mapping[str, RunnableRule]  # by cluster
    lender_by_cluster: Mapping[str, str] = field(default_factory=dict)  # of those without a rule

    def rule_for(self, cluster: str) -> RunnableRule | None:
        """Return the rule that serves a cluster's pages: its own, else one that it borrows."""
        return self.rules.get(cluster) or self.rules.get(self.lender_by_cluster.get(cluster, ""))


@dataclass(frozen=True, slots=True)
class NoRecord:
    """Why a page has no record."""

    reason: str  # a word to count by
    why: str = ""  # a sentence for people
    missing: Sequence[str] | None = None  # all attributes, where a rule ran and found nothing


@dataclass(frozen=True, slots=True)
class Line:
    """One record of a page, or the reason why the page has none."""

    url: str | None  # as it was handed in; None: of something in a source that has no address
    cluster: str | None
    rule: str | None  # "<cluster>@<version>"
    outcome: ExtractedRecord | NoRecord
    problem: str = ""  # of the page: truncated

    @property
    def record(self) -> ExtractedRecord | None:
        return self.outcome if isinstance(self.outcome, ExtractedRecord) else None

    @property
    def values(self) -> Mapping[str, str | list[str]]:
        """Return the values by attribute, without gaps of nested lists; none without a record."""
        return {} if self.record is None else without_gaps(self.record.values)

    @property
    def nodes(self) -> Mapping[str, str | list[str]]:
        """Return the XPaths of the values by attribute, where they were asked for."""
        return {} if self.record is None else without_gaps(self.record.nodes)

    @property
    def index(self) -> int | None:
        """Return the record's index in its list; None where it is the only record of its page."""
        return self.outcome.index if isinstance(self.outcome, ExtractedRecord) else None

    @property
    def key(self) -> str | None:
        """Return what tells the record from the others of its list; None as for the index."""
        return self.outcome.key if isinstance(self.outcome, ExtractedRecord) else None

    @property
    def reason(self) -> str:
        """Return the word why there is no record; blank where there is one."""
        return self.outcome.reason if isinstance(self.outcome, NoRecord) else ""

    @property
    def why(self) -> str:
        return self.outcome.why if isinstance(self.outcome, NoRecord) else ""


def line_without_rule(url: str, match: Match) -> Line:
    """Return the line of a page that no rule serves."""
    if match.reason:
        outcome = NoRecord(match.reason, match.why)
    else:
        outcome = NoRecord(NO_RULE, f"{match.why} The cluster has no published rule.")
    return Line(url, match.cluster, None, outcome)


def line_of_error(url: str, cluster: str | None, status: int) -> Line:
    """Return the line of a page that came with an error: what a rule finds on it is no record."""
    return Line(url, cluster, None, NoRecord(ERROR_PAGE, f"The host answered {status}."))


def line_not_taken(url: str, place: str, code: str, reason: str) -> Line:
    """Return the line of something in a source that should be a page and is none."""
    return Line(url or None, None, None, NoRecord(code, f"{place}: {reason}"))


def lines_of_extracted(
    url: str, rule: RunnableRule, extracted: Extracted, cluster: str = ""
) -> list[Line]:
    """Return one line for each record, or one with the reason why there is none.

    `cluster` is that of the page, where it borrows the rule.
    """
    cluster = cluster or rule.cluster
    if extracted.reason:
        outcome = NoRecord(extracted.reason, extracted.detail)
        return [Line(url, cluster, rule.name, outcome)]
    if not extracted.records:
        missing = [attribute.name for attribute in rule.attributes]
        return [Line(url, cluster, rule.name, NoRecord(NO_RECORDS, missing=missing))]
    return [
        Line(url, cluster, rule.name, record, extracted.problem) for record in extracted.records
    ]


def line_json(line: Line, *, nodes: bool = False) -> dict[str, Any]:
    """Return a line as written everywhere, keys in this order; `nodes` adds the values' places."""
    address = {"url": None} if line.url is None else address_keys(line.url)
    head = {**address, "cluster": line.cluster, "rule": line.rule}
    if isinstance(line.outcome, NoRecord):
        return head | _no_record_json(line.outcome, has_rule=line.rule is not None)
    problem = {"problem": line.problem} if line.problem else {}
    return head | _record_json(line.outcome, nodes=nodes) | problem


def _no_record_json(outcome: NoRecord, *, has_rule: bool) -> dict[str, Any]:
    if not has_rule:
        return {"reason": outcome.reason, "why": outcome.why}
    payload: dict[str, Any] = {"record": {}, "raw": {}}
    if outcome.missing is None:
        return payload | {"reason": outcome.reason, "why": outcome.why}
    return payload | {"missing": outcome.missing, "confidence": {}, "reason": outcome.reason}


def _record_json(record: ExtractedRecord, *, nodes: bool) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "record": record.values,
        "raw": record.raw,
        "missing": record.missing,
    }
    if record.failed:
        payload["failed"] = record.failed
    if record.problems:
        payload["problems"] = record.problems
    payload |= {"confidence": record.confidence, "normalized": record.normalized}
    if nodes:
        payload["nodes"] = record.nodes
    if record.index is not None:
        payload |= {"index": record.index, "key": record.key}
        if nodes:
            payload["record_nodes"] = record.record_nodes
    if record.details_url:
        payload["details_url"] = record.details_url
    return payload


def line_from_json(payload: Mapping[str, Any]) -> Line:
    """Return the line that was written as JSON, such as one of a golden record."""
    outcome: ExtractedRecord | NoRecord
    if "reason" in payload:
        outcome = NoRecord(payload["reason"], payload.get("why", ""), payload.get("missing"))
    else:
        outcome = ExtractedRecord(
            values=payload["record"],
            raw=payload["raw"],
            normalized=payload["normalized"],
            missing=payload["missing"],
            failed=payload.get("failed", {}),
            confidence=payload["confidence"],
            problems=payload.get("problems", {}),
            nodes=payload.get("nodes", {}),
            record_nodes=payload.get("record_nodes", []),
            index=payload.get("index"),
            key=payload.get("key"),
            details_url=payload.get("details_url", ""),
        )
    return Line(
        payload["url"],
        payload["cluster"],
        payload["rule"],
        outcome,
        payload.get("problem", ""),
    )
