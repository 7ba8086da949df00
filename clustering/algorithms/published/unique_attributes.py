"""Recognise a page by an id or class in its bytes, without building its tree.

Paper:      Chakrabarti and Mehta, "The Paths More Taken: Matching DOM Trees to Search Logs for
            Accurate Webpage Clustering" (WWW 2010), section 4.2: a few paths decide, and some are
            known by a unique id or class.
Notation:   mark, an id or class with its value; of a path: one that is on a page exactly when the
            path is, on all pages seen.
Readings:   A mark is taken from the path's own steps, the last one first, so a page without it does
            not have the path. A page with it has the path on all pages seen; on a later one tags
            like all steps of the path must begin in their order, since a new template may use the
            mark elsewhere.
Departures: Where the bytes leave a doubt (`find_mark` returns None), the caller builds the tree. A
            value that is written with character references is not found.
Cost:       `find_mark`: a search for the value's first word, and a look around each occurrence.
            `unique_marks`: a sort of the marks of all pages; collecting them costs 0.1 ms a page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.published.attributed_paths import PathPage, hash_mark, marks_in
from clustering.algorithms.published.shingles import RAW_ELEMENTS

MAX_DOUBTS = 10  # after which building the tree is quicker
IMPLIED_TAGS = {"html", "body"}  # a page may leave them out
MAX_BYTES_BEFORE_VALUE = 60  # in which a name and an equals sign are looked for

_STEP = re.compile(r"/([^/\[]+)((?:\[@(?:id|class)=(?:'[^']*'|\"[^\"]*\")\])*)")

Mark = tuple[str, str]  # id or class, value


def unique_marks(
    pages: Sequence[PathPage], written: Sequence[str], present: NDArray[np.bool_]
) -> list[Mark | None]:
    """Return each path's first mark that is on exactly the pages that have the path; else None.

    `written` has the paths as they are written, `present` a row for each page and a column for each
    path.
    """
    marks = np.concatenate([np.empty(0, dtype=np.uint64), *(page.marks for page in pages)])
    page_of_mark = np.repeat(np.arange(len(pages)), [len(page.marks) for page in pages])
    order = np.argsort(marks, kind="stable")
    marks, page_of_mark = marks[order], page_of_mark[order]

    def is_unique(mark: Mark, column: NDArray[np.bool_]) -> bool:
        hashed = np.uint64(hash_mark(*mark))
        first = np.searchsorted(marks, hashed, side="left")
        end = np.searchsorted(marks, hashed, side="right")
        # Ascending, too: the sort is stable, and a page has a mark once.
        pages_with_mark = page_of_mark[first:end]
        return np.array_equal(pages_with_mark, np.flatnonzero(column))

    return [
        next((mark for mark in marks_in(path) if is_unique(mark, column)), None)
        for path, column in zip(written, present.T, strict=True)
    ]


def find_mark(body: bytes, name: str, value: str) -> bool | None:
    """Return whether an element has the id or class, None where the bytes leave it in doubt."""
    offset = find_tag(body, name, value)
    return None if offset is None else offset >= 0


def has_steps(body: bytes, path: str) -> bool:
    """Return whether tags like a path's steps begin one after the other, as they do where it is.

    False too where the bytes leave it in doubt.
    """
    offset = -1
    for step in _STEP.finditer(path):
        tag, marks = step[1], marks_in(step[0])
        if marks or tag not in IMPLIED_TAGS:
            offset = _find_step(body, tag, marks, offset + 1)
            if offset < 0:
                return False
    return True


def _find_step(body: bytes, tag: str, marks: Sequence[Mark], first: int) -> int:
    """Return where the first tag like a step begins from an offset on, -1 where none is found."""
    opening = re.compile(rb"<%b(?=[\s/>])" % re.escape(tag.encode()), re.IGNORECASE)
    for _ in range(MAX_DOUBTS):
        offset: int | None
        if marks:
            offset = find_tag(body, *marks[0], first)
        else:
            match = opening.search(body, first)
            offset = match.start() if match else -1
        if offset is None or offset < 0:
            return -1
        has_others = all(find_tag(body, *mark, offset) == offset for mark in marks[1:])
        if has_others and opening.match(body, offset):
            return offset
        first = offset + 1
    return -1


def find_tag(body: bytes, name: str, value: str, first: int = 0) -> int | None:
    """Return where the first tag from an offset on begins that has the id or class.

    It is -1 where there is none, and None where the bytes leave it in doubt.
    """
    if b"\0" in body:
        return None  # another encoding, or a page that parsers disagree on
    patterns = _patterns(name, value)
    word = value.partition(" ")[0].encode()
    n_doubts = 0
    at = body.find(word, first)
    while at >= 0 and n_doubts < MAX_DOUBTS:
        if _is_like_attribute(body, at, patterns):
            start = body.rfind(b"<", first, at)
            tag = patterns.tag.match(body, start) if start >= 0 else None
            if tag and tag.end() > at and not _is_hidden(body, start):
                return start
            n_doubts += 1
        at = body.find(word, at + 1)
    return None if n_doubts else -1


class _Patterns(NamedTuple):
    before: re.Pattern[bytes]  # name, equals sign and quotation mark
    after: dict[bytes, re.Pattern[bytes]]  # the value up to its end, by quotation mark
    tag: re.Pattern[bytes]


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


def _is_like_attribute(body: bytes, at: int, patterns: _Patterns) -> bool:
    """Return whether what stands at an offset could be the value of the attribute."""
    before = patterns.before.search(body, max(at - MAX_BYTES_BEFORE_VALUE, 0), at)
    return before is not None and patterns.after[before[1]].match(body, at) is not None


def _is_hidden(body: bytes, start: int) -> bool:
    """Return whether a tag could stand in a comment or in an element whose content is no markup."""
    pairs = [(b"<!--", b"-->"), *((b"<" + name, b"</" + name) for name in RAW_ELEMENTS)]
    for opening, closing in pairs:
        opened = body.rfind(opening, 0, start)
        if opened >= 0 and body.find(closing, opened, start) < 0:
            return True
    return b"<SCRIPT" in body or b"<STYLE" in body
