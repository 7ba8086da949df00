"""A learnt rule as plain values: what the stylesheet is made from, and what the browser explains.

A cluster's rule holds a rule for each attribute; that holds alternatives in order, of which the first that
selects something on a page serves it. An alternative is a conjunction of features, relative to its target.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, Self

from rules.algorithms.rule.feature import Feature, print_path, print_position

Kind = Literal["xpath", "positional", "naive_bayes"]
Scope = Literal["record", "page"]
XPATH: Final = "xpath"
POSITIONAL: Final = "positional"
NAIVE_BAYES: Final = "naive_bayes"

OF_RECORD: Final = "record"
OF_PAGE: Final = "page"

TEXT_TARGET: Final = "text()"
ELEMENT_TARGET: Final = "element"
HTML: Final = "html"  # a type whose value is all that an element shows


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of a node's shown text that is the value; all of it where nothing is said.

    The text is cut after the first `prefix`, then before the first `suffix` (the last one if
    `is_last_suffix`); then its words from `first` to `last` are taken, counted from 1 at the beginning or
    from -1 at the end; then it is split at each `separator`. What comes out is trimmed.
    """

    prefix: str = ""
    suffix: str = ""
    is_optional: bool = (
        False  # a text without the prefix or suffix is taken as it is; else it has no value
    )
    is_last_suffix: bool = False
    first: int = 1
    last: int = -1
    separator: str = ""

    @property
    def is_whole(self) -> bool:
        return self == Selection()

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Self:
        return cls(**{key: form[key] for key in cls.__slots__ if key in form})

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Weight:
    """What a feature of a candidate adds to its score, as a plain decimal: `if_true` or `if_false`."""

    feature: Feature  # of the candidate (level 0), its parent (level 1), or any ancestor
    if_true: str
    if_false: str = "0"

    @property
    def test(self) -> str:
        """The test in XPath, relative to the candidate."""
        return f"parent::*[{self.feature.test}]" if self.feature.level == 1 else self.feature.test

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Self:
        return cls(Feature.from_json(form["feature"]), form["if_true"], form.get("if_false", "0"))

    def as_json(self) -> dict[str, Any]:
        return {
            "feature": self.feature.as_json(),
            "test": self.test,
            "if_true": self.if_true,
            "if_false": self.if_false,
        }


@dataclass(frozen=True, slots=True)
class Numbers:
    """What an alternative measured on the samples."""

    precision: float = 0.0
    distance: int = 0
    support: float = 0.0  # share of the unannotated samples on which it selects something
    unique: float = 0.0  # share of them on which it selects exactly one node
    price: float = 0.0
    rank: float = 0.0  # price minus what the support is worth; the lowest wins
    n_selected: int = 0  # nodes on annotated samples


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to find an attribute's node.

    "positional" takes one of the selected nodes of a page in document order. "naive_bayes" takes the selected
    node of the highest score above 0 (bias plus weights), the first of equal ones.
    """

    kind: Kind
    target: str  # "text()", "element" or "@name"
    features: tuple[Feature, ...]
    selection: Selection = Selection()
    position: int = 0  # 1 is the first, -1 the last; 0 where the kind is another
    bias: str = "0"
    weights: tuple[Weight, ...] = ()
    numbers: Numbers = Numbers()

    @property
    def path(self) -> str:
        """The XPath of all nodes that have the features."""
        return print_path(self.target, self.features)

    @property
    def xpath(self) -> str:
        """The complete XPath; under "naive_bayes" that of the candidates."""
        return print_position(self.path, self.position) if self.position else self.path

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Self:
        return cls(
            kind=form["kind"],
            target=form["target"],
            features=tuple(Feature.from_json(feature) for feature in form["features"]),
            selection=Selection.from_json(form.get("selection", {})),
            position=form.get("position", 0),
            bias=form.get("bias", "0"),
            weights=tuple(Weight.from_json(weight) for weight in form.get("weights", ())),
            numbers=Numbers(**form.get("numbers", {})),
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "target": self.target,
            "features": [feature.as_json() for feature in self.features],
            "xpath": self.xpath,
            "selection": self.selection.as_json(),
            "position": self.position,
            "bias": self.bias,
            "weights": [weight.as_json() for weight in self.weights],
            "numbers": asdict(self.numbers),
        }


@dataclass(frozen=True, slots=True)
class LearningFailure:
    """Why an attribute has no rule, or a value was not used: at which step, on which page."""

    attribute: str
    step: str  # page, annotations, node, text, xpath, position or classifier
    page: str  # its URL, "" where the whole cluster is meant
    reason: str

    def __str__(self) -> str:
        """Say at which step, why, and on which page.

        >>> str(LearningFailure("price", "node", "https://shop.example/1", "the node shows nothing"))
        'node: the node shows nothing (https://shop.example/1)'
        """
        return f"{self.step}: {self.reason}" + (f" ({self.page})" if self.page else "")


_PLAIN: Final = ("attribute", "type", "is_multi", "is_mandatory", "regex", "scope")


@dataclass(frozen=True, slots=True)
class AttributeRule:
    """How an attribute's values are found on the pages of a cluster."""

    attribute: str
    type: str = "text"
    is_multi: bool = False
    is_mandatory: bool = False
    alternatives: tuple[
        Alternative, ...
    ] = ()  # the first that selects something on a page serves it
    regex: str = ""  # of the vertical; selects and validates
    scope: Scope = (
        OF_RECORD  # "page": in a list, its values stand beside the records and each record has them
    )
    losers: tuple[Alternative, ...] = ()  # the best of the others, which vote for the confidence
    failures: tuple[LearningFailure, ...] = ()

    @property
    def reason(self) -> str:
        """Why there is no rule; empty where there is one."""
        return "" if self.alternatives else "; ".join(dict.fromkeys(map(str, self.failures)))

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Self:
        plain = {name: form[name] for name in _PLAIN if name in form}
        return cls(
            **plain,
            alternatives=tuple(Alternative.from_json(one) for one in form.get("alternatives", ())),
            losers=tuple(Alternative.from_json(one) for one in form.get("losers", ())),
            failures=tuple(LearningFailure(**failure) for failure in form.get("failures", ())),
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "attribute": self.attribute,
            "type": self.type,
            "is_multi": self.is_multi,
            "is_mandatory": self.is_mandatory,
            "alternatives": [alternative.as_json() for alternative in self.alternatives],
            "regex": self.regex,
            "scope": self.scope,
            "losers": [alternative.as_json() for alternative in self.losers],
            "failures": [asdict(failure) for failure in self.failures],
        }


@dataclass(frozen=True, slots=True)
class Boundary:
    """The outer template of a list: each selected element begins a record.

    The record goes on over the siblings behind it until the next record begins, a sibling is unlike all that
    is known of `further` ones, or it has `n_siblings` elements.
    """

    first: Alternative  # its target is "element"
    n_siblings: int = 1  # elements of a record, at most
    further: tuple[
        tuple[Feature, ...], ...
    ] = ()  # what one of them may be like; empty: like anything
    has_text: bool = False  # whether the texts between and behind its elements are the record's

    @property
    def is_run(self) -> bool:
        """Say whether a record may have more than the element that begins it."""
        return self.n_siblings > 1 or self.has_text

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Self:
        further = tuple(
            tuple(Feature.from_json(one) for one in kind) for kind in form.get("further", ())
        )
        n_siblings, has_text = form.get("n_siblings", 1), form.get("has_text", False)
        return cls(Alternative.from_json(form["first"]), n_siblings, further, has_text)

    def as_json(self) -> dict[str, Any]:
        return {
            "first": self.first.as_json(),
            "n_siblings": self.n_siblings,
            "further": [[feature.as_json() for feature in kind] for kind in self.further],
            "has_text": self.has_text,
        }


@dataclass(frozen=True, slots=True)
class ClusterRule:
    """The rules of a cluster's attributes, and what they were learnt from."""

    attributes: tuple[AttributeRule, ...]
    boundary: Boundary | None = None
    learner: str = "default"
    learnt_from: tuple[str, ...] = ()  # the URLs of the annotated samples
    n_unannotated: int = 0
    failures: tuple[LearningFailure, ...] = field(default=())  # of the cluster as a whole

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Self:
        boundary = form.get("boundary")
        return cls(
            attributes=tuple(AttributeRule.from_json(one) for one in form["attributes"]),
            boundary=None if boundary is None else Boundary.from_json(boundary),
            learner=form.get("learner", "default"),
            learnt_from=tuple(form.get("learnt_from", ())),
            n_unannotated=form.get("n_unannotated", 0),
            failures=tuple(LearningFailure(**failure) for failure in form.get("failures", ())),
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "attributes": [attribute.as_json() for attribute in self.attributes],
            "boundary": None if self.boundary is None else self.boundary.as_json(),
            "learner": self.learner,
            "learnt_from": list(self.learnt_from),
            "n_unannotated": self.n_unannotated,
            "failures": [asdict(failure) for failure in self.failures],
        }
