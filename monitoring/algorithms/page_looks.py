"""Represent how a page looks, so that versions of it and other pages can be compared with it.

Notation:   The form of a page is the set of the last steps of its elements' paths, with classes;
            what it shows is its text without blanks and capitals.
Readings:   None; the module serves `lost_pages` and the verdicts.
Departures: None.
Cost:       One walk over the page; sets are capped, pages are hostile.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple
from zlib import crc32

from lxml.html import HtmlElement

from annotation.algorithms.anchors.page_texts import read_texts
from monitoring.algorithms.known_values import plain
from monitoring.algorithms.soft_errors import has_password

N_STEPS_OF_FORM: Final = 4  # so that a page wrapped once more keeps most of its form
MAX_CLASSES: Final = 3  # of a step
MAX_FORMS: Final = 3_000
MAX_WORDS: Final = 5_000
MAX_TEXTS: Final = 1_500
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+")


class PageLook(NamedTuple):
    """What is compared of a page."""

    title: str
    shown: str  # the text of its body
    texts: tuple[str, ...]  # what its text nodes show
    words: frozenset[int]  # hashes
    form: frozenset[int]  # hashes
    has_password: bool

    @property
    def n_chars(self) -> int:
        return len(self.shown)


NOTHING: Final = PageLook("", "", (), frozenset(), frozenset(), False)


def look_of(tree: HtmlElement) -> PageLook:
    """Return how a page looks."""
    page = read_texts(tree)
    body = [page.text_of(node) for node in page.nodes if not node.is_in_head]
    title = next(iter(tree.iter("title")), None)
    words = sorted({crc32(word.encode()) for word in _WORD.findall(" ".join(body).casefold())})
    forms = sorted({crc32(path.encode()) for _, path in walk_forms(tree)})
    return PageLook(
        title="" if title is None else plain("".join(map(str, title.itertext()))),
        shown=plain(" ".join(body)),
        texts=tuple(dict.fromkeys(plain(text) for text in body[:MAX_TEXTS])),
        words=frozenset(words[:MAX_WORDS]),
        form=frozenset(forms[:MAX_FORMS]),
        has_password=has_password(tree),
    )


def walk_forms(tree: HtmlElement) -> Iterator[tuple[HtmlElement, str]]:
    """Yield each element in document order with the last steps of its path, with classes."""
    stack: list[tuple[HtmlElement, tuple[str, ...]]] = [(tree, ())]
    while stack:
        element, above = stack.pop()
        steps = (*above, _step(element))[-N_STEPS_OF_FORM:]
        yield element, "/".join(steps)
        stack += [(child, steps) for child in reversed(element) if isinstance(child.tag, str)]


def _step(element: HtmlElement) -> str:
    classes = sorted((element.get("class") or "").split())[:MAX_CLASSES]
    return ".".join([str(element.tag), *(_NUMBER.sub("0", name) for name in classes)])


def likeness(features: frozenset[int], other: frozenset[int]) -> float:
    """Return which share of two sets' elements they have in common.

    >>> likeness(frozenset({1, 2, 3}), frozenset({2, 3, 4}))
    0.5
    """
    union = len(features | other)
    return len(features & other) / union if union else 1.0
