"""Read what a record shows as a sequence of cells, with keys that are equal in other records.

Paper:      Zhai and Liu, "Web Data Extraction Based on Partial Tree Alignment" (WWW 2005): the
            leaves of the records' trees are what is put into columns.
Notation:   A cell is a text, the address of a link or that of an image. Its key is its kind, the
            steps (tag and class) from the record to it, and the label before it.
Readings:   Bold, italics and the like are no steps, nor is a link without a class:
            `<h3><a>x</a></h3>` and `<h3>x</h3>` are the same field. An element with nothing but
            such inside is one text. Cells of a table are known by their column. A class value that
            only adds words to another and never stands beside it in a record is that other one
            (`price` and `price price--sale`).
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
_PLAIN = (
    "b i em strong font u big small tt s strike del ins sub sup mark abbr cite code q wbr nobr "
    "center"
)
PLAIN = frozenset(_PLAIN.split())
DECLARING = ("itemprop", "data-label", "data-title", "property")
LABELS = frozenset({"dt", "th", "label"})
SOURCES = ("src", "data-src", "data-original", "data-lazy-src")
TAIL = "tail"  # the text behind an element of a run
MAX_LABEL_CHARS = 40
MAX_COLSPAN = 100
MAX_DIGITS = 4  # of a colspan that is read
MAX_CLASS_VALUES = 300  # of a tag, which are compared with each other
MIN_SHARE_WITH_LABEL = 0.6  # of the texts at the same steps
MIN_RECORDS_WITH_LABEL = 2  # in which a text before a colon must stand to be a label
MAX_STEPS_DEEPER = 2  # a cell may stand below its label
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
    # What the page itself calls it: itemprop, the words of classes, nearest first.
    names: tuple[str, ...] = ()
    label: str = ""

    @property
    def key(self) -> tuple[str, Steps, str]:
        return self.kind, self.steps, self.label.casefold()


@dataclass(slots=True)
class _RecordReader:
    """The cells of one record so far."""

    classes: dict[tuple[str, str], str]  # what a tag's class value counts as
    cells: list[RecordCell] = field(default_factory=list)

    def enter(self, element: _Element, steps: Steps, names: tuple[str, ...]) -> None:
        """Add the cells of an element and of what is in it."""
        tag = str(element.tag)
        if tag in TEXTLESS_TAGS:
            return
        if tag == "img":
            self._add_image(element, steps, names)
        href = element.get("href")
        if tag == "a" and href:
            self.cells.append(RecordCell(LINK, str(href).strip(), element, "@href", steps, names))
        if is_one_text(element):
            self._add(RecordCell(TEXT, shown_text(element), element, "", steps, names))
            return
        n_texts = 0
        if element.text:
            n_texts = 1
            self.add_text(element.text, element, "text()[1]", steps, names)
        column = 0
        for child in element:
            if isinstance(child.tag, str):
                child_steps = (*steps, *self.step(child, column))
                self.enter(child, child_steps, (*_names_of(child), *names))
                if child.tag in {"td", "th"}:
                    column += colspan(child, MAX_COLSPAN)
            if child.tail:
                n_texts += 1
                self.add_text(child.tail, element, f"text()[{n_texts}]", steps, names)

    def step(self, element: _Element, column: int) -> Steps:
        """Return the step to an element; none for what only changes the look of a text."""
        tag = str(element.tag)
        if tag in {"td", "th"}:
            return (f"cell {column}",)
        class_value = _class_value(element)
        declared = next((str(element.get(name)) for name in DECLARING if element.get(name)), "")
        if not class_value and not declared and (tag in PLAIN or tag == "a"):
            return ()
        name = declared or self.classes.get((tag, class_value), class_value)
        return (f"{tag}.{name}" if name else tag,)

    def _add_image(self, element: _Element, steps: Steps, names: tuple[str, ...]) -> None:
        for name in SOURCES:
            address = str(element.get(name) or "").strip()
            if address and not address.startswith("data:"):
                self.cells.append(RecordCell(IMAGE, address, element, f"@{name}", steps, names))
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
    return _labelled([_cells_of(record, classes) for record in records])


def _cells_of(record: Sequence[_Element], classes: dict[tuple[str, str], str]) -> list[RecordCell]:
    walk = _RecordReader(classes)
    is_run_of_rows = len(record) > 1 and len({element.tag for element in record}) == 1
    for number, element in enumerate(record):
        # A record's own class says odd or even, new or sold out, and names no field.
        steps: Steps = ()
        if is_run_of_rows:
            steps = (f"{element.tag} {number}",)
        elif len(record) > 1:
            steps = (str(element.tag),)
        walk.enter(element, steps, ())
        if number + 1 < len(record):  # text between the elements of a run
            walk.add_text(element.tail, element, TAIL, ("between",), ())
    return walk.cells


def is_one_text(element: _Element) -> bool:
    """Return whether an element shows text and nothing in it is a field of its own."""
    if element.tag == "img" or not any((text or "").strip() for text in element.itertext()):
        return False
    return all(
        child.tag in PLAIN and not any(child.get(name) for name in ("class", *DECLARING))
        for child in _elements_below(element)
    )


def shown_text(element: _Element) -> str:
    """Return the text of an element as it is shown."""
    return " ".join("".join(map(str, element.itertext())).split())


def colspan(cell: _Element, max_columns: int) -> int:
    """Return how many columns a cell of a table takes."""
    value = str(cell.get("colspan") or "")
    return min(int(value[:MAX_DIGITS]), max_columns) if value.isdecimal() else 1


def _class_value(element: _Element) -> str:
    return " ".join(str(element.get("class") or "").split())


def _names_of(element: _Element) -> tuple[str, ...]:
    """Return what an element is called: by microdata, by attributes for data, by its classes."""
    declared = [element.get(name) for name in DECLARING]
    classes = str(element.get("class") or "").split()
    return tuple(str(name) for name in [*declared, *classes] if name)


def same_classes(records: Iterable[Sequence[_Element]]) -> dict[tuple[str, str], str]:
    """Return for each tag and class value the one that it counts as."""
    records_by_tag: defaultdict[str, defaultdict[str, set[int]]] = defaultdict(
        lambda: defaultdict(set)
    )
    for number, record in enumerate(records):
        for element in record:
            for below in _elements_below(element):
                class_value = _class_value(below)
                if class_value:
                    records_by_tag[str(below.tag)][class_value].add(number)
    same: dict[tuple[str, str], str] = {}
    for tag, records_by_value in records_by_tag.items():
        values = sorted(records_by_value, key=lambda value: (len(value.split()), value))
        for index, value in enumerate(values[:MAX_CLASS_VALUES]):
            for base in values[:index]:
                adds_words = set(base.split()) < set(value.split())
                if adds_words and records_by_value[base].isdisjoint(records_by_value[value]):
                    same[tag, value] = same.get((tag, base), base)
                    records_by_value[base] |= records_by_value[value]
                    break
    return same


def _elements_below(element: _Element) -> Iterator[_Element]:
    for below in element.iterdescendants():
        if isinstance(below.tag, str):
            yield below


def _labelled(records: list[list[RecordCell]]) -> list[list[RecordCell]]:
    """Label cells by what stands before them or in their own text, and take the labels out.

    Texts of one place have labels if most of them have; a title with a colon among others has none.
    """
    texts = [cell for cells in records for cell in cells if cell.kind == TEXT]
    n_texts = Counter(cell.steps for cell in texts)
    n_with_label = Counter(cell.steps for cell in texts if _label_within(cell))
    labelled_steps = {
        steps for steps, n in n_with_label.items() if n >= MIN_SHARE_WITH_LABEL * n_texts[steps]
    }
    n_records: Counter[str] = Counter()
    for cells in records:
        labels = {_label_alone(cell) for cell in cells}
        labels |= {_label_within(cell) for cell in cells if cell.steps in labelled_steps}
        n_records.update({label.casefold() for label in labels})
    min_records = min(MIN_RECORDS_WITH_LABEL, len(records))
    labels = {label for label, n in n_records.items() if label and n >= min_records}
    return [_with_labels(cells, labels, labelled_steps) for cells in records]


def _label_within(cell: RecordCell) -> str:
    """Return the label that a text begins with; blank where there is none."""
    match = _WITH_LABEL.fullmatch(cell.value) if cell.kind == TEXT else None
    return match[1] if match else ""


def _label_alone(cell: RecordCell) -> str:
    """Return the label that a cell is; blank where it is none."""
    if cell.kind != TEXT:
        return ""
    match = _LABEL_ALONE.fullmatch(cell.value)
    if match:
        return match[1]
    is_whole_element = not cell.part
    if is_whole_element and cell.element.tag in LABELS and len(cell.value) <= MAX_LABEL_CHARS:
        return cell.value
    return ""


def _with_labels(
    cells: list[RecordCell], labels: set[str], labelled_steps: set[Steps]
) -> list[RecordCell]:
    """Return the cells of a record with their labels, and without the cells that are labels."""
    labelled: list[RecordCell] = []
    label = ""
    label_steps: Steps = ()
    for cell in cells:
        alone = _label_alone(cell)
        if alone.casefold() in labels:
            label, label_steps = alone, cell.steps
            continue
        within = _label_within(cell) if cell.steps in labelled_steps else ""
        if within.casefold() in labels:
            label = ""
            value = cell.value[len(within) :].lstrip(" :\uff1a")
            labelled.append(replace(cell, value=value, label=within))
            continue
        if not _holds_for(label_steps, cell.steps):
            label = ""
        labelled.append(replace(cell, label=label))
    return labelled


def _holds_for(label: Steps, cell: Steps) -> bool:
    """Return whether a cell stands beside a label, or at most two elements deeper."""
    around_label = label[:-1]
    is_beside = cell[: len(around_label)] == around_label
    return is_beside and len(cell) <= len(label) + MAX_STEPS_DEEPER
