"""The sites of SWDE by vertical, with the attributes said there to have several values."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lxml.etree import _Element

from benchmarks.labelled_sites import swde_pages
from benchmarks.rule_learning import mark_texts
from clustering.algorithms.grouping import RawPage
from clustering.algorithms.slots.page_texts import read_texts
from clustering.values.displayed import displayed
from rules.algorithms.learning.targets import MarkedNode

MULTI = {
    "auto": {"fuel_economy"},
    "book": {"author"},
    "movie": {"director", "genre"},
    "restaurant": {"address", "cuisine"},
    "university": {"phone"},
}

Values = dict[str, list[str]]


@dataclass(frozen=True)
class SwdeSite:
    """Pages of one template with what they show."""

    vertical: str
    name: str
    trees: dict[str, _Element]
    truth: dict[str, Values]  # by page and attribute; one that is left out is not known
    raw_pages: dict[str, RawPage]  # as they are clustered

    @property
    def attributes(self) -> list[str]:
        """Return the attributes that a page shows."""
        shown = {a for values in self.truth.values() for a, texts in values.items() if texts}
        return sorted(shown)

    @cached_property
    def marks(self) -> dict[str, dict[str, list[MarkedNode]]]:
        """Return where a person marks each value, by page and attribute."""
        return mark_texts(self.trees, self.truth)

    @property
    def multi(self) -> frozenset[str]:
        return frozenset(MULTI.get(self.vertical, ()))


def swde_sites(folder: Path, verticals: Sequence[str] = ()) -> Iterator[SwdeSite]:
    for vertical in sorted(path for path in folder.iterdir() if path.is_dir()):
        if vertical.name == "groundtruth" or (verticals and vertical.name not in verticals):
            continue
        for place in sorted(path for path in vertical.iterdir() if path.is_dir()):
            name = place.name.split("(")[0]
            names = [path.stem for path in sorted(place.rglob("*.htm"))]
            labelled_pages = zip(names, swde_pages(place), strict=True)
            raw_pages = {page: labelled.page for page, labelled in labelled_pages}
            trees: dict[str, _Element] = {}
            for page, raw_page in raw_pages.items():
                tree = raw_page.tree
                if tree is not None:
                    trees[page] = tree
            truth = read_truth(folder / "groundtruth" / vertical.name, name, trees)
            yield SwdeSite(vertical.name, name, trees, _displayable(truth, trees), raw_pages)


def read_truth(folder: Path, name: str, trees: Mapping[str, _Element]) -> dict[str, Values]:
    truth: dict[str, Values] = {page: {} for page in trees}
    for path in sorted(folder.glob(f"{name}-*.txt")):
        attribute = path.stem.split("-", 2)[2]
        for line in path.read_text("utf-8-sig").splitlines()[2:]:
            page, _, *values = line.split("\t")
            if page in truth:
                shown = [displayed(html.unescape(value)) for value in values if value != "<NULL>"]
                truth[page][attribute] = [value for value in shown if value]
    return truth


def _displayable(truth: dict[str, Values], trees: Mapping[str, _Element]) -> dict[str, Values]:
    """Leave out the attributes of a page none of whose values is a text of the page.

    The truth file is wrong there.
    """
    for page, values in truth.items():
        shown = compared([text.text for text in read_texts(trees[page]).texts])
        for attribute, texts in list(values.items()):
            if texts and not compared(texts) & shown:
                del values[attribute]
    return truth


def page_f1(
    truth: Sequence[Sequence[str]], extracted: Sequence[Sequence[str]], *, is_multi: bool
) -> float:
    """Return F1 over pages: lists as sets; where a page shows one value twice, either is right."""
    n_wanted = n_extracted = n_right = 0
    for wanted, values in zip(truth, extracted, strict=True):
        n_wanted += bool(wanted)
        n_extracted += bool(values)
        n_right += bool(wanted) and is_right(wanted, values, is_multi=is_multi)
    if not n_wanted + n_extracted:
        return 1.0
    return 2 * n_right / (n_wanted + n_extracted)


def is_right(wanted: Sequence[str], values: Sequence[str], *, is_multi: bool) -> bool:
    """Return whether what was extracted from a page is what it shows."""
    if is_multi:
        return compared(wanted) == compared(values)
    return len(values) == 1 and compared(values) <= compared(wanted)


def compared(values: Sequence[str]) -> set[str]:
    """Return values without their blanks, which nobody sees alike."""
    return {"".join(value.split()) for value in values}
