"""Recognise the error pages and walls of one site by what it showed in their place before.

Paper:      None; it serves the triage of `soft_errors`, whose words know some languages only.
Notation:   A signature is what is kept of an error page: its heading, and the words that it shows.
Readings:   None.
Departures: What a site answers to an address that does not exist is its soft 404, in any language. A page is
            the same error where its heading is the same, or where it has nearly all its words and nearly no
            others; digits and the words of its address do not count. A signature that a page is like which
            was right when the rule was learnt tells nothing and is left out.
Cost:       Linear in the words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit
from zlib import crc32

from monitoring.algorithms.soft_errors import PageText

MOST_WORDS: Final = 3_000
SHORTEST_HEADING: Final = 4
LONGEST_HEADING: Final = 300
MISSING: Final = 0.1  # share of a signature's words that a page may lack
FURTHER: Final = 0.02  # of words that it may have beside them, and some
FURTHER_WORDS: Final = 3
FEWEST_WORDS: Final = 5  # of a signature, fewer tell nothing
_WORD = re.compile(r"[^\W\d_]{2,}")


class ErrorSignature(NamedTuple):
    """What is kept of an error page."""

    kind: str  # a word of the triage
    heading: str
    words: frozenset[int]

    @property
    def digest(self) -> str:
        """A name that the same signature has again."""
        return sha256(repr((self.heading, sorted(self.words))).encode()).hexdigest()


def signature_of(kind: str, shown: PageText, url: str) -> ErrorSignature:
    """Return what to keep of an error page that stood at an address."""
    own = _own_words(url)
    words = sorted(crc32(word.encode()) for word in set(_words(shown.text)) - own)
    return ErrorSignature(kind, heading_of(shown, url), frozenset(words[:MOST_WORDS]))


def heading_of(shown: PageText, url: str) -> str:
    """Return the words of a page's title and headings, without those of its address."""
    own = _own_words(url)
    return " ".join(word for word in _words(shown.heading) if word not in own)[:LONGEST_HEADING]


def recognise(shown: PageText, url: str, signatures: Iterable[ErrorSignature]) -> str:
    """Return which kind of error page this is; blank where it is like none of them."""
    own = signature_of("", shown, url)
    return next((one.kind for one in signatures if are_alike(own, one)), "")


def are_alike(page: ErrorSignature, error: ErrorSignature) -> bool:
    """Say whether a page has the heading or the words of an error page."""
    if len(error.heading) >= SHORTEST_HEADING and page.heading == error.heading:
        return True
    if len(error.words) < FEWEST_WORDS:
        return False
    missing, further = len(error.words - page.words), len(page.words - error.words)
    return missing <= MISSING * len(error.words) and further <= max(
        FURTHER_WORDS, FURTHER * len(error.words)
    )


def telling_ones(
    signatures: Iterable[ErrorSignature], pages: Sequence[tuple[PageText, str]]
) -> list[ErrorSignature]:
    """Return the signatures that none of some good pages, with their addresses, is like."""
    good = [signature_of("", shown, url) for shown, url in pages]
    return [one for one in signatures if not any(are_alike(page, one) for page in good)]


def missing_address(url: str, word: str) -> str:
    """Return the address of a page that does not exist, beside another one.

    >>> missing_address("https://shop.example/p/12?x=1", "nowhere")
    'https://shop.example/p/nowhere'
    """
    parts = urlsplit(url)
    folder, _, last = parts.path.rstrip("/").rpartition("/")
    dot = last.rpartition(".")[2] if "." in last else ""
    name = f"{word}.{dot}" if dot.isalpha() else word
    return urlunsplit((parts.scheme, parts.netloc, f"{folder}/{name}", "", ""))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _own_words(url: str) -> set[str]:
    return set(_words(unquote(url)))
