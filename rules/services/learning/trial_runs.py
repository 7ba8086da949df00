"""Check a stylesheet somebody wrote and score it on its cluster's samples; nothing is stored.

What the sandbox refuses does not run. The rest runs page by page in a process that can be stopped,
until all samples are done, one of them came to the limits, or the time for an answer is over.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lxml.etree import _Element

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Vertical
from clustering.models import Cluster, Snapshot
from clustering.services.pages.stored_trees import read_snapshot
from rules.algorithms.by_hand.css_selectors import CSS, BadSelector, css_to_xpath
from rules.algorithms.by_hand.hand_edits import (
    HandWritten,
    empty_stylesheet,
    stylesheet_text,
    tells_places,
    ways_of,
    with_xpaths,
    within_record,
)
from rules.algorithms.by_hand.sandbox import StylesheetRefused, read_stylesheet
from rules.algorithms.by_hand.scoring import (
    AttributeScore,
    ScoredPage,
    Values,
    score_pages,
    values_found,
)
from rules.algorithms.running.records import Extracted, RunnableRule
from rules.algorithms.running.run_rule import STOPPED, STYLESHEET_FAILED
from rules.bundle.extraction import extract_in_child
from rules.bundle.limits import LimitedRuns, borrowed_runs
from rules.bundle.xpath_checks import check_xpaths
from rules.models import Rule
from rules.services.learning.sample_pages import (
    SamplePages,
    annotated_as_seen,
    annotated_page,
    sample_pages_of,
)
from rules.services.learning.schemas import vertical_of

MAX_SECONDS = 20.0  # for all samples; people wait
NOT_RUN = "not_run"
RULE_CHECK, RULE_SAVE = "rule-check", "rule-save"  # work of which a person has one at a time


class HandEdit(NamedTuple):
    """What somebody wrote: a whole stylesheet, or XPaths of some attributes of its base version."""

    base: Rule | None = None
    stylesheet: str | bytes | None = None
    xpaths: Mapping[str, Sequence[str]] = {}
    whole: frozenset[str] = frozenset()  # attributes of which the whole text is the value

    @property
    def is_import(self) -> bool:
        return self.base is None and self.stylesheet is not None


@dataclass(frozen=True, slots=True)
class Trial:
    """What a stylesheet came to on the samples of a cluster."""

    cluster: Cluster
    vertical: Vertical | None
    attributes: Sequence[AttributeType]
    stylesheet: str = ""  # as it would be kept
    refused: str = ""  # why it may not run, or cannot
    has_places: bool = False  # whether it tells where values stand
    samples: SamplePages | None = None
    runs: Sequence[Run] = ()  # in the order of the samples
    scores: Sequence[AttributeScore] = ()
    seconds: float = 0.0
    xpaths: Mapping[str, HandWritten] = field(default_factory=dict)  # those that somebody wrote

    @property
    def is_runnable(self) -> bool:
        return not self.refused

    @property
    def stopped(self) -> Run | None:
        """The sample on which it came to its limits."""
        return next((run for run in self.runs if run.reason == STOPPED), None)

    @property
    def n_run(self) -> int:
        return sum(run.values is not None for run in self.runs)

    @property
    def n_not_run(self) -> int:
        return sum(run.reason == NOT_RUN for run in self.runs)

    @property
    def n_annotated(self) -> int:
        return sum(run.annotated is not None for run in self.runs)


@dataclass(frozen=True, slots=True)
class Run:
    """What came of one sample."""

    snapshot: Snapshot
    annotated: Mapping[str, Values] | None  # None where nobody annotated the sample
    values: Mapping[str, Values] | None = None  # None where the rule failed on it
    reason: str = ""
    why: str = ""


def try_edit(cluster: Cluster, edit: HandEdit, *, runs: LimitedRuns | None = None) -> Trial:
    """Return what somebody's edit of a cluster's rule comes to on the samples."""
    vertical = vertical_of(cluster)
    if vertical is None:
        why = (
            f"Nobody has said what the pages of {cluster.title} describe; choose a vertical first."
        )
        return Trial(cluster, None, [], refused=why)
    attributes = vertical.attribute_types()
    try:
        text, written = compose(cluster, edit, attributes)
        root = read_stylesheet(text.encode())
    except StylesheetRefused as refused:
        return Trial(cluster, vertical, attributes, _text_of(edit), refused=str(refused))
    samples = sample_pages_of(cluster)
    rule = RunnableRule(cluster.name, 0, text, attributes, is_by_hand=True)
    started = time.monotonic()
    with nullcontext(runs) if runs else borrowed_runs() as limited:
        tried = _run(rule, samples, started + MAX_SECONDS, limited)
    pages = [ScoredPage(run.annotated, run.values) for run in tried]
    return Trial(
        cluster=cluster,
        vertical=vertical,
        attributes=attributes,
        stylesheet=text,
        refused=_why_none_ran(tried),
        has_places=tells_places(root),
        samples=samples,
        runs=tried,
        scores=score_pages(rule.attributes, pages),
        seconds=time.monotonic() - started,
        xpaths=written,
    )


def compose(
    cluster: Cluster, edit: HandEdit, attributes: Sequence[AttributeType]
) -> tuple[str, dict[str, HandWritten]]:
    """Return an edit's stylesheet and the XPaths that it changes. Raises StylesheetRefused."""
    if edit.stylesheet is not None:
        return stylesheet_text(edit.stylesheet), {}
    written_before = xpaths_of(edit.base, attributes)
    is_multi = {attribute.name: attribute.is_multi for attribute in attributes}
    unknown = [name for name in edit.xpaths if name not in written_before]
    if unknown:
        known = ", ".join(written_before)
        raise StylesheetRefused(f"{unknown[0]} is no attribute of the vertical; it has: {known}")
    base = start_of(cluster, edit.base, attributes)
    within = within_record(read_stylesheet(base.encode()), list(written_before))
    changed = {}
    for name, xpaths in edit.xpaths.items():
        before = written_before[name]
        start = ".//" if name in within else "//"
        lines = tuple(_as_xpath(line.strip(), name, start) for line in xpaths if line.strip())
        selections = () if name in edit.whole else before.selections
        was_part = any(not selection.is_whole for selection in before.selections)
        becomes_whole = name in edit.whole and was_part
        if lines != before.xpaths or becomes_whole:
            changed[name] = HandWritten(name, lines, is_multi[name], selections)
            check_xpaths(changed[name], is_within_record=name in within)
    if not changed:
        return base, {}
    return with_xpaths(base, list(changed.values()), check=check_xpaths), changed


def _as_xpath(line: str, attribute: str, start: str) -> str:
    """Return a line, which may be a CSS selector, as an XPath. Raises StylesheetRefused."""
    if not line.startswith(CSS):
        return line
    try:
        return css_to_xpath(line.removeprefix(CSS), start=start)
    except BadSelector as error:
        raise StylesheetRefused(f"{attribute}: {error}") from None


def xpaths_of(rule: Rule | None, attributes: Sequence[AttributeType]) -> dict[str, HandWritten]:
    """Return the XPaths by which a version finds a vertical's attributes, as far as known."""
    figures: dict[str, Any] = {}
    learnt: dict[str, Any] = {}
    within: set[str] = set()  # attributes whose XPaths are relative to a record
    if rule is not None:
        figures = {figure["attribute"]: figure for figure in rule.figures}
        learnt = {entry["attribute"]: entry for entry in rule.definition.get("attributes", [])}
        root = root_of(rule)
        if root is not None:
            within = within_record(root, [attribute.name for attribute in attributes])
    written = {}
    for attribute in attributes:
        name = attribute.name
        ways = ways_of(figures.get(name, {}), learnt.get(name, {}))
        dot = "." if name in within else ""  # a learnt XPath is printed as of the whole page
        xpaths = [f"{dot}{xpath}" if xpath.startswith("/") else xpath for xpath, _ in ways]
        selections = [selection for _, selection in ways]
        written[name] = HandWritten(name, tuple(xpaths), attribute.is_multi, tuple(selections))
    return written


def start_of(cluster: Cluster, base: Rule | None, attributes: Sequence[AttributeType]) -> str:
    """Return the stylesheet that is changed: a version's, or one that finds nothing yet."""
    names = [attribute.name for attribute in attributes]
    return base.stylesheet if base else empty_stylesheet(names, title=cluster.title)


def root_of(rule: Rule) -> _Element | None:
    """Return the root of a version's stylesheet; None where the sandbox refuses it."""
    try:
        return read_stylesheet(rule.stylesheet.encode())
    except StylesheetRefused:
        return None


def tells_where(rule: Rule) -> bool:
    """Return whether a version tells where its values stand, as all that are learnt do."""
    if not rule.is_by_hand:
        return True
    root = root_of(rule)
    return root is not None and tells_places(root)


def _text_of(edit: HandEdit) -> str:
    text = edit.stylesheet
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text or ""


def _run(rule: RunnableRule, samples: SamplePages, until: float, limited: LimitedRuns) -> list[Run]:
    """Run a rule on the samples, one by one, as long as there is time and it ends."""
    runs: list[Run] = []
    with_annotations = {snapshot.pk for snapshot in samples.annotated}
    is_over = False
    for snapshot in samples.samples:
        page = annotated_page(snapshot) if snapshot.pk in with_annotations else None
        annotated = annotated_as_seen(page) if page else None
        is_over = is_over or time.monotonic() > until
        if is_over:
            why = "there was no time left for it"
            runs.append(Run(snapshot, annotated, reason=NOT_RUN, why=why))
            continue
        extracted = _extracted(snapshot, rule, limited)
        if extracted is None:
            runs.append(Run(snapshot, annotated, reason="gone", why="its bytes are gone"))
            continue
        values = None if extracted.reason else values_found(extracted)
        runs.append(Run(snapshot, annotated, values, extracted.reason, extracted.detail))
        is_over = extracted.reason in {STOPPED, STYLESHEET_FAILED}
    return runs


def _extracted(snapshot: Snapshot, rule: RunnableRule, runs: LimitedRuns) -> Extracted | None:
    page = read_snapshot(snapshot)
    return None if page is None else extract_in_child(page, rule, nodes=True, runs=runs)


def _why_none_ran(runs: Sequence[Run]) -> str:
    """Return why a stylesheet cannot run at all; blank if it ran, was stopped, or has no page."""
    if any(run.values is not None for run in runs):
        return ""
    return next((run.why for run in runs if run.reason == STYLESHEET_FAILED), "")


def trial_json(trial: Trial) -> dict[str, Any]:
    """Return what a trial came to as plain values, for programs."""
    stopped = trial.stopped
    return {
        "refused": trial.refused,
        "stopped": f"{stopped.snapshot.page.url}: {stopped.why}" if stopped else "",
        "samples": len(trial.runs),
        "run": trial.n_run,
        "seconds": round(trial.seconds, 3),
        "tells_places": trial.has_places,
        "attributes": [_score_json(trial, score) for score in trial.scores],
    }


def _score_json(trial: Trial, score: AttributeScore) -> dict[str, Any]:
    first_wrong = None
    if score.examples:
        example = score.examples[0]
        first_wrong = {
            "url": trial.runs[example.page].snapshot.page.url,
            "expected": list(example.expected),
            "got": list(example.extracted),
        }
    return {
        "attribute": score.name,
        "right": score.n_right,
        "wrong": score.n_wrong,
        "missed": score.n_missed,
        "unwanted": score.n_unwanted,
        "absent": score.n_absent,
        "found": score.n_found,
        "others": score.n_others,
        "first_wrong": first_wrong,
    }
