"""A learnt rule as plain values: what the stylesheet is made from, and what the browser explains.

A cluster's rule holds a rule for each attribute; that holds alternatives in order: the first that
selects something on a page serves it, and of several values all alternatives have their part. An
alternative is a conjunction of features, relative to its target.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from annotation.algorithms.attribute_types import list_name_of
from rules.algorithms.rule.feature import Feature, print_path, print_position
from rules.algorithms.rule.json_form import JsonForm

Kind = Literal["xpath", "positional", "naive_bayes"]
Scope = Literal["record", "page"]
XPATH: Final = "xpath"
POSITIONAL: Final = "positional"
NAIVE_BAYES: Final = "naive_bayes"

OF_RECORD: Final = "record"
OF_PAGE: Final = "page"

TEXT_TARGET: Final = "text()"
ELEMENT_TARGET: Final = "element"
# What a vote may cost: to look once at each element of a page.
MAX_VOTE_COST: Final = 1.0
HTML: Final = "html"  # a type whose value is all that an element shows


@dataclass(frozen=True, slots=True)
class Selection(JsonForm):
    """The part of a node's shown text that is the value; by default all of it.

    The text is cut after the first `prefix`, then before the first `suffix` (the last one if
    `is_last_suffix`); then its words from `first` to `last` are taken, counted from 1 at the
    beginning or from -1 at the end; then it is split at each `separator`. What comes out is
    trimmed.
    """

    prefix: str = ""
    suffix: str = ""
    # A text without the prefix or suffix is taken as it is; else it has no value.
    is_optional: bool = False
    is_last_suffix: bool = False
    first: int = 1
    last: int = -1
    separator: str = ""

    @property
    def is_whole(self) -> bool:
        return self == Selection()


@dataclass(frozen=True, slots=True)
class Weight(JsonForm):
    """What a candidate's feature adds to its score, as a plain decimal: `if_true` or `if_false`."""

    feature: Feature  # of the candidate (level 0), its parent (level 1), or any ancestor
    if_true: str
    if_false: str = "0"

    DERIVED: ClassVar[Mapping[str, str]] = {"feature": "test"}

    @property
    def test(self) -> str:
        """The test in XPath, relative to the candidate."""
        return f"parent::*[{self.feature.test}]" if self.feature.level == 1 else self.feature.test


@dataclass(frozen=True, slots=True)
class Numbers(JsonForm):
    """What an alternative measured on the samples."""

    precision: float = 0.0
    distance: int = 0
    support: float = 0.0  # share of the unannotated samples on which it selects something
    unique: float = 0.0  # share of them on which it selects exactly one node
    price: float = 0.0
    rank: float = 0.0  # price minus what the support is worth; the lowest wins
    n_selected: int = 0  # nodes on annotated samples
    cost: float = 0.0  # of the vote of a loser: the share of a page's elements that it looks at


@dataclass(frozen=True, slots=True)
class Alternative(JsonForm):
    """One way to find an attribute's node.

    "positional" takes one of the selected nodes of a page in document order. "naive_bayes" takes
    the selected node of the highest score above 0 (bias plus weights), the first of equal ones.
    """

    kind: Kind
    target: str  # "text()", "element" or "@name"
    features: tuple[Feature, ...]
    selection: Selection = Selection()
    position: int = 0  # 1 is the first, -1 the last; 0 where the kind is another
    bias: str = "0"
    weights: tuple[Weight, ...] = ()
    numbers: Numbers = Numbers()

    DERIVED: ClassVar[Mapping[str, str]] = {"features": "xpath"}

    @property
    def path(self) -> str:
        """The XPath of all nodes that have the features."""
        return print_path(self.target, self.features)

    @property
    def xpath(self) -> str:
        """The complete XPath; under "naive_bayes" that of the candidates."""
        return print_position(self.path, self.position) if self.position else self.path


@dataclass(frozen=True, slots=True)
class LearningFailure(JsonForm):
    """Why an attribute has no rule, or a value was not used: at which step, on which page."""

    attribute: str
    step: str  # page, annotations, node, text, xpath, position or classifier
    page: str  # its URL, "" where the whole cluster is meant
    reason: str

    def __str__(self) -> str:
        """Return the failed step, the reason and the page as a line for people.

        >>> str(LearningFailure("price", "node", "https://shop.example/1", "it shows nothing"))
        'node: it shows nothing (https://shop.example/1)'
        """
        return f"{self.step}: {self.reason}" + (f" ({self.page})" if self.page else "")


@dataclass(frozen=True, slots=True)
class AttributeRule(JsonForm):
    """How an attribute's values are found on the pages of a cluster."""

    attribute: str
    type: str = "text"
    is_multi: bool = False
    is_mandatory: bool = False
    # For a single value, the first that selects something on a page serves it; for several, all do.
    alternatives: tuple[Alternative, ...] = ()
    regex: str = ""  # of the vertical; selects and validates
    # "page": in a list, its values stand beside the records and each record has them.
    scope: Scope = OF_RECORD
    losers: tuple[Alternative, ...] = ()  # the best of the others, which vote for the confidence
    failures: tuple[LearningFailure, ...] = ()
    n_annotated: int = 0  # pages that say what the values are, or that there is none
    n_right: int = 0  # those of them on which the rule finds that and nothing else

    @property
    def list_name(self) -> str:
        """The nested list that the attribute is a field of, blank where it is of none."""
        return list_name_of(self.attribute, is_multi=self.is_multi)

    @property
    def is_union(self) -> bool:
        """Whether the values of a page are those of all alternatives, in the order of the page."""
        has_scores = any(alternative.kind == NAIVE_BAYES for alternative in self.alternatives)
        return self.is_multi and len(self.alternatives) > 1 and not has_scores

    @property
    def voters(self) -> tuple[Alternative, ...]:
        """The losers that vote: those of which the vote costs little, and no classifier."""
        return tuple(
            loser
            for loser in self.losers
            if loser.kind != NAIVE_BAYES and loser.numbers.cost <= MAX_VOTE_COST
        )

    @property
    def is_draft(self) -> bool:
        """Whether the rule is the best there is, although some annotated pages refute it."""
        return bool(self.alternatives) and self.n_right < self.n_annotated

    @property
    def reason(self) -> str:
        """Why there is no rule; empty where there is one."""
        return "" if self.alternatives else self._failures

    @property
    def doubt(self) -> str:
        """Why the rule is a draft; empty where it is none."""
        return self._failures if self.is_draft else ""

    @property
    def _failures(self) -> str:
        return "; ".join(dict.fromkeys(map(str, self.failures)))


@dataclass(frozen=True, slots=True)
class Boundary(JsonForm):
    """The outer template of a list: each selected element begins a record.

    The record goes on over the siblings behind it until the next record begins, a sibling is
    unlike all that is known of `further` ones, or it has `n_siblings` elements.
    """

    first: Alternative  # its target is "element"
    n_siblings: int = 1  # elements of a record, at most
    further: tuple[tuple[Feature, ...], ...] = ()  # what one of them may be like; empty: anything
    has_text: bool = False  # whether the texts between and behind its elements are the record's

    @property
    def is_run(self) -> bool:
        """Whether a record may have more than the element that begins it."""
        return self.n_siblings > 1 or self.has_text


@dataclass(frozen=True, slots=True)
class NestedList(JsonForm):
    """Where the entries of a nested list begin: by this its values are told apart."""

    name: str  # "offers", whose fields are the attributes "offers.name", "offers.price"
    first: Alternative  # its target is "element"
    is_run: bool = False  # an entry goes on over the siblings behind the element that begins it
    scope: Scope = OF_RECORD


@dataclass(frozen=True, slots=True)
class ClusterRule(JsonForm):
    """The rules of a cluster's attributes, and what they were learnt from."""

    attributes: tuple[AttributeRule, ...]
    boundary: Boundary | None = None
    nested_lists: tuple[NestedList, ...] = ()
    learner: str = "default"
    learnt_from: tuple[str, ...] = ()  # the URLs of the annotated samples
    n_unannotated: int = 0
    failures: tuple[LearningFailure, ...] = ()  # of the cluster as a whole

    @property
    def ranks(self) -> dict[str, float]:
        """The rank of the first alternative of each attribute that has a rule."""
        return {
            rule.attribute: rule.alternatives[0].numbers.rank
            for rule in self.attributes
            if rule.alternatives
        }
