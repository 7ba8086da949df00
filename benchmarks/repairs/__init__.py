"""Repairs: what the rules of a site give after a redesign, once each proposal was accepted.

A rule is learnt from three annotated pages of each cluster of a site's first version, the next
version is checked and repaired with `heal_site --accept`, and what the rules give then is held
against the truth of all pages that both versions have. The versions of the generated sites are 3
one layout redesigned, 4 all templates, 5 two fields exchanged; each begins anew from the first
one. Version 4 is repaired once more with all its pages at other addresses that tell nothing of
the former ones; by what a page is known there was chosen while looking at these sites, so it is
not counted among the others. Of real sites those steps are taken that are known to be redesigns;
their fields were chosen by a program, texts that stand alone at their place and are written the
same before and after. Fields are counted as the vertical says: constant ones, and those that may
have changed since.
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
from typing import Any, Final

from benchmarks.report import markdown_table

TITLE = "Repairs of generated and real sites"
ROOT = Path(__file__).resolve().parent.parent.parent
NONE: Final = "-"
SIGNATURE_VARIANTS: Final = ("cluster_match", "page_match")
COUNTED: Final = ("given", "right", "there", "proposed", "proposed right")

Row = dict[str, Any]


def run(data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    if data is None:
        return "Left out: the histories are not in the folder."
    repaired = repair_all(data)
    generated = [row for row in repaired if row["group"] != "real" and not is_moved(row)]
    parts = [
        str(__doc__).split("\n\n", 1)[1].strip(),
        markdown_table(*bars(generated)),
        "By version of the generated sites, and the real ones:",
        markdown_table(*table_of_versions(repaired)),
        (
            "Reuse of rules (section IV-C of the paper, its Figure 5): "
            "the share of the pages whose rule is reused, and "
            "that of the pages on which the old rules fail. Where their sum is near 1, "
            "every page that did not "
            "change kept its rule. As published are those reused whose cluster was found by "
            "its signature; of "
            "the others the field test alone decided, where the paper has no reuse."
        ),
        markdown_table(*table_of_reuse([row for row in repaired if not is_moved(row)])),
        "Fields with values that are wrong or missing after the repair:",
        markdown_table(*table_of_faults(repaired)),
    ]
    return "\n\n".join(parts)


def repair_all(data: Path, names: Sequence[str] = ()) -> list[Row]:
    """Return what came of each version, from an installation of its own."""
    with tempfile.TemporaryDirectory() as folder:
        module = "benchmarks.repairs.playing"
        command = [sys.executable, "-m", module, folder, str(data), *names]
        environment = {**os.environ, "VERTEX_VAR": f"{folder}/var"}
        environment.pop("DATABASE_URL", None)
        done = subprocess.run(
            command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE
        )
    return [json.loads(line) for line in done.stdout.splitlines()]


def bars(repaired: Sequence[Row]) -> tuple[list[str], list[list[object]]]:
    """Return the figures that have a bar."""
    values = list(values_of(repaired))
    all_fields = total(values)
    constant = total(row for row in values if row["is_constant"])
    changing = total(row for row in values if not row["is_constant"])
    untouched = [row for row in clusters_of(repaired) if not row["is_broken"]]
    n_kept = sum(row.get("decision") == "reused" for row in untouched)
    redesigned = [row for row in repaired if row["group"].endswith("v4")]
    fields = list(values_of(redesigned))
    n_proposed = sum(bool(row["proposed"]) for row in fields)
    return ["", "bar", "measured"], [
        ["precision after the repair", "0.97", ratio(all_fields, "right", "given")],
        ["recall of constant fields", "0.95", ratio(constant, "right", "there")],
        ["recall of changing fields", "0.85", ratio(changing, "right", "there")],
        ["fields proposed where all templates are new", "85 %", share(n_proposed, len(fields))],
        ["clusters that were not broken and keep their rule", "all", share(n_kept, len(untouched))],
    ]


def table_of_versions(repaired: Sequence[Row]) -> tuple[list[str], list[list[object]]]:
    """Return precision and recall by group."""
    by_group: defaultdict[str, list[Row]] = defaultdict(list)
    for row in repaired:
        by_group[row["group"]].append(row)
    rows: list[list[object]] = []
    for group, own in sorted(by_group.items()):
        values = list(values_of(own))
        constant = total(row for row in values if row["is_constant"])
        changing = total(row for row in values if not row["is_constant"])
        rows.append(
            [
                f"{group} ({len(own)})",
                ratio(total(values), "right", "given"),
                ratio(constant, "right", "there"),
                ratio(changing, "right", "there"),
            ]
        )
    return ["sites", "precision", "recall, constant", "recall, changing"], rows


def table_of_reuse(repaired: Sequence[Row]) -> tuple[list[str], list[list[object]]]:
    """Return Figure 5 by site, those of which most pages changed first."""
    rows: list[list[object]] = []
    for row in repaired:
        decisions = row["decisions"]
        reused = [each for each in decisions if each["decision"] == "reused"]
        as_published = [each for each in reused if each["variant"] in SIGNATURE_VARIANTS]
        n_urls = sum(each["n_urls"] for each in decisions)
        edition = row["editions"][-1]
        n_failing = sum(edition["n_failing_by_cluster"].values())
        drop = n_failing / edition["n_tested"] if edition["n_tested"] else 0.0
        reused_share = sum(each["n_urls"] for each in reused) / n_urls if n_urls else 0.0
        rows.append(
            [
                row["site"],
                share(len(reused), len(decisions)),
                len(as_published),
                f"{reused_share:.2f}",
                f"{drop:.2f}",
                f"{reused_share + drop:.2f}",
            ]
        )
    rows.sort(key=lambda cells: str(cells[4]), reverse=True)
    return [
        "site",
        "clusters reused",
        "as published",
        "pages reused",
        "pages that fail",
        "sum",
    ], rows


def table_of_faults(repaired: Sequence[Row]) -> tuple[list[str], list[list[object]]]:
    """Return the fields that are not wholly right, the worst first."""
    faulty = [row for row in values_of(repaired) if row["right"] < max(row["there"], row["given"])]
    faulty.sort(key=lambda row: row["right"] - max(row["there"], row["given"]))
    rows: list[list[object]] = [
        [row["kind"], row["attribute"], row["there"], row["given"], row["right"]] for row in faulty
    ]
    return ["site", "field", "values", "given", "right"], rows


def is_moved(row: Row) -> bool:
    """Return whether the pages of a site stood at other addresses than before."""
    return str(row["group"]).endswith("addresses")


def values_of(repaired: Iterable[Row]) -> Iterable[Row]:
    """Yield what was counted for each field."""
    for row in repaired:
        for edition in row["editions"]:
            yield from edition.get("values", [])


def clusters_of(repaired: Iterable[Row]) -> Iterable[Row]:
    for row in repaired:
        for edition in row["editions"]:
            yield from edition["clusters"]


def total(rows: Iterable[Row]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update({name: row[name] for name in COUNTED})
    return counts


def ratio(counts: Counter[str], part: str, whole: str) -> str:
    if not counts[whole]:
        return NONE
    return f"{counts[part] / counts[whole]:.3f} ({counts[part]:,} of {counts[whole]:,})"


def share(n: int, of: int) -> str:
    return f"{n} of {of}"
