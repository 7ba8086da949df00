"""Recognise a page by an id or class in its bytes, without building its tree.

Paper:      Chakrabarti and Mehta, "The Paths More Taken: Matching DOM Trees to Search Logs for Accurate
            Webpage Clustering" (WWW 2010), section 4.2: a few paths decide, and some are known by a unique id
            or class.
Notation:   mark, an attribute with its value that is on a page exactly when a path is, on all pages seen.
Readings:   A mark is taken from the path's own steps, the last one first.
Departures: Where the bytes leave a doubt (`find_mark` returns None), the caller builds the tree. A value that
            is written with character references is not found.
Cost:       A search for the value's first word, and a look around each place where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.published.attributed_paths import PathPage, hash_mark, marks_in

MOST_DOUBTS = 10  # after which the tree is the shorter way
LOOKED_BACK = 60  # bytes in which a name and an equals sign stand before a value
RAW_ELEMENTS = (b"script", b"style", b"textarea", b"title", b"xmp", b"iframe")

Mark = tuple[str, str]


def unique_marks(
    pages: Sequence[PathPage], written: Sequence[str], present: NDArray[np.bool_]
) -> list[Mark | None]:
    """Return the mark of each path, None where it has none.

    `written` gives the paths as they are written, `present` a row for each page and a column for each path.
    """
    joined = np.concatenate([np.empty(0, dtype=np.uint64), *(page.marks for page in pages)])
    page_of = np.repeat(np.arange(len(pages)), [len(page.marks) for page in pages])
    order = np.argsort(joined, kind="stable")
    joined, page_of = joined[order], page_of[order]

    def is_unique(mark: Mark, column: NDArray[np.bool_]) -> bool:
        sought = np.uint64(hash_mark(*mark))
        first, end = (np.searchsorted(joined, sought, side=side) for side in ("left", "right"))
        return np.array_equal(page_of[first:end], np.flatnonzero(column))

    return [
        next((mark for mark in marks_in(path) if is_unique(mark, column)), None)
        for path, column in zip(written, present.T, strict=True)
    ]


def find_mark(body: bytes, name: str, value: str) -> bool | None:
    """Say whether an element of the page has the id or class, None where the bytes leave it in doubt."""
    if b"\0" in body:
        return None  # another encoding, or a page that parsers disagree on
    patterns = _patterns(name, value)
    word = value.partition(" ")[0].encode()
    place, n_doubts = body.find(word), 0
    while place >= 0 and n_doubts < MOST_DOUBTS:
        if _is_like_attribute(body, place, patterns):
            start = body.rfind(b"<", 0, place)
            tag = patterns.tag.match(body, start) if start >= 0 else None
            if tag and tag.end() > place and not _is_hidden(body, start):
                return True
            n_doubts += 1
        place = body.find(word, place + 1)
    return None if n_doubts else False


class _Patterns(NamedTuple):
    before: re.Pattern[bytes]  # name, equals sign and quotation mark
    after: dict[bytes, re.Pattern[bytes]]  # the value up to its end, by quotation mark
    tag: re.Pattern[bytes]


@lru_cache(maxsize=1024)
def _patterns(name: str, value: str) -> _Patterns:
    spaced = rb"\s+".join(word.encode() for word in value.split(" "))
    after = {
        b'"': re.compile(spaced + rb'\s*"'),
        b"'": re.compile(spaced + rb"\s*'"),
        b"": re.compile(spaced + rb"(?=[\s>])"),
    }
    attribute = name.encode()
    written = rb"(?:\"\s*%b\s*\"|'\s*%b\s*'|%b(?=[\s>]))" % (spaced, spaced, spaced)
    # The first attribute of the name counts, as in browsers.
    other = (
        rb"[\s/]++(?!%b[\s=/>])[^\s=>/]++(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"'][^\s>]*+))?+"
        % attribute
    )
    return _Patterns(
        re.compile(rb"(?i:\b%b)\s*=\s*([\"']?)\s*\Z" % attribute),
        after,
        re.compile(
            rb"<[a-zA-Z][^\s/>]*+(?i:(?:%b)*+)[\s/]++(?i:%b)\s*+=\s*+%b"
            % (other, attribute, written)
        ),
    )


def _is_like_attribute(body: bytes, place: int, patterns: _Patterns) -> bool:
    """Say whether what stands at a place could be the value of the attribute."""
    before = patterns.before.search(body, max(place - LOOKED_BACK, 0), place)
    return before is not None and patterns.after[before[1]].match(body, place) is not None


def _is_hidden(body: bytes, start: int) -> bool:
    """Say whether a tag could stand within a comment, or within an element whose content is no markup."""
    pairs = [(b"<!--", b"-->"), *((b"<" + name, b"</" + name) for name in RAW_ELEMENTS)]
    for opening, closing in pairs:
        opened = body.rfind(opening, 0, start)
        if opened >= 0 and body.find(closing, opened, start) < 0:
            return True
    return b"<SCRIPT" in body or b"<STYLE" in body
