"""Read what a record shows as a sequence of cells, each with a key that is the same in the other records.

Paper:      Zhai and Liu, "Web Data Extraction Based on Partial Tree Alignment" (WWW 2005): the leaves of the
            records' trees are what is put into columns.
Notation:   A cell is a text, the address of a link or that of an image. Its key is its kind, the steps (tag
            and class) from the record to it, and the label before it.
Readings:   Bold, italics and the like are no steps, nor is a link without a class: `<h3><a>x</a></h3>` and
            `<h3>x</h3>` are the same field. An element with nothing but such inside is one text.
            Cells of a table are known by their column. A class value that only adds words to another and
            never stands beside it in a record is that other one (`price` and `price price--sale`).
Cost:       One walk over each record.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from lxml.etree import _Element

from clustering.algorithms.records.page_model import TEXTLESS_TAGS

TEXT, LINK, IMAGE = "text", "link", "image"
_PLAIN = "b i em strong font u big small tt s strike del ins sub sup mark abbr cite code q wbr nobr center"
PLAIN = frozenset(_PLAIN.split())
DECLARING = ("itemprop", "data-label", "data-title", "property")
LABELS = frozenset({"dt", "th", "label"})
SOURCES = ("src", "data-src", "data-original", "data-lazy-src")
LONGEST_LABEL = 40
TAIL = "tail"  # the text behind an element of a run
MOST_COLUMNS = 100
MOST = 0.6  # of the texts of one place
FEW = 2  # records in which a text before a colon must stand to be a label
_WITH_LABEL = re.compile(r"([^\W\d_][^:\uff1a\n]{0,38}?)\s*[:\uff1a]\s+(\S.*)", re.DOTALL)
_LABEL_ALONE = re.compile(r"([^\W\d_][^:\uff1a\n]{0,38}?)\s*[:\uff1a]\Z")

Steps = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordCell:
    """A piece of a record and where it stands."""

    kind: str
    value: str
    element: _Element
    part: str  # of the element: blank for all of it, "text()[2]", "@href"
    steps: Steps
    names: tuple[
        str, ...
    ] = ()  # what the page itself calls it: itemprop, the words of classes, nearest first
    label: str = ""

    @property
    def key(self) -> tuple[str, Steps, str]:
        return self.kind, self.steps, self.label.casefold()


@dataclass(slots=True)
class _Walk:
    """The cells of one record so far."""

    classes: dict[tuple[str, str], str]  # what a tag's class value counts as
    cells: list[RecordCell] = field(default_factory=list)

    def enter(self, element: _Element, steps: Steps, named: tuple[str, ...]) -> None:
        """Add the cells of an element and of what is in it; `named` is what it is called."""
        tag = str(element.tag)
        if tag in TEXTLESS_TAGS:
            return
        if tag == "img":
            self._add_image(element, steps, named)
        if tag == "a" and element.get("href"):
            self.cells.append(
                RecordCell(LINK, str(element.get("href")).strip(), element, "@href", steps, named)
            )
        if is_one_text(element):
            self._add(RecordCell(TEXT, shown(element), element, "", steps, named))
            return
        n_texts = 0
        if element.text:
            n_texts = 1
            self.add_text(element.text, element, "text()[1]", steps, named)
        column = 0
        for child in element:
            if isinstance(child.tag, str):
                self.enter(child, (*steps, *self.step(child, column)), (*_names_of(child), *named))
                column += _n_columns(child)
            if child.tail:
                n_texts += 1
                self.add_text(child.tail, element, f"text()[{n_texts}]", steps, named)

    def step(self, element: _Element, column: int) -> Steps:
        """Return the step to an element; none for what only changes the look of a text."""
        tag = str(element.tag)
        if tag in {"td", "th"}:
            return (f"cell {column}",)
        written = " ".join(str(element.get("class") or "").split())
        declared = next((str(element.get(name)) for name in DECLARING if element.get(name)), "")
        if not written and not declared and (tag in PLAIN or tag == "a"):
            return ()
        name = declared or self.classes.get((tag, written), written)
        return (f"{tag}.{name}" if name else tag,)

    def _add_image(self, element: _Element, steps: Steps, names: tuple[str, ...]) -> None:
        for name in SOURCES:
            written = str(element.get(name) or "").strip()
            if written and not written.startswith("data:"):
                self.cells.append(RecordCell(IMAGE, written, element, f"@{name}", steps, names))
                return

    def add_text(
        self, text: str | None, element: _Element, part: str, steps: Steps, names: tuple[str, ...]
    ) -> None:
        self._add(RecordCell(TEXT, " ".join((text or "").split()), element, part, steps, names))

    def _add(self, cell: RecordCell) -> None:
        if any(letter.isalnum() for letter in cell.value):
            self.cells.append(cell)


def read_cells(records: Sequence[Sequence[_Element]]) -> list[list[RecordCell]]:
    """Return the cells of each record, with labels taken out of the texts."""
    classes = same_classes(records)
    read = [_cells_of(record, classes) for record in records]
    return _labelled(read)


def _cells_of(record: Sequence[_Element], classes: dict[tuple[str, str], str]) -> list[RecordCell]:
    walk = _Walk(classes)
    is_run_of_rows = len(record) > 1 and len({element.tag for element in record}) == 1
    for number, element in enumerate(record):
        tag = str(element.tag)
        # The class of a record's own element tells of odd and even, of new and sold out, and names no field.
        walk.enter(
            element, (f"{tag} {number}" if is_run_of_rows else tag,) if len(record) > 1 else (), ()
        )
        if number + 1 < len(record):  # text between the elements of a run
            walk.add_text(element.tail, element, TAIL, ("between",), ())
    return walk.cells


def is_one_text(element: _Element) -> bool:
    """Say whether an element shows text and nothing in it is a field of its own."""
    if element.tag == "img" or not any((text or "").strip() for text in element.itertext()):
        return False
    below = [child for child in element.iterdescendants() if isinstance(child.tag, str)]
    return all(
        child.tag in PLAIN and not any(child.get(name) for name in ("class", *DECLARING))
        for child in below
    )


def shown(element: _Element) -> str:
    """Return the text of an element as it is shown."""
    return " ".join("".join(map(str, element.itertext())).split())


def _n_columns(element: _Element) -> int:
    """Return how many columns a cell of a table takes."""
    if element.tag not in {"td", "th"}:
        return 0
    written = str(element.get("colspan") or "")
    return min(int(written), MOST_COLUMNS) if written.isdecimal() else 1


def _names_of(element: _Element) -> tuple[str, ...]:
    """Return what an element is called: by microdata, by attributes for data, by its classes."""
    told = [element.get(name) for name in DECLARING]
    words = str(element.get("class") or "").split()
    return tuple(str(name) for name in [*told, *words] if name)


def same_classes(records: Iterable[Sequence[_Element]]) -> dict[tuple[str, str], str]:
    """Return for each tag and class value the one that it counts as."""
    seen: defaultdict[str, defaultdict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for number, record in enumerate(records):
        for element in _below(record):
            written = " ".join(str(element.get("class") or "").split())
            if written:
                seen[str(element.tag)][written].add(number)
    same: dict[tuple[str, str], str] = {}
    for tag, records_by_value in seen.items():
        values = sorted(records_by_value, key=lambda value: (len(value.split()), value))
        for place, value in enumerate(values):
            words = set(value.split())
            for base in values[:place]:
                if set(base.split()) < words and records_by_value[base].isdisjoint(
                    records_by_value[value]
                ):
                    same[tag, value] = same.get((tag, base), base)
                    records_by_value[base] |= records_by_value[value]
                    break
    return same


def _below(record: Sequence[_Element]) -> Iterator[_Element]:
    for element in record:
        for one in element.iterdescendants():
            if isinstance(one.tag, str):
                yield one


def _labelled(records: list[list[RecordCell]]) -> list[list[RecordCell]]:
    """Give cells the labels that stand before them or in their own text, and take the labels out.

    Texts of one place have labels if most of them have; a title with a colon among others has none.
    """
    n_texts = Counter(cell.steps for cells in records for cell in cells if cell.kind == TEXT)
    n_with = Counter(cell.steps for cells in records for cell in cells if _label_within(cell))
    usual = {steps for steps, n in n_with.items() if n >= MOST * n_texts[steps]}
    seen: Counter[str] = Counter()
    for cells in records:
        within = {_label_within(cell) for cell in cells if cell.steps in usual}
        seen.update({label.casefold() for label in within | {_label_alone(cell) for cell in cells}})
    known = {label for label, n in seen.items() if label and n >= min(FEW, len(records))}
    return [_with_labels(cells, known, usual) for cells in records]


def _label_within(cell: RecordCell) -> str:
    """Return the label that a text begins with; blank where there is none."""
    found = _WITH_LABEL.fullmatch(cell.value) if cell.kind == TEXT else None
    return found[1] if found else ""


def _label_alone(cell: RecordCell) -> str:
    """Return the label that a cell is; blank where it is none."""
    found = _LABEL_ALONE.fullmatch(cell.value) if cell.kind == TEXT else None
    if found:
        return found[1]
    is_label = cell.kind == TEXT and cell.element.tag in LABELS and len(cell.value) <= LONGEST_LABEL
    return cell.value if is_label and not cell.part else ""


def _with_labels(cells: list[RecordCell], known: set[str], usual: set[Steps]) -> list[RecordCell]:
    told: list[RecordCell] = []
    label = ""
    under: Steps = ()
    for cell in cells:
        alone, within = _label_alone(cell), _label_within(cell) if cell.steps in usual else ""
        if alone.casefold() in known:
            label, under = alone, cell.steps
        elif within.casefold() in known:
            label = ""
            value = cell.value[len(within) :].lstrip(" :\uff1a")
            told.append(replace(cell, value=value, label=within))
        else:
            label = label if _is_beside(under, cell.steps) else ""
            told.append(replace(cell, label=label))
    return told


def _is_beside(label: Steps, cell: Steps) -> bool:
    """Say whether a label still holds for a cell: it stands in the same element or in one beside it."""
    above = label[:-1]
    return cell[: len(above)] == above and len(cell) <= len(label) + 2
