"""Redesigned sites: what checks say of each cluster before and after, and what the repair restores.

A rule is learnt for each described type of page from a few annotated pages. Then the site's next
editions are checked: drift, where nothing is to be found, and a redesign, where each cluster with
another template is. The last edition is repaired with `heal_site --accept`, and what the rules give
afterwards is held against the truth of the new pages. The generated sites hold two kinds of pages
of which one is redesigned; nothing was developed on them. The three snapshots of a real site are
annotated with fields that are chosen by a program: texts of leaves that stand alone at their place
and are written the same in both snapshots; a cluster counts as redesigned where a field stands at
another place on most of its later pages.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import markdown_table

Told = dict[str, Any]

TITLE = "Redesigns and their repair"
ROOT = Path(__file__).resolve().parent.parent.parent
KEYS_TO_THE_CHANGE = 2  # on the overview: `j` chooses the alert, Enter opens its change
KEYS_TO_CONFIRM = 1  # there: `c`
NONE = "-"
COUNTED = ("given", "right", "there", "proposed", "proposed right")


def run(data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    played = play(data)
    parts = [
        str(__doc__).split("\n\n", 1)[1].strip(),
        markdown_table(*check_table(played)),
        markdown_table(*bars(played)),
        (
            "Values that the rules give after the repair, by attribute. "
            "Precision of proposals: of values "
            "found again on the pages that the new rule is learnt from. "
            "Where a cluster could not be "
            "repaired, its attributes count as not found."
        ),
        markdown_table(*attribute_table(played)),
    ]
    left_out = "\n\nThe three snapshots are left out: their pages are not in the folder."
    return "\n\n".join(parts) + (
        "" if any(case["group"] == "snapshots" for case in played) else left_out
    )


def play(data: Path | None, names: Sequence[str] = ()) -> list[Told]:
    """Return what came of each site, from an installation of its own."""
    with tempfile.TemporaryDirectory() as folder:
        called = [
            sys.executable,
            "-m",
            "benchmarks.redesigns.playing",
            folder,
            str(data or ""),
            *names,
        ]
        environment = {**os.environ, "VERTEX_VAR": f"{folder}/var"}
        environment.pop("DATABASE_URL", None)
        done = subprocess.run(called, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE)
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_table(played: Sequence[Told]) -> tuple[list[str], list[list[object]]]:
    """Return which clusters changed, and of which a check said so."""
    rows: list[list[object]] = []
    for case in played:
        for edition in case["editions"]:
            counts = Counter(
                (bool(row["is_redesigned"]), bool(row["is_broken"])) for row in edition["clusters"]
            )
            n_redesigned = counts[True, True] + counts[True, False]
            n_same = counts[False, True] + counts[False, False]
            rows.append(
                [
                    f"{case['site']}, {edition['name']}",
                    f"{counts[True, True]} of {n_redesigned}" if n_redesigned else NONE,
                    f"{counts[False, True]} of {n_same}" if n_same else NONE,
                    _decisions(edition),
                ]
            )
    return ["site, edition", "redesigned clusters found", "others called changed", "repair"], rows


def _decisions(edition: Told) -> str:
    counts: Counter[str] = Counter()
    for row in edition["clusters"]:
        if decision := row.get("decision"):
            result = decision.replace("_", " ")
            counts[
                result
                if decision != "proposed" or row["accepted"]
                else "proposed, field test fails"
            ] += 1
    return ", ".join(f"{n} {told}" for told, n in sorted(counts.items())) or NONE


def bars(played: Sequence[Told]) -> tuple[list[str], list[list[object]]]:
    """Return the figures that have a bar, over all sites."""
    clusters = [
        row for case in played for edition in case["editions"] for row in edition["clusters"]
    ]
    changed = [row for row in clusters if row["is_redesigned"]]
    same = [row for row in clusters if not row["is_redesigned"]]
    called = [row for row in same if row["is_broken"]]
    remaining = [row for row in same if row.get("decision") and not row["is_broken"]]
    broken = [row for row in changed if row.get("decision")]
    repaired = [row for row in broken if row["accepted"]]
    constant = total(row for row in values_of(played) if row["is_constant"])
    confirmed = [row for row in repaired if row["decision"] == "proposed"]
    keys = (KEYS_TO_THE_CHANGE + KEYS_TO_CONFIRM) * len(confirmed)
    n_lost = sum(bool(row["n_lost"]) for row in called)
    n_found, n_kept = (
        sum(row["is_broken"] for row in changed),
        sum(is_kept(row) for row in remaining),
    )
    proposed = ratio(constant, "proposed right", "proposed")
    return ["", "bar", "measured"], [
        ["redesigned clusters found", "all", share(n_found, len(changed))],
        ["other clusters called changed, though all values come out", "0", len(called) - n_lost],
        ["other clusters called changed, because the rule lost values", "", n_lost],
        ["untouched clusters that keep their rule", "all", share(n_kept, len(remaining))],
        ["redesigned clusters that have a rule again", "", share(len(repaired), len(broken))],
        ["constant attributes: precision of the values found again", "0.97", proposed],
        [
            "constant attributes: precision after the repair",
            "0.97",
            ratio(constant, "right", "given"),
        ],
        ["constant attributes: recall after the repair", "0.90", ratio(constant, "right", "there")],
        [
            "keystrokes for each cluster repaired (`j`, `⏎`, `c`)",
            "3",
            f"{keys / max(1, len(repaired)):.1f}",
        ],
    ]


def is_kept(row: Told) -> bool:
    return row["decision"] == "reused" and bool(row["accepted"])


def attribute_table(played: Sequence[Told]) -> tuple[list[str], list[list[object]]]:
    """Return precision and recall of the repair for each attribute of each group of sites."""
    rows: defaultdict[tuple[str, str, bool], list[Told]] = defaultdict(list)
    for row in values_of(played):
        rows[row["kind"], row["attribute"], row["is_constant"]].append(row)
    table: list[list[object]] = []
    for (kind, attribute, is_constant), own in sorted(
        rows.items(), key=lambda each: (each[0][0], not each[0][2])
    ):
        counts = total(own)
        table.append(
            [
                f"{kind}: {attribute}{'' if is_constant else ' (may change)'}",
                ratio(counts, "proposed right", "proposed"),
                ratio(counts, "right", "given"),
                ratio(counts, "right", "there"),
            ]
        )
    return ["pages: attribute", "precision of proposals", "precision after", "recall after"], table


def values_of(played: Sequence[Told]) -> list[Told]:
    """Return what was counted for each attribute of each redesigned type."""
    return [
        row for case in played for edition in case["editions"] for row in edition.get("values", [])
    ]


def total(rows: Iterable[Told]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update({name: row[name] for name in COUNTED})
    return counts


def share(n: int, of: int) -> str:
    return f"{n} of {of}"


def ratio(counts: Counter[str], part: str, whole: str) -> str:
    return (
        f"{counts[part] / counts[whole]:.3f} ({counts[part]:,} of {counts[whole]:,})"
        if counts[whole]
        else NONE
    )
