"""Values that all changed since they were stored, on SWDE sites whose old template is unknown.

Values that may change in life are changed in several ways: amounts are moved, other values drawn
again from those of the site. Beside whole texts, the first and the second number of a text are
sought, as the attribute that a rule cut out of it. All texts of all pages are candidates. What is
chosen on a site is chosen, and its certainty told, by weights that were trained without the site.
The values of a choice count as they are on the pages, all or nothing of a page (F1). What is
proposed is certain to 0.9; of the rest a person is asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Final

from benchmarks.changed_values.attributes import DRAWN, MOVES, changed_attributes, changed_site
from benchmarks.changed_values.generated import generated_sites
from benchmarks.changed_values.training import Decision, decide_left_out, train
from benchmarks.report import markdown_table
from benchmarks.wrong_values import (
    AttributeScore,
    StoredPages,
    SwdeSite,
    read_sites,
    repaired,
)
from monitoring.algorithms.changed_values import MIN_CERTAINTY, ChangeWeights

TITLE = "Values that all changed"
GOOD_FIT: Final = 0.95
NONE: Final = "-"
REPAIRED_MOVE: Final = MOVES[1]
OF_SWDE: Final = (
    f"Through the repair: whole texts, amounts {REPAIRED_MOVE.name}. A rule is learnt from what the "
    "repair finds of them and of all other attributes of the site, and is run on all pages; what is "
    "not proposed finds nothing."
)
OF_GENERATED: Final = (
    "The same on generated sites, from their first version to the one with new templates, changing "
    f"amounts moved {REPAIRED_MOVE.name} beside what they had changed. The weights are those trained "
    "on SWDE."
)


def run(data: Path | None) -> str:
    """Return the figures as a section in Markdown."""
    if data is None or not (data / "swde").is_dir():
        return "Left out: the pages of SWDE are not in the folder."
    sites = read_sites(data / "swde")
    attributes = [changed for site in sites for changed in changed_attributes(site)]
    decisions, weights_by_site = decide_left_out(attributes)
    swde_scores = []
    for site in sites:
        if site.name in weights_by_site:
            changed, stored = changed_site(site, REPAIRED_MOVE)
            swde_scores += changing_scores(changed, stored, weights_by_site[site.name])
    parts = [report(decisions), report_repairs(OF_SWDE, swde_scores)]
    if (data / "generated").is_dir():
        weights = train(attributes)
        generated_scores = [
            score
            for site, stored in generated_sites(data, REPAIRED_MOVE)
            for score in changing_scores(site, stored, weights)
        ]
        parts.append(report_repairs(OF_GENERATED, generated_scores))
    return "\n\n".join(parts)


def changing_scores(
    site: SwdeSite, stored: StoredPages, weights: ChangeWeights
) -> list[AttributeScore]:
    """Return how right the changing attributes of a site are after a repair."""
    is_constant = {attribute.name: attribute.is_constant for attribute in site.attributes}
    scores = repaired(site, stored, weights)
    return [score for score in scores if not is_constant[score.attribute]]


def report_repairs(introduction: str, scores: Sequence[AttributeScore]) -> str:
    """Return how right the rules of repairs are, by values found again and by values' looks."""
    proposed = [score for score in scores if score.is_proposed]
    by_looks = [score for score in proposed if score.is_told_by_looks]
    others = [score for score in proposed if not score.is_told_by_looks]
    rows: list[list[object]] = [
        [
            name,
            len(own),
            f"{fmean(score.precision for score in own):.3f}" if own else NONE,
            f"{fmean(score.f1 for score in own):.3f}" if own else NONE,
        ]
        for name, own in (
            (f"proposed, of {len(scores)} whose values changed", proposed),
            ("proposed, some stored values found or near", others),
            ("proposed, told by how the values look", by_looks),
        )
    ]
    faulty = sorted((score for score in scores if score.f1 < GOOD_FIT), key=lambda score: score.f1)
    faults: list[list[object]] = [
        [
            score.site,
            score.attribute,
            "yes" if score.is_proposed else "no",
            f"{score.precision:.2f}",
            f"{score.f1:.2f}",
        ]
        for score in faulty
    ]
    return "\n\n".join(
        [
            introduction,
            markdown_table(["attributes", "number", "precision (bar 0.97)", "F1"], rows),
            f"Of an F1 below {GOOD_FIT} then:",
            markdown_table(["site", "attribute", "proposed", "precision", "F1"], faults),
        ]
    )


def report(decisions: Sequence[Decision]) -> str:
    """Return what is proposed, how right it is, and what is wrong or silent."""
    by_change: defaultdict[tuple[str, bool], list[Decision]] = defaultdict(list)
    for decision in decisions:
        attribute = decision.attribute
        by_change[attribute.move.name, attribute.is_number_of_text].append(decision)
    rows = []
    for move in (*MOVES, DRAWN):
        for is_number, what in ((False, "whole texts"), (True, "numbers of texts")):
            own = by_change[move.name, is_number]
            if own:
                rows.append(_row(f"{what}, {move.name}", own))
    rows.append(_row("all", decisions))
    wrong = [each for each in decisions if is_certain(each) and each.fit < GOOD_FIT]
    return "\n\n".join(
        [
            str(__doc__).split("\n\n", 1)[1].strip(),
            markdown_table(
                [
                    "values",
                    "attributes",
                    "proposed",
                    "F1 of those proposed (bar 0.97)",
                    "F1 of all best ones",
                ],
                rows,
            ),
            "How sure the model is of its choices, and how many of their values are right:",
            markdown_table(
                ["certainty", "choices", "mean certainty", "mean F1"],
                _bands_of_certainty(decisions),
            ),
            f"Proposed with an F1 below {GOOD_FIT}:",
            markdown_table(["site", "attribute", "change", "certainty", "F1"], _faults(wrong)),
            "Not proposed, whole texts each moved by up to 20 % or drawn again:",
            markdown_table(
                ["site", "attribute", "change", "certainty", "F1"], _faults(_silent(decisions))
            ),
        ]
    )


def is_certain(decision: Decision) -> bool:
    return decision.choice is not None and decision.choice.certainty >= MIN_CERTAINTY


def _row(name: str, decisions: Sequence[Decision]) -> list[object]:
    proposed = [decision.fit for decision in decisions if is_certain(decision)]
    return [
        name,
        len(decisions),
        f"{len(proposed)} ({len(proposed) / len(decisions):.0%})",
        f"{fmean(proposed):.3f}" if proposed else NONE,
        f"{fmean(decision.fit for decision in decisions):.3f}",
    ]


def _bands_of_certainty(decisions: Iterable[Decision]) -> list[list[object]]:
    """Return of each band of certainty its choices, how sure they are and how right."""
    edges = (0.0, 0.5, 0.7, 0.8, MIN_CERTAINTY, 0.95, 1.01)
    choices = [(each.choice.certainty, each.fit) for each in decisions if each.choice is not None]
    rows: list[list[object]] = []
    for low, high in pairwise(edges):
        own = [(certainty, fit) for certainty, fit in choices if low <= certainty < high]
        if own:
            means = [f"{fmean(column):.3f}" for column in zip(*own, strict=True)]
            rows.append([f"{low:.2f} to {min(high, 1.0):.2f}", len(own), *means])
    return rows


def _silent(decisions: Iterable[Decision]) -> list[Decision]:
    shown = {DRAWN.name, REPAIRED_MOVE.name}
    return [
        decision
        for decision in decisions
        if not is_certain(decision)
        and decision.attribute.move.name in shown
        and not decision.attribute.is_number_of_text
    ]


def _faults(decisions: Iterable[Decision]) -> list[list[object]]:
    rows: list[list[object]] = []
    for decision in decisions:
        attribute = decision.attribute
        certainty = f"{decision.choice.certainty:.2f}" if decision.choice else NONE
        name = f"{attribute.name}{', a number' if attribute.is_number_of_text else ''}"
        rows.append([attribute.site, name, attribute.move.name, certainty, f"{decision.fit:.2f}"])
    return rows
