"""A rule as it runs, and what comes of a page: raw records, then records with typed values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.running.value_looks import ValueLooks

ShownValue = str | list[str | None]


def texts_of(value: ShownValue | None) -> list[str]:
    """Return the texts of a value, without the gaps of a nested list.

    >>> texts_of(["12 €", None, "9 €"]), texts_of("12 €"), texts_of(None)
    (['12 €', '9 €'], ['12 €'], [])
    """
    if value is None:
        return []
    return [text for text in value if text is not None] if isinstance(value, list) else [value]


def without_gaps(values: Mapping[str, ShownValue]) -> dict[str, str | list[str]]:
    """Return values by attribute without the gaps of nested lists, to compare what is there."""
    return {
        name: value if isinstance(value, str) else texts_of(value) for name, value in values.items()
    }


@dataclass(frozen=True, slots=True)
class RunnableRule:
    """A rule as it runs: its stylesheet, its attributes' types, and how far each is trusted."""

    cluster: str
    version: int
    stylesheet: str
    attributes: Sequence[AttributeType]
    # What judged values add to the log-odds of each attribute, see `confidence`.
    trust: Mapping[str, float] = field(default_factory=dict)
    # Somebody wrote or imported the stylesheet: it runs where it can be stopped.
    is_by_hand: bool = False
    # Of the site, ISO 3166; blank: that of each page's address.
    country: str = ""
    # How the values of each attribute usually look.
    looks: Mapping[str, ValueLooks] = field(default_factory=dict)
    # At which rank each attribute's rule was learnt.
    ranks: Mapping[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.cluster}@{self.version}"


@dataclass(frozen=True, slots=True)
class RawValue:
    """What the stylesheet emits for one value."""

    text: str
    node: str = ""  # in the stripped tree: /*[1]/*[2]/text()[1]
    way: int = 1  # which of the alternatives of the attribute
    n_nodes: int = 1  # that this alternative selects
    n_rivals: int = 0  # beaten candidates that select something here
    n_agree: int = 0  # those of them that select a node of the same text
    item: int = 0  # the entry of its nested list, from 1; 0: in none that is known


@dataclass(frozen=True, slots=True)
class RawRecord:
    """What the stylesheet emits for one record."""

    values: dict[str, list[RawValue]]
    nodes: list[str] = field(default_factory=list)  # its elements, where records are bounded
    links: list[str] = field(default_factory=list)  # its first ones, as they are written


@dataclass(frozen=True, slots=True)
class ExtractedRecord:
    """The values of one record; a value is a list where the attribute is multi.

    The lists of the fields of a nested list have one place for each of its entries: None where the
    entry has no such value.
    """

    values: dict[str, ShownValue]
    raw: dict[str, ShownValue]
    normalized: dict[str, object]
    missing: list[str]
    failed: dict[str, str]
    confidence: dict[str, float]
    # By attribute: why a value could not be read as its type.
    problems: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, ShownValue] = field(default_factory=dict)
    record_nodes: list[str] = field(default_factory=list)
    index: int | None = None  # its place among the records of a list
    key: str | None = None  # what tells it from the others of the list
    details_url: str = ""  # normalised; where a list leads to the page about the same thing


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a rule makes of a page; no records and a reason where it makes nothing."""

    records: list[ExtractedRecord]
    reason: str = ""
    detail: str = ""
    problem: str = ""  # of the page: truncated
