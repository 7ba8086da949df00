"""Say at which step of an XPath nothing is left on a page: the first that emptied the node set.

Notation:   A step is the XPath up to one more location step or predicate, with how many
            nodes it selects.
Readings:   An XPath is cut at slashes and closing brackets outside of strings and other brackets;
            `(path)[n]` is the path first and then its position. Predicates stand in the order in
            which they are printed.
Cost:       One XPath for each step, up to the first that selects nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from lxml import etree
from lxml.etree import _Element

MAX_STEPS: Final = 60
MAX_XPATH_CHARS: Final = 20_000
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
        """Return the explanation as a sentence."""
        if self.problem:
            return self.problem
        n_before = 0
        for step in self.steps:
            if not step.n_nodes and not n_before:
                return f"the page has nothing that {step.added} selects"
            if not step.n_nodes:
                nodes = "node" if n_before == 1 else "nodes"
                return f"{step.added} selects none of the {n_before} {nodes} before it"
            n_before = step.n_nodes
        nodes = "node" if n_before == 1 else "nodes"
        return f"every step selects something; the last one {n_before} {nodes}"


def explain_xpath(xpath: str, tree: _Element) -> Explanation:
    """Follow an XPath step by step on a page, up to the first step that leaves nothing."""
    if len(xpath) > MAX_XPATH_CHARS:
        return Explanation((), f"the XPath is longer than {MAX_XPATH_CHARS:,} characters")
    steps: list[XPathStep] = []
    before = ""
    for prefix in split_xpath(xpath):
        try:
            result: Any = etree.XPath(prefix, regexp=False, smart_strings=False)(tree)
        except etree.XPathError as error:
            return Explanation(tuple(steps), f"{prefix} cannot be read: {error}")
        n_nodes = len(result) if isinstance(result, list) else int(bool(result))
        steps.append(XPathStep(prefix, prefix.removeprefix(before), n_nodes))
        if not n_nodes or len(steps) == MAX_STEPS:
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
    if xpath.startswith("("):
        end = _end_of_first_bracket(xpath)
        if end is not None and end < len(xpath):
            return [*split_xpath(xpath[1 : end - 1]), xpath]
    ends = sorted({*_ends(xpath), len(xpath)})
    return [xpath[:end] for end in ends if xpath[:end].strip("/")]


def _end_of_first_bracket(xpath: str) -> int | None:
    """Return the index behind the bracket that closes the first one; None if nothing closes it."""
    for index, depth, letter in _letters(xpath):
        if depth == 0 and letter == ")":
            return index + 1
    return None


def _ends(xpath: str) -> Iterator[int]:
    """Yield the indices at which steps and predicates end."""
    for index, depth, letter in _letters(xpath):
        before = xpath[index - 1] if index else "/"
        begins_predicate = depth == 1 and letter == "[" and before not in "])"
        begins_step = depth == 0 and letter == "/" and before != "/"
        if depth == 0 and letter == "]":
            yield index + 1
        elif begins_predicate or begins_step:
            yield index


def _letters(xpath: str) -> Iterator[tuple[int, int, str]]:
    """Yield each letter outside of strings: its index, the brackets' depth after it, the letter."""
    depth, quote = 0, ""
    for index, letter in enumerate(xpath):
        if quote:
            quote = "" if letter == quote else quote
            continue
        if letter in _QUOTES:
            quote = letter
            continue
        depth += (letter in _OPENING) - (letter in _CLOSING)
        yield index, depth, letter
