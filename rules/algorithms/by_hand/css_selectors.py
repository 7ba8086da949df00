"""Translate CSS selectors, as many people know them, into the XPaths that select the same.

Known are elements, classes, ids, tests of attributes, the combinators, places among siblings, and at the end
`::text` for the texts and `::attr(NAME)` for an attribute, as crawlers write it. All else is refused.
"""

from __future__ import annotations

import re
from typing import Final

CSS: Final = "css:"  # what a line begins with that is a selector
AXES: Final = {
    " ": "//",
    ">": "/",
    "+": "/following-sibling::*[1]/self::",
    "~": "/following-sibling::",
}
BEFORE, AFTER = "preceding-sibling", "following-sibling"
# The condition of each place among siblings; {of} is * or the element's own name.
PLACES: Final = {
    "first-child": f"not({BEFORE}::*)",
    "last-child": f"not({AFTER}::*)",
    "only-child": f"not({BEFORE}::* or {AFTER}::*)",
    "first-of-type": f"not({BEFORE}::{{tag}})",
    "last-of-type": f"not({AFTER}::{{tag}})",
    "empty": "not(node())",
}
NUMBERED_PLACES: Final = {
    "nth-child": f"count({BEFORE}::*)={{n}}",
    "nth-last-child": f"count({AFTER}::*)={{n}}",
    "nth-of-type": f"count({BEFORE}::{{tag}})={{n}}",
    "nth-last-of-type": f"count({AFTER}::{{tag}})={{n}}",
}
_NAME: Final = r"-?[A-Za-z_][\w-]*"
_TAG: Final = re.compile(rf"{_NAME}|\*")
_CONDITION: Final = re.compile(
    rf"""
    \.(?P<of_class>{_NAME}) | \#(?P<id>{_NAME})
    | \[\s*(?P<attribute>{_NAME})\s*
      (?:(?P<test>[~^$*]?=)\s*(?P<value>"[^"]*"|'[^']*'|[\w-]+)\s*)?\]
    | :(?P<place>[a-z-]+)(?:\(\s*(?P<number>[1-9]\d{{0,5}})\s*\))?(?![(\w-])
    """,
    re.VERBOSE,
)
_COMBINATOR: Final = re.compile(r"\s*([>+~])\s*|(\s)\s*")
_RESULT: Final = re.compile(rf"::text|::attr\(\s*(?P<name>{_NAME})\s*\)")


class BadSelector(ValueError):
    """The selector has something that is not known."""


def css_to_xpath(selector: str, *, start: str = "//") -> str:
    """Return the XPath that selects what a CSS selector does. Raises BadSelector.

    >>> css_to_xpath("li.price > b::text")
    "//li[contains(concat(' ', normalize-space(@class), ' '), ' price ')]/b/text()"
    """
    selector = selector.strip()
    xpath, axis, at = "", start, 0
    while True:
        step, at = _step(selector, at)
        xpath += axis + step
        result = _RESULT.fullmatch(selector, at)
        if result is not None:
            return xpath + (f"/@{result['name']}" if result["name"] else "/text()")
        if at == len(selector):
            return xpath
        combinator = _COMBINATOR.match(selector, at)
        if combinator is None:
            raise _unknown(selector, at)
        axis, at = AXES[combinator[1] or " "], combinator.end()


def _step(selector: str, at: int) -> tuple[str, int]:
    """Return an element with its conditions as a step of an XPath, and where it ends."""
    named = _TAG.match(selector, at)
    tag = named[0].lower() if named else "*"
    begin, at = at, named.end() if named else at
    step = tag
    while condition := _CONDITION.match(selector, at):
        step += f"[{_test(condition, tag, selector)}]"
        at = condition.end()
    if at == begin:
        raise _unknown(selector, at)
    return step, at


def _test(condition: re.Match[str], tag: str, selector: str) -> str:
    """Return a condition of an element as a test of an XPath."""
    if condition["of_class"]:
        return _has_word("class", condition["of_class"])
    if condition["id"]:
        return f"@id={_literal(condition['id'])}"
    if condition["attribute"]:
        value = (condition["value"] or "").strip("\"'")
        return _attribute_test(condition["attribute"].lower(), condition["test"], value)
    places = NUMBERED_PLACES if condition["number"] else PLACES
    test = places.get(condition["place"])
    if test is None or ("{tag}" in test and tag == "*"):
        raise _unknown(selector, condition.start())
    return test.format(tag=tag, n=int(condition["number"] or 1) - 1)


def _attribute_test(name: str, test: str | None, value: str) -> str:
    if test is None:
        return f"@{name}"
    if test == "=":
        return f"@{name}={_literal(value)}"
    if test == "~=":
        return _has_word(name, value)
    if test == "^=":
        return f"starts-with(@{name}, {_literal(value)})"
    if test == "*=":
        return f"contains(@{name}, {_literal(value)})"
    return f"substring(@{name}, string-length(@{name}) - {len(value) - 1})={_literal(value)}"


def _has_word(name: str, word: str) -> str:
    return f"contains(concat(' ', normalize-space(@{name}), ' '), {_literal(f' {word} ')})"


def _literal(text: str) -> str:
    quote = '"' if "'" in text else "'"
    return f"{quote}{text}{quote}"


def _unknown(selector: str, at: int) -> BadSelector:
    rest = selector[at : at + 40] or "the end"
    return BadSelector(
        f"“{selector[:100]}” is not understood from “{rest}” on; write an XPath there"
    )
