"""How much of what people want is among the fields nobody annotated, and how early it is shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from benchmarks.found_fields.generated import generated_sites
from benchmarks.report import markdown_table
from benchmarks.verticals.swde import SwdeSite, page_f1, swde_sites
from clustering.algorithms.slots.fields import (
    FIRST_SHOWN,
    MOST_PAGES,
    FoundField,
    find_fields,
    finders_of,
)

TITLE = "Fields found without annotations"
GOOD: Final = 0.95  # the F1 from which a field is an attribute
FEW: Final = 20

INTRODUCTION = (
    "Each site of SWDE and the pages about one thing of each generated site as one cluster. "
    "An attribute counts "
    f"where a field's F1 over pages is at least {GOOD}: everything of it on a page must be right, "
    "lists as sets. "
    "Shown are the fields into which overlapping slots are folded, "
    "in the order in which people see them; the "
    "lines of `find_fields` have the folded ones, too. Nothing here is learnt."
)


@dataclass(frozen=True, slots=True)
class SiteFigures:
    """How the fields of a site fit its attributes."""

    vertical: str
    site: str
    n_lines: int
    n_shown: int
    best: dict[str, float]  # of all lines, by attribute
    best_first: dict[str, float]  # of the first that are shown
    best_few: dict[str, float]  # of those at the very top


def run(data: Path | None = None) -> str:
    """Return the tables as a section in Markdown."""
    if data is None or not (data / "swde").is_dir():
        return "Left out: the labelled sites are not in the folder."
    figures = [measure(site) for site in labelled_sites(data)]
    return f"{INTRODUCTION}\n\n{table(figures)}\n\n{missing(figures)}"


def labelled_sites(data: Path) -> Iterator[SwdeSite]:
    yield from swde_sites(data / "swde")
    yield from generated_sites(data / "generated")


def measure(site: SwdeSite) -> SiteFigures:
    """Find the fields of a site as the command does, and compare them with its attributes."""
    trees = list(site.trees.values())
    fields = find_fields(finders_of(trees[:MOST_PAGES]))
    shown = [field for field in fields if not field.folded_into]

    def best(candidates: list[FoundField]) -> dict[str, float]:
        return {
            attribute: max((field_f1(field, site, attribute) for field in candidates), default=0.0)
            for attribute in site.attributes
        }

    return SiteFigures(
        vertical=site.vertical,
        site=site.name,
        n_lines=len(fields),
        n_shown=len(shown),
        best=best(fields),
        best_first=best(shown[:FIRST_SHOWN]),
        best_few=best(shown[:FEW]),
    )


def field_f1(field: FoundField, site: SwdeSite, attribute: str) -> float:
    """Return how well a field fits an attribute; of a single value the first of a page counts."""
    is_multi = attribute in site.multi
    pages = [
        (number, truth[attribute])
        for number, truth in enumerate(site.truth.values())
        if attribute in truth and number < MOST_PAGES
    ]
    values = []
    for number, _ in pages:
        texts = field.slot.values(number)
        values.append(replace(field, is_multi=is_multi).values(texts))
    return page_f1([wanted for _, wanted in pages], values, is_multi=is_multi)


def table(figures: list[SiteFigures]) -> str:
    """Return the shares by vertical."""
    by_vertical: dict[str, list[SiteFigures]] = defaultdict(list)
    for site in figures:
        by_vertical[site.vertical].append(site)
    rows = [[vertical, *_row(sites)] for vertical, sites in by_vertical.items()]
    rows.append(["**all**", *_row(figures)])
    header = [
        "vertical",
        "attributes",
        "among all lines",
        f"among the first {FIRST_SHOWN} shown",
        f"among the first {FEW}",
        "lines a site",
        "fields shown a site",
    ]
    return markdown_table(header, rows)


def _row(figures: list[SiteFigures]) -> list[object]:
    n_attributes = sum(len(site.best) for site in figures)

    def share(name: str) -> str:
        n_good = sum(f1 >= GOOD for site in figures for f1 in getattr(site, name).values())
        return f"{n_good / n_attributes:.3f}"

    def mean(name: str) -> str:
        return f"{sum(getattr(site, name) for site in figures) / len(figures):.0f}"

    shares = [share(name) for name in ("best", "best_first", "best_few")]
    return [n_attributes, *shares, mean("n_lines"), mean("n_shown")]


def missing(figures: list[SiteFigures]) -> str:
    """Name the attributes that no line has, and those that are shown later."""
    nowhere, later = [], []
    for site in figures:
        for attribute, f1 in site.best.items():
            name = f"{site.site} {attribute}"
            if f1 < GOOD:
                nowhere.append(f"{name} ({f1:.2f})")
            elif site.best_first[attribute] < GOOD:
                later.append(name)
    return (
        f"In no line: {', '.join(nowhere) or 'none'}.\n\n"
        f"Not among the first {FIRST_SHOWN}: {', '.join(later) or 'none'}."
    )
