"""What learning a rule anew starts from and ends with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from monitoring.algorithms.repair import ProposedPage
from monitoring.algorithms.rule_reuse import FieldVerdict, Versions
from monitoring.services.checks.fresh_pages import FreshPage
from monitoring.services.checks.tested_pages import lines_with, text_of_body
from rules.algorithms.rule.rule import ClusterRule
from rules.algorithms.running.record_lines import Line
from rules.algorithms.running.records import RunnableRule


class OldPage(NamedTuple):
    """A page as it was, with what the rule in force extracts from it."""

    url: str
    golden: Sequence[Line]
    body: bytes
    content_type: str


@dataclass(slots=True)
class Relearnt:
    """A rule learnt from values that were found again, and what it does on all known pages."""

    definition: ClusterRule
    stylesheet: str
    annotated: list[ProposedPage]
    proposed: list[ProposedPage]
    unannotated: list[str]
    verdict: FieldVerdict
    measures: dict[str, dict[str, Any]] = field(default_factory=dict)  # per attribute
    spurious: dict[str, set[str]] = field(
        default_factory=dict
    )  # by URL: given, though it is not there


def versions_with(
    rule: RunnableRule, old: Sequence[OldPage], fresh: Mapping[str, FreshPage]
) -> list[Versions]:
    """Return what is known of the old pages beside what a rule makes of the new ones."""
    return [
        Versions(
            page.url,
            page.golden,
            lines_with(rule, fresh[page.url]),
            text_of_body(fresh[page.url].body, fresh[page.url].content_type),
        )
        for page in old
        if page.url in fresh
    ]
