"""Describe a data slot: what its values look like, how they behave, where they stand.

Notation:   A bag holds tokens with the share of the slot's texts that have them. Numbers are
            measured over the pages that were looked at.
Readings:   A label within the texts ("Phone: 973") is taken off before the values are looked at,
            and counts among the labels.
Cost:       Linear in the texts of the slot, of which MAX_TEXTS_DESCRIBED are looked at.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log1p, sqrt
from typing import Final, NamedTuple

from lxml.etree import _Element

from clustering.algorithms.slots.finding import DataSlot, SlotFinder, SlotText
from clustering.algorithms.slots.shared_markup import MAX_LABEL_CHARS
from clustering.dom.visible import HEADINGS
from clustering.values.displayed import displayed

MAX_TEXTS_DESCRIBED: Final = 150  # of a slot
MAX_VALUE_CHARS: Final = 120  # of a text; what comes after tells nothing new
MAX_WORDS: Final = 12  # of a value or a label
MAX_PAGE_CHARS: Final = 20_000  # of the page's other texts, among which a value may stand again
MIN_SHARE_WITH_OWN_LABEL: Final = 0.8
N_LEVELS_WITH_NAMES: Final = 3
N_STEPS: Final = 4
N_TAGS: Final = 5
MIN_CHARS_IN_TITLE: Final = 3  # of a value that is looked for in titles and descriptions
WEIGHT_OF_TEXT_BEFORE: Final = 0.5  # as a label; a label counts 1 at most

Bag = Mapping[str, float]
Bags = Mapping[str, Bag]
BAGS: Final = (
    "value words",
    "value parts",
    "value shapes",
    "values",
    "label words",
    "label parts",
    "class words",
    "steps",
)

_OWN_LABEL: Final = re.compile(r"([^\W\d_][^:\uff1a]{0,28}?)\s*[:\uff1a]\s*(?=\S)")
_WORD: Final = re.compile(r"[^\W\d_]+|\d+|[$€£¥%]")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_PERSON: Final = re.compile(r"[A-Z][\w.'\u2019-]{0,40}(?: [A-Z][\w.'\u2019-]{0,40}){1,3}")
_TYPED: Final = {
    "price": re.compile(r"[$€£¥]\s?\d|\d\s?(?:EUR|USD|GBP)\b"),
    "date": re.compile(
        r"\b\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}\b"
        r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d",
        re.IGNORECASE,
    ),
    "year": re.compile(r"\b(?:19|20)\d\d\b"),
    "phone": re.compile(r"\(?\d{3}\)?[ ./-]*\d{3}[ .-]\d{4}"),
    "zip": re.compile(r"\b[A-Z]{2},? \d{5}\b|\b\d{5}(?:-\d{4})?$"),
    "url": re.compile(r"https?://|www\.|\w\.(?:com|edu|org|net)\b"),
    "isbn": re.compile(r"\b97[89][\d -]{9,14}\d\b"),
    "code": re.compile(r"^(?=[A-Z-]*\d)[A-Z0-9-]+$"),
    "number": re.compile(r"^[\d.,]+$"),
    "number_and_unit": re.compile(r"^[\d.,]+ ?[A-Za-z%\"]{1,12}\.?$"),
    "height": re.compile(r"\d ?(?:-|'|ft|feet|\u2032) ?\d{1,2}"),
    "street": re.compile(
        r"^\d{1,5} .*\b(?:st|ave|rd|blvd|dr|ln|hwy|way|street|avenue|road|pl|sq)\b", re.IGNORECASE
    ),
    "state": re.compile(r", ?[A-Z]{2}\b"),
    "time": re.compile(r"\b\d{1,2}:\d\d\b"),
    "person": re.compile(rf"^{_PERSON.pattern}$"),
    "sentence": re.compile(r"[a-z]{2}[.!?](?: |$)"),
    "list": re.compile(r"\w, \w"),
}


class SlotNumbers(NamedTuple):
    """What is measured of a slot, in the order of the weights."""

    length: float
    length_spread: float
    n_words: float
    digits: float
    capitals: float
    punctuation: float
    capitalised: float
    price: float
    date: float
    year: float
    phone: float
    zip: float
    url: float
    isbn: float
    code: float
    number: float
    number_and_unit: float
    height: float
    street: float
    state: float
    time: float
    person: float
    sentence: float
    list: float
    fill: float
    distinctness: float
    texts_a_page: float
    commonest: float
    elsewhere: float
    in_title: float
    title_share: float
    begins_title: float
    in_meta: float
    in_heading: float
    in_main_heading: float
    is_constant: float
    order: float
    order_spread: float
    after_heading: float
    depth: float
    is_link: float
    label_distance: float
    colon_before: float
    own_label: float
    label_purity: float
    in_list: float
    in_cell: float
    in_bold: float
    in_definition: float


N_VALUE_NUMBERS: Final = SlotNumbers._fields.index("fill")
N_VALUE_AND_BEHAVIOUR_NUMBERS: Final = SlotNumbers._fields.index("order")


@dataclass(frozen=True, slots=True)
class SlotDescription:
    """A slot as fields of verticals are compared with it."""

    slot: DataSlot
    bags: Bags
    numbers: SlotNumbers
    label: str  # as people read it; blank for none


@dataclass(frozen=True, slots=True)
class _PageFacts:
    title: str
    meta: str
    n_texts: int
    heading_number: int  # of the text that the title repeats; -1 for none
    texts: Counter[str]


def describe_slots(
    finder: SlotFinder, slots: Sequence[DataSlot], trees: Sequence[_Element]
) -> list[SlotDescription]:
    """Describe the slots that were found on some pages."""
    facts = [_page_facts(tree, texts) for tree, texts in zip(trees, finder.texts, strict=True)]
    return [_describe(slot, finder, facts) for slot in slots]


def _page_facts(tree: _Element, texts: Sequence[SlotText]) -> _PageFacts:
    title_element = tree.find(".//title")
    title = (
        displayed("".join(map(str, title_element.itertext()))) if title_element is not None else ""
    )
    meta = " ".join(
        element.get("content", "")[: MAX_VALUE_CHARS * 3]
        for element in tree.iterfind(".//meta[@content]")
    )
    counts = Counter(text.text.text[:MAX_VALUE_CHARS] for text in texts)
    return _PageFacts(
        title.casefold()[:MAX_PAGE_CHARS],
        displayed(meta).casefold()[:MAX_PAGE_CHARS],
        len(texts),
        _heading_number(texts, title),
        counts,
    )


def _heading_number(texts: Sequence[SlotText], title: str) -> int:
    """Return the number of the longest text that the title repeats, those in headings first."""
    best, best_rank = -1, (False, 0)
    folded_title = title.casefold()
    for text in texts:
        value = text.text.text
        if (
            len(value) < MIN_CHARS_IN_TITLE
            or len(value) > len(title)
            or value.casefold() not in folded_title
        ):
            continue
        rank = (text.text.element.tag in HEADINGS, len(value))
        if rank > best_rank:
            best, best_rank = text.number, rank
    return best


def _describe(slot: DataSlot, finder: SlotFinder, facts: Sequence[_PageFacts]) -> SlotDescription:
    all_texts = [text for texts in slot.texts.values() for text in texts]
    texts = all_texts[:: max(1, len(all_texts) // MAX_TEXTS_DESCRIBED)][:MAX_TEXTS_DESCRIBED]
    raw_values = [text.text.text[:MAX_VALUE_CHARS] for text in texts]
    own_label = _own_label(raw_values)
    values = (
        [_OWN_LABEL.sub("", value, count=1) for value in raw_values] if own_label else raw_values
    )
    labels = [_labels(text, finder, own_label) for text in texts]
    bags = {
        "value words": _bag(map(_words, values)),
        "value parts": _bag(map(_parts, values)),
        "value shapes": _bag([_shape(value)] for value in values),
        "values": _bag([value.casefold()] for value in values),
        "label words": _weighted_bag(labels),
        "label parts": _bag(
            {part for words in text_labels for part in _parts(words)} for text_labels in labels
        ),
        "class words": _bag(_class_words(text.text.element) for text in texts),
        "steps": _bag(_step_names(text.text.element) for text in texts),
    }
    occurrences = [
        _Occurrence(
            text,
            value,
            value.casefold(),
            facts[text.text.page],
            _tags(text.text.element),
            _text_before(text, finder).endswith(":"),
        )
        for text, value in zip(texts, values, strict=True)
    ]
    numbers = _numbers(slot, occurrences, has_own_label=bool(own_label))
    return SlotDescription(slot, bags, numbers, slot.label or own_label)


def _own_label(values: Sequence[str]) -> str:
    """Return the label that nearly all texts begin with, blank for none."""
    matches = [_OWN_LABEL.match(value) for value in values]
    names = Counter(match[1] for match in matches if match)
    if not names:
        return ""
    name, n = names.most_common(1)[0]
    return name if n >= MIN_SHARE_WITH_OWN_LABEL * len(values) else ""


def _labels(text: SlotText, finder: SlotFinder, own_label: str) -> dict[str, float]:
    """Return what may name a text, with how much it counts."""
    weight_by_label: dict[str, float] = {}

    def add(label: str, weight: float) -> None:
        if label:
            short = label[:MAX_VALUE_CHARS]
            weight_by_label[short] = max(weight, weight_by_label.get(short, 0.0))

    before = _text_before(text, finder)
    if len(before) <= MAX_LABEL_CHARS:
        add(before, WEIGHT_OF_TEXT_BEFORE)
    add(text.label, 1 / sqrt(text.number - text.label_number))
    add(text.row_label, 1.0)
    add(own_label, 1.0)
    return weight_by_label


def _text_before(text: SlotText, finder: SlotFinder) -> str:
    """Return the text before one on its page, blank for none."""
    if not text.number:
        return ""
    return finder.texts[text.text.page][text.number - 1].text.text


def _bag(token_lists: Iterable[Iterable[str]]) -> Bag:
    counts: Counter[str] = Counter()
    n = 0
    for tokens in token_lists:
        n += 1
        counts.update(set(tokens))
    return {token: count / n for token, count in counts.items()}


def _weighted_bag(labels: Sequence[Mapping[str, float]]) -> Bag:
    sums: defaultdict[str, float] = defaultdict(float)
    for weight_by_label in labels:
        best: dict[str, float] = {}
        for label, weight in weight_by_label.items():
            for word in _words(label):
                best[word] = max(weight, best.get(word, 0.0))
        for word, weight in best.items():
            sums[word] += weight
    return {word: weight / len(labels) for word, weight in sums.items()}


def _words(text: str) -> list[str]:
    """Return the words of a text, digits folded."""
    words = _WORD.findall(text.casefold())[:MAX_WORDS]
    return ["0" * min(len(word), 4) if word[0].isdigit() else word for word in words]


def _parts(text: str) -> set[str]:
    """Return the runs of three characters of a text, digits folded."""
    folded = f" {re.sub(chr(92) + 'd', '0', text.casefold()[:40])} "
    return {folded[start : start + 3] for start in range(len(folded) - 2)}


def _shape(value: str) -> str:
    """Return the kinds of a text's characters in their order, each run once."""
    shape: list[str] = []
    for character in value[:60]:
        if character.isdigit():
            kind = "0"
        elif character.isalpha():
            kind = "A" if character.isupper() else "a"
        else:
            kind = character
        if not shape or shape[-1] != kind:
            shape.append(kind)
    return "".join(shape[:24])


def _class_words(element: _Element) -> set[str]:
    words: set[str] = set()
    current: _Element | None = element
    for _ in range(N_LEVELS_WITH_NAMES):
        if current is None or current.tag in {"body", "html"}:
            break
        for name in ("class", "id", "itemprop", "property", "name", "rel"):
            value = current.get(name)
            if value:
                words.update(_words(_CAMEL.sub(" ", value[:MAX_VALUE_CHARS])))
        current = current.getparent()
    return words


def _step_names(element: _Element) -> list[str]:
    steps: list[str] = []
    current: _Element | None = element
    while current is not None and len(steps) < N_STEPS:
        steps.append(str(current.tag))
        current = current.getparent()
    return ["/".join(steps[:n]) for n in range(1, len(steps) + 1)]


@dataclass(frozen=True, slots=True)
class _Occurrence:
    """A text of a slot with what is measured of it."""

    text: SlotText
    value: str
    folded: str
    page: _PageFacts
    tags: Sequence[str]  # of its element and of those around it
    follows_colon: bool

    @property
    def is_in_title(self) -> bool:
        return len(self.folded) >= MIN_CHARS_IN_TITLE and self.folded in self.page.title

    @property
    def title_share(self) -> float:
        return len(self.folded) / len(self.page.title) if self.is_in_title else 0.0


def _numbers(
    slot: DataSlot, occurrences: Sequence[_Occurrence], *, has_own_label: bool
) -> SlotNumbers:
    n = len(occurrences)
    lengths = [log1p(len(o.value)) for o in occurrences]
    orders = [o.text.number / o.page.n_texts for o in occurrences]
    characters = "".join(o.value for o in occurrences)
    words = [word for o in occurrences for word in o.value.split()]
    n_by_label = Counter(o.text.label for o in occurrences)
    commonest_label, n_commonest_label = n_by_label.most_common(1)[0]
    n_by_value = Counter(o.folded for o in occurrences)
    n_texts = sum(map(len, slot.texts.values()))

    def share(has_it: Callable[[_Occurrence], bool]) -> float:
        return sum(map(has_it, occurrences)) / n

    def share_of_characters(is_of_kind: Callable[[str], bool]) -> float:
        return sum(map(is_of_kind, characters)) / max(1, len(characters))

    def mean(measure: Callable[[_Occurrence], float]) -> float:
        return sum(map(measure, occurrences)) / n

    typed = {
        name: sum(pattern.search(o.value) is not None for o in occurrences) / n
        for name, pattern in _TYPED.items()
    }
    return SlotNumbers(
        length=_mean(lengths),
        length_spread=_spread(lengths),
        n_words=log1p(len(words) / n),
        digits=share_of_characters(str.isdigit),
        capitals=share_of_characters(str.isupper),
        punctuation=share_of_characters(lambda c: not c.isalnum() and not c.isspace()),
        capitalised=sum(word[0].isupper() for word in words) / max(1, len(words)),
        **typed,
        fill=slot.fill,
        distinctness=len(n_by_value) / n,
        texts_a_page=log1p(n_texts / len(slot.texts) - 1),
        commonest=max(n_by_value.values()) / n,
        elsewhere=share(lambda o: o.page.texts[o.text.text.text[:MAX_VALUE_CHARS]] > 1),
        in_title=share(lambda o: o.is_in_title),
        title_share=mean(lambda o: o.title_share),
        begins_title=share(lambda o: o.is_in_title and o.page.title.startswith(o.folded)),
        in_meta=share(lambda o: len(o.folded) >= MIN_CHARS_IN_TITLE and o.folded in o.page.meta),
        in_heading=share(lambda o: not HEADINGS.isdisjoint(o.tags)),
        in_main_heading=share(lambda o: "h1" in o.tags),
        is_constant=float(slot.is_constant),
        order=_mean(orders),
        order_spread=_spread(orders),
        after_heading=mean(lambda o: _distance_after(o.text.number, o.page.heading_number)),
        depth=mean(lambda o: len(o.tags) / N_TAGS),
        is_link=share(lambda o: "a" in o.tags[:2]),
        label_distance=mean(lambda o: log1p(min(50, o.text.number - o.text.label_number))),
        colon_before=share(lambda o: o.follows_colon),
        own_label=float(has_own_label),
        label_purity=n_commonest_label / n if commonest_label else 0.0,
        in_list=share(lambda o: "li" in o.tags),
        in_cell=share(lambda o: "td" in o.tags[:3]),
        in_bold=share(lambda o: not {"b", "strong"}.isdisjoint(o.tags)),
        in_definition=share(lambda o: "dd" in o.tags),
    )


def _distance_after(number: int, heading_number: int) -> float:
    """Return the logarithm of a text's distance from the heading, in texts; negative before it."""
    if heading_number < 0:
        return 0.0
    distance = number - heading_number
    return log1p(distance) if distance >= 0 else -log1p(-distance)


def _tags(element: _Element) -> list[str]:
    """Return the tags of an element and of the four around it."""
    tags: list[str] = []
    current: _Element | None = element
    while current is not None and len(tags) < N_TAGS:
        tags.append(str(current.tag))
        current = current.getparent()
    return tags


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


def _spread(numbers: Sequence[float]) -> float:
    mean = _mean(numbers)
    return sqrt(sum((number - mean) ** 2 for number in numbers) / len(numbers))
