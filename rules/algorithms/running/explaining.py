"""Say at which step of an XPath nothing is left on a page: the first step that emptied the node set.

Notation:   A step is the XPath up to one more location step or predicate, with how many nodes it selects.
Readings:   An XPath is cut at slashes and closing brackets outside of strings and other brackets;
            `(path)[n]` is the path first and then its position. Predicates stand in the order in which they
            are printed.
Cost:       One XPath for each step, up to the first that selects nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from lxml import etree
from lxml.etree import _Element

MOST_STEPS: Final = 60
LONGEST: Final = 20_000  # characters of an XPath
_OPENING, _CLOSING, _QUOTES = "[(", "])", "'\""


class XPathStep(NamedTuple):
    """An XPath up to one of its steps, and what it selects."""

    xpath: str
    added: str  # what this step adds: `/div` or `[@class='price']`
    n_nodes: int


class Explanation(NamedTuple):
    """What each step of an XPath leaves on a page."""

    steps: tuple[XPathStep, ...]
    problem: str = ""  # why it could not be followed to its end

    @property
    def emptied(self) -> XPathStep | None:
        """The first step that leaves nothing, None where all leave something."""
        return next((step for step in self.steps if not step.n_nodes), None)

    @property
    def words(self) -> str:
        """Say it in a sentence."""
        if self.problem:
            return self.problem
        at = next((n for n, step in enumerate(self.steps) if not step.n_nodes), None)
        if at is None:
            n = self.steps[-1].n_nodes if self.steps else 0
            return f"every step selects something; the last one {n} node{'' if n == 1 else 's'}"
        if not at:
            return f"the page has nothing that {self.steps[0].added} selects"
        before = self.steps[at - 1].n_nodes
        nodes = "node" if before == 1 else "nodes"
        return f"{self.steps[at].added} selects none of the {before} {nodes} before it"


def explain_xpath(xpath: str, tree: _Element) -> Explanation:
    """Follow an XPath step by step on a page, up to the first step that leaves nothing."""
    if len(xpath) > LONGEST:
        return Explanation((), f"the XPath is longer than {LONGEST:,} characters")
    steps: list[XPathStep] = []
    before = ""
    for prefix in split_xpath(xpath):
        try:
            found: Any = etree.XPath(prefix, regexp=False, smart_strings=False)(tree)
        except etree.XPathError as error:
            return Explanation(tuple(steps), f"{prefix} cannot be read: {error}")
        n_nodes = len(found) if isinstance(found, list) else int(bool(found))
        steps.append(XPathStep(prefix, prefix.removeprefix(before), n_nodes))
        if not n_nodes or len(steps) == MOST_STEPS:
            break
        before = prefix
    return Explanation(tuple(steps))


def split_xpath(xpath: str) -> list[str]:
    """Return an XPath up to each of its steps and predicates.

    >>> split_xpath("//div[@id='a/b']/b[1]")
    ['//div', "//div[@id='a/b']", "//div[@id='a/b']/b", "//div[@id='a/b']/b[1]"]
    >>> split_xpath("(//b)[last()]")
    ['//b', '(//b)[last()]']
    """
    if xpath.startswith("(") and (end := _closing(xpath)) is not None and end < len(xpath):
        return [*split_xpath(xpath[1 : end - 1]), xpath]
    ends = sorted({*_ends(xpath), len(xpath)})
    return [xpath[:end] for end in ends if xpath[:end].strip("/")]


def _closing(xpath: str) -> int | None:
    """Return the place behind the bracket that closes the first one."""
    return next(
        (place + 1 for place, depth, letter in _walk(xpath) if depth == 0 and letter == ")"), None
    )


def _ends(xpath: str) -> Iterator[int]:
    """Yield where steps and predicates end."""
    for place, depth, letter in _walk(xpath):
        before = xpath[place - 1] if place else "/"
        begins_predicate = depth == 1 and letter == "[" and before not in "])"
        begins_step = depth == 0 and letter == "/" and before != "/"
        if depth == 0 and letter == "]":
            yield place + 1
        elif begins_predicate or begins_step:
            yield place


def _walk(xpath: str) -> Iterator[tuple[int, int, str]]:
    """Yield each letter outside of strings, with the depth of brackets after it."""
    depth, quote = 0, ""
    for place, letter in enumerate(xpath):
        if quote:
            quote = "" if letter == quote else quote
            continue
        if letter in _QUOTES:
            quote = letter
            continue
        depth += (letter in _OPENING) - (letter in _CLOSING)
        yield place, depth, letter
