"""Say in plain words where an alternative looks for its value, for people who do not read XPath.

A sentence names what is taken and how it is told from the rest: by texts beside it, by what the
elements around it are and how they are marked. It leaves nothing out that the XPath asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import NAIVE_BAYES, TEXT_TARGET, Alternative

NOUNS: Final[Mapping[str, str]] = {
    "a": "link",
    "article": "article",
    "aside": "side box",
    "b": "bold text",
    "body": "page",
    "button": "button",
    "dd": "entry",
    "dl": "list of entries",
    "dt": "label of an entry",
    "em": "stressed text",
    "figure": "figure",
    "footer": "footer",
    "form": "form",
    "head": "head of the page",
    "header": "header",
    "img": "image",
    "label": "label",
    "li": "list item",
    "link": "link in the head of the page",
    "main": "main part of the page",
    "meta": "meta element",
    "nav": "navigation",
    "ol": "list",
    "p": "paragraph",
    "s": "crossed-out text",
    "del": "crossed-out text",
    "section": "section",
    "small": "small text",
    "strong": "bold text",
    "table": "table",
    "tbody": "table",
    "td": "table cell",
    "th": "table heading",
    "time": "time",
    "title": "title of the page",
    "tr": "table row",
    "ul": "list",
} | {f"h{level}": "heading" for level in range(1, 7)}
BOX: Final = "box"  # what an element is called of which nothing else is known
ATTRIBUTE_NOUNS: Final[Mapping[str, str]] = {
    "@src": "the address of",
    "@href": "the address of",
    "@alt": "the description of",
    "@title": "the hint of",
    "@content": "the content of",
    "@datetime": "the date of",
}
ORDINALS: Final[Mapping[int, str]] = {
    1: "first",
    2: "second",
    3: "third",
    -1: "last",
    -2: "last but one",
}


def place_in_words(alternatives: Sequence[Alternative], *, is_multi: bool) -> str:
    """Return where an attribute is looked for; blank where nothing was learnt of it."""
    places = [sentence_of(alternative) for alternative in alternatives]
    if is_multi:
        return "; and ".join(places)
    return "; where that is missing, ".join(places)


def sentence_of(alternative: Alternative) -> str:
    """Return where an alternative finds its value.

    >>> price = (Feature("before", 0, ("Price",)), Feature("token", 1, ("buy",)))
    >>> sentence_of(Alternative("xpath", "text()", price))
    'the text after “Price” in the box with class “buy”'
    """
    levels = sorted({feature.level for feature in alternative.features} | {0})
    features = [
        [feature for feature in alternative.features if feature.level == level] for level in levels
    ]
    words = _target(alternative.target, features[0])
    for level, tests in zip(levels[1:], features[1:], strict=True):
        article = "the" if level == levels[1] else "a"
        words += f" in {article} {_element(tests)}"
    if alternative.position:
        return f"{_place_in_order(alternative.position)}: {words}"
    if alternative.kind == NAIVE_BAYES:
        return f"of all that is {words}, what most looks like the annotated values"
    return words


def _target(target: str, tests: Sequence[Feature]) -> str:
    """Return what is taken, with what is known of it."""
    if target == TEXT_TARGET:
        return " ".join(["the text", *map(_of_text, tests)])
    if target.startswith("@"):
        owner = ATTRIBUTE_NOUNS.get(target, f"the attribute “{target[1:]}” of")
        return f"{owner} the {_element(tests)}"
    return f"the {_element(tests)}"


def _element(tests: Sequence[Feature]) -> str:
    """Return an element by its tag and all that is known of it."""
    tag = next((test for test in tests if test.is_plain_tag), None)
    noun = NOUNS.get(tag.values[0], BOX) if tag else BOX
    return " ".join([noun, *(_of_element(test) for test in tests if test is not tag)])


def _of_text(feature: Feature) -> str:
    """Return a test of a text as what follows “the text”."""
    if feature.kind in _OF_TEXT:
        return _OF_TEXT[feature.kind](_quoted(feature.values))
    return _of_element(feature)


def _of_element(feature: Feature) -> str:
    """Return a test of an element as what follows its name."""
    words = _OF_ELEMENT.get(feature.kind, _other)(feature)
    if feature.axis == "ancestor":
        return f"inside something {words}"
    if feature.axis == "preceding-sibling":
        return f"after something {words}"
    if feature.axis == "following-sibling":
        return f"before something {words}"
    return words


def _quoted(values: Sequence[str]) -> str:
    return " or ".join(f"“{value}”" for value in values)


def _tag(feature: Feature) -> str:
    return f"that is a {' or '.join(NOUNS.get(value, f'<{value}>') for value in feature.values)}"


def _class(feature: Feature) -> str:
    return f"with class {_quoted(feature.values)}"


def _id(feature: Feature) -> str:
    return f"with the id {_quoted(feature.values)}"


def _attribute(feature: Feature) -> str:
    return f"whose {feature.name} is {_quoted(feature.values)}"


def _has(feature: Feature) -> str:
    return f"that has a {feature.name}"


def _first(_feature: Feature) -> str:
    return "that comes first in its place"


def _last(_feature: Feature) -> str:
    return "that comes last in its place"


def _position(feature: Feature) -> str:
    return f"that is number {feature.distance} in its place"


def _heading(feature: Feature) -> str:
    return f"below the label {_quoted(feature.values)}"


def _beside(feature: Feature) -> str:
    return f"beside {_quoted(feature.values)}"


def _first_text(feature: Feature) -> str:
    return f"that begins with the text {_quoted(feature.values)}"


def _other(feature: Feature) -> str:
    return _OF_TEXT[feature.kind](_quoted(feature.values))


_OF_TEXT: Final[Mapping[str, Callable[[str], str]]] = {
    "label": "after the label {}".format,
    "before": "after {}".format,
    "after": "before {}".format,
    "starts": "that begins with {}".format,
    "ends": "that ends with {}".format,
    "contains": "that contains {}".format,
    "shape": "written like {}".format,
    "before_ends": "after a text that ends with {}".format,
    "after_starts": "before a text that begins with {}".format,
}
_OF_ELEMENT: Final[Mapping[str, Callable[[Feature], str]]] = {
    "tag": _tag,
    "id": _id,
    "class": _class,
    "token": _class,
    "attribute": _attribute,
    "has": _has,
    "sibling_text": _beside,
    "heading": _heading,
    "first_text": _first_text,
    "first": _first,
    "last": _last,
    "position": _position,
}


def _place_in_order(position: int) -> str:
    if position in ORDINALS:
        return f"the {ORDINALS[position]} on the page"
    if position > 0:
        return f"number {position} on the page"
    return f"number {-position} from the end of the page"
