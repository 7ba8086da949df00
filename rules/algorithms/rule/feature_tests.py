"""The XPath test of each kind of feature: one small function a kind, in one table.

The test is a predicate at the node of the feature's level. `TESTS` is what a stylesheet may rely on: it can
write a faster form of a kind that it knows, as long as it selects the same nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rules.algorithms.rule.xpaths import (
    HAS_TEXT,
    any_of,
    ends_with,
    equals_any,
    label_form,
    literal,
    shown_form,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rules.algorithms.rule.rule import Feature


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
    return _of_element(feature, any_of(f"contains({words}, {literal(f' {v} ')})" for v in feature.values))


def attribute(feature: Feature) -> str:
    return _of_element(feature, equals_any(f"@{feature.name}", feature.values))


def has(feature: Feature) -> str:
    return _of_element(feature, f"@{feature.name}")


def label(feature: Feature) -> str:
    """Test that the nearest text before is the label, or that the text begins with it and goes on."""
    before = label_form(f"preceding::{HAS_TEXT}[1]")
    own = label_form(".")
    return any_of(f"{before}={literal(v)} or starts-with({own}, {literal(f'{v} ')})" for v in feature.values)


def before(feature: Feature) -> str:
    """Test the nearest text before; where tags are named, it stands in an element of one of them."""
    return equals_any(label_form(f"preceding::{HAS_TEXT}[1]{within(feature)}"), feature.values)


def within(feature: Feature) -> str:
    """Return the predicate that a text stands in an element of the tags that the feature names."""
    return f"[{any_of(f'parent::{tag}' for tag in feature.name.split())}]" if feature.name else ""


def after(feature: Feature) -> str:
    return equals_any(label_form(f"following::{HAS_TEXT}[1]"), feature.values)


def sibling_text(feature: Feature) -> str:
    """Test the text of the nearest element before."""
    return equals_any(label_form("preceding-sibling::*[1]"), feature.values)


def heading(feature: Feature) -> str:
    """Test the text of the nearest sibling before that has another tag than `name`: the dt of several dd."""
    text = label_form(f"preceding-sibling::*[not(self::{feature.name})][1]")
    same = f"self::{feature.name}"
    return any_of(f"{same} and {text}={literal(value)}" for value in feature.values)


def first_text(feature: Feature) -> str:
    return equals_any(label_form(f"descendant::{HAS_TEXT}[1]"), feature.values)


def starts(feature: Feature) -> str:
    return any_of(f"starts-with({shown_form('.')}, {literal(value)})" for value in feature.values)


def ends(feature: Feature) -> str:
    return any_of(ends_with(shown_form("."), value) for value in feature.values)


def before_ends(feature: Feature) -> str:
    before = shown_form(f"preceding::{HAS_TEXT}[1]")
    return any_of(ends_with(before, value) for value in feature.values)


def after_starts(feature: Feature) -> str:
    following = shown_form(f"following::{HAS_TEXT}[1]")
    return any_of(f"starts-with({following}, {literal(value)})" for value in feature.values)


def contains(feature: Feature) -> str:
    return any_of(f"contains({shown_form('.')}, {literal(value)})" for value in feature.values)


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
    "before_ends": before_ends,
    "after_starts": after_starts,
    "first": first,
    "last": last,
    "position": position,
}
