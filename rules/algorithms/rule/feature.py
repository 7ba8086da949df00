r"""A feature: the test of one node of a target's chain, its XPath, and that of several together.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            III-C.1.
Notation:   A chain is the target (level 0), its parent (1), that one's parent (2) and so on. A
            target is a text node (`text()`), an element (`element`) or an attribute's element
            (`@src`).
Readings:   A feature at level l leaves l - 1 stars between its element and the target. Siblings
            are elements. "Nearest preceding text" is the first of the axis `preceding`, which
            counts backwards.
Departures: Texts are compared as they are shown: no-break spaces are blanks, what has no width is
            gone. In labels a colon is a blank too. Text nodes that show nothing are no targets and
            no anchors.
Cost:       Linear in what is printed.

The test is a predicate at the node of the feature's level: one small function a kind, in the table
`TESTS`. A stylesheet may rely on it: it can write a faster form of a kind that it knows, as long
as it selects the same nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from rules.algorithms.rule.json_form import JsonForm
from rules.algorithms.rule.xpaths import (
    HAS_TEXT,
    any_of,
    ends_with,
    equals_any,
    label_form,
    literal,
    shape_form,
    shown_form,
)


@dataclass(frozen=True, slots=True)
class Feature(JsonForm):
    """A test of one node of the target's chain: level 0 is the target, 1 its parent, and so on."""

    kind: str  # a key of TESTS
    level: int
    values: tuple[str, ...] = ()  # one, or up to three of which any may hold
    name: str = ""  # of the HTML attribute
    axis: Literal["self", "ancestor", "preceding-sibling", "following-sibling"] = "self"
    distance: int = 0  # of the sibling, counted from 1; or the position

    DERIVED: ClassVar[Mapping[str, str]] = {"distance": "test"}

    @property
    def test(self) -> str:
        """The predicate at the node of its level, in XPath 1.0."""
        return TESTS[self.kind](self)

    @property
    def is_plain_tag(self) -> bool:
        return self.kind == "tag" and self.axis == "self" and len(self.values) == 1


def _of_element(feature: Feature, test: str) -> str:
    """Return a test of an element, as one of the node, of any ancestor, or of a sibling."""
    if feature.axis == "self":
        return test
    if feature.axis == "ancestor":
        return f"ancestor::*[{test}]"
    return f"{feature.axis}::*[{feature.distance}][{test}]"


def tag(feature: Feature) -> str:
    return _of_element(feature, any_of(f"self::{value}" for value in feature.values))


def id_(feature: Feature) -> str:
    return _of_element(feature, equals_any("@id", feature.values))


def class_(feature: Feature) -> str:
    return _of_element(feature, equals_any("@class", feature.values))


def token(feature: Feature) -> str:
    """Test a word of the class attribute."""
    words = "concat(' ', normalize-space(@class), ' ')"
    return _of_element(
        feature,
        any_of(f"contains({words}, {literal(f' {value} ')})" for value in feature.values),
    )


def attribute(feature: Feature) -> str:
    return _of_element(feature, equals_any(f"@{feature.name}", feature.values))


def has(feature: Feature) -> str:
    return _of_element(feature, f"@{feature.name}")


def label(feature: Feature) -> str:
    """Test that the nearest text before is the label, or the text begins with it and goes on."""
    text_before = label_form(f"preceding::{HAS_TEXT}[1]")
    text = label_form(".")
    return any_of(
        f"{text_before}={literal(value)} or starts-with({text}, {literal(f'{value} ')})"
        for value in feature.values
    )


def before(feature: Feature) -> str:
    """Test the nearest text before; if tags are named, it stands in an element of one of them."""
    return equals_any(label_form(f"preceding::{HAS_TEXT}[1]{within(feature)}"), feature.values)


def within(feature: Feature) -> str:
    """Return the predicate that a text stands in an element of the tags that the feature names."""
    if not feature.name:
        return ""
    return f"[{any_of(f'parent::{tag}' for tag in feature.name.split())}]"


def after(feature: Feature) -> str:
    return equals_any(label_form(f"following::{HAS_TEXT}[1]"), feature.values)


def sibling_text(feature: Feature) -> str:
    """Test the text of the nearest element before."""
    return equals_any(label_form("preceding-sibling::*[1]"), feature.values)


def heading(feature: Feature) -> str:
    """Test the text of the nearest sibling before of a tag but `name`: the dt of several dd."""
    text = label_form(f"preceding-sibling::*[not(self::{feature.name})][1]")
    same_tag = f"self::{feature.name}"
    return any_of(f"{same_tag} and {text}={literal(value)}" for value in feature.values)


def first_text(feature: Feature) -> str:
    return equals_any(label_form(f"descendant::{HAS_TEXT}[1]"), feature.values)


def starts(feature: Feature) -> str:
    return any_of(f"starts-with({shown_form('.')}, {literal(value)})" for value in feature.values)


def ends(feature: Feature) -> str:
    return any_of(ends_with(shown_form("."), value) for value in feature.values)


def before_ends(feature: Feature) -> str:
    text_before = shown_form(f"preceding::{HAS_TEXT}[1]")
    return any_of(ends_with(text_before, value) for value in feature.values)


def after_starts(feature: Feature) -> str:
    text_after = shown_form(f"following::{HAS_TEXT}[1]")
    return any_of(f"starts-with({text_after}, {literal(value)})" for value in feature.values)


def contains(feature: Feature) -> str:
    return any_of(f"contains({shown_form('.')}, {literal(value)})" for value in feature.values)


def shape(feature: Feature) -> str:
    """Test how a text is written: with which marks between how many digits."""
    return equals_any(shape_form("."), feature.values)


def first(_feature: Feature) -> str:
    return "not(preceding-sibling::*)"


def last(_feature: Feature) -> str:
    return "not(following-sibling::*)"


def position(feature: Feature) -> str:
    """Test how many elements come before the node in its parent."""
    return f"count(preceding-sibling::*)={feature.distance - 1}"


TESTS: Final[Mapping[str, Callable[[Feature], str]]] = {
    "tag": tag,
    "id": id_,
    "class": class_,
    "token": token,
    "attribute": attribute,
    "has": has,
    "label": label,
    "before": before,
    "after": after,
    "sibling_text": sibling_text,
    "heading": heading,
    "first_text": first_text,
    "starts": starts,
    "ends": ends,
    "contains": contains,
    "shape": shape,
    "before_ends": before_ends,
    "after_starts": after_starts,
    "first": first,
    "last": last,
    "position": position,
}


def print_path(target: str, features: Sequence[Feature]) -> str:
    """Return the XPath of a conjunction: one step a level, from the highest level to the target."""
    top = max((feature.level for feature in features), default=0)
    steps = [
        _step(target, level, [f for f in features if f.level == level])
        for level in range(top, -1, -1)
    ]
    path = "//" + "/".join(steps)
    return f"{path}/{target}" if target.startswith("@") else path


def _step(target: str, level: int, features: Sequence[Feature]) -> str:
    """Return the step to one level: the tag if it is tested, and other tests as predicates."""
    tags = [feature for feature in features if feature.is_plain_tag]
    name = "*"
    if level == 0 and target == "text()":
        name = HAS_TEXT
    elif tags:
        name = tags[0].values[0]
    tests = [feature.test for feature in features if feature not in tags[:1]]
    return name + "".join(f"[{test}]" for test in tests)


def print_position(path: str, position: int) -> str:
    """Return the XPath of one of the selected nodes: 1 is the first, -1 the last."""
    if position > 0:
        return f"({path})[{position}]"
    return f"({path})[last(){'' if position == -1 else position + 1}]"
