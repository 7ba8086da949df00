"""Outages, changed content and redesigns: what a check says of each version of a site.

A rule is learnt from three annotated pages of each cluster of a site's first version; every later
version is checked by it, from an archive. The versions of the generated sites are 1 content, 2
cosmetic edits, 3 one layout redesigned, 4 all templates, 5 two fields exchanged, 6 an outage;
beside them stand outages, walls, languages and designs on trial that are made of them. Of real
sites each step from one snapshot to the next is a history of its own, annotated with fields that a
program chose. A transition is a change where the rules lose or alter a field, against the truth, on
most of its pages; whatever else is called broken is a false alarm.

Shares of pages that decide were tried beside the usual ones. For each site those are taken that
serve the other sites best, so that the last figure is one of sites that nothing was chosen by.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.report import markdown_table

Told = dict[str, Any]

TITLE = "Outages, changed content and redesigns"
ROOT = Path(__file__).resolve().parent.parent.parent
MIN_SHARE_LOST: Final = 0.5  # of the pages of a field, above which it is a change
BROKEN: Final = frozenset({"partly_redesigned", "redesigned"})
USUAL: Final = "usual"


def run(data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    played = play(data)
    parts = [
        str(__doc__).split("\n\n", 1)[1].strip(),
        markdown_table(*bars(played)),
        "Transitions by kind, and the states that they were given.",
        markdown_table(*table_of_kinds(played)),
    ]
    wrong = [case for case in played if not is_right(case)]
    if wrong:
        parts += ["Transitions with another state.", markdown_table(*table_of(wrong))]
    return "\n\n".join(parts)


def play(data: Path | None, names: Sequence[str] = ()) -> list[Told]:
    """Return what was said of each version, from an installation of its own."""
    with tempfile.TemporaryDirectory() as folder:
        module = "benchmarks.site_changes.playing"
        command = [sys.executable, "-m", module, folder, str(data or ""), *names]
        environment = {**os.environ, "VERTEX_VAR": f"{folder}/var"}
        environment.pop("DATABASE_URL", None)
        done = subprocess.run(
            command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE
        )
    return [json.loads(line) for line in done.stdout.splitlines()]


def is_change(judged: Told) -> bool:
    """Return whether the rules lose or alter a field on most of its pages."""
    return any(n_lost > MIN_SHARE_LOST * n for n_lost, n in judged["lost"].values())


def is_right(judged: Told, thresholds: str = USUAL) -> bool:
    """Return whether a version has a state that is right for it; of real ones the truth decides."""
    state = judged["state_by_thresholds"][thresholds]
    if judged["group"] == "real":
        return (state in BROKEN) == is_change(judged)
    return state in judged["right_states"]


def bars(played: Sequence[Told]) -> tuple[list[str], list[list[object]]]:
    """Return the figures that have a bar."""
    may_change = [
        case for case in played if case["group"] == "real" or BROKEN & set(case["right_states"])
    ]
    changes = [each for each in may_change if is_change(each)]
    calm = [
        case for case in played if case not in changes and not BROKEN & set(case["right_states"])
    ]
    calm += [each for each in may_change if each["group"] == "real" and not is_change(each)]
    n_found = sum(change["site_changed"] for change in changes)
    n_false = sum(each["site_changed"] for each in calm)
    n_right = sum(map(is_right, played))
    return ["", "bar", "measured"], [
        ["changes found", "0.97", _share(n_found, len(changes))],
        ["other transitions called broken", "0", _share(n_false, len(calm))],
        ["right state", "", _share(n_right, len(played))],
        ["right state, shares chosen without the site", "", _share(left_out(played), len(played))],
    ]


def left_out(played: Sequence[Told]) -> int:
    """Return how many states are right where the thresholds were chosen by the other sites."""
    by_family: defaultdict[str, list[Told]] = defaultdict(list)
    for case in played:
        by_family[case["family"]].append(case)
    n_right = 0
    for family, own in by_family.items():
        others = [row for name, rows in by_family.items() if name != family for row in rows]
        selection = max(own[0]["state_by_thresholds"], key=lambda name: _order(others, name))
        n_right += sum(is_right(entry, selection) for entry in own)
    return n_right


def _order(played: Iterable[Told], thresholds: str) -> tuple[int, bool]:
    return sum(is_right(case, thresholds) for case in played), thresholds == USUAL


def table_of_kinds(played: Sequence[Told]) -> tuple[list[str], list[list[object]]]:
    """Return how many transitions of each kind have a right state."""
    rows: defaultdict[str, list[Told]] = defaultdict(list)
    for case in played:
        kind = "real snapshots" if case["group"] == "real" else case["version"]
        rows["demo, " + kind if case["group"] == "demo" else kind].append(case)
    table: list[list[object]] = []
    for kind, own in rows.items():
        states = sorted({entry["state"] for entry in own})
        table.append([kind, _share(sum(map(is_right, own)), len(own)), ", ".join(states)])
    return ["transition", "right", "states"], table


def table_of(played: Sequence[Told]) -> tuple[list[str], list[list[object]]]:
    """Return transitions with their reasons."""
    rows: list[list[object]] = [
        [f"{case['site']}, {case['version']}", case["state"], case["reason"][:200]]
        for case in played
    ]
    return ["site, version", "state", "why"], rows


def _share(n: int, of: int) -> str:
    return f"{n / of:.3f} ({n} of {of})" if of else "-"
