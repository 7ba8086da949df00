"""Recognise the error pages and walls of one site by what it showed in their place before.

Paper:      None; it serves the triage of `soft_errors`, whose words know some languages only.
Notation:   A signature is what is kept of an error page: its heading, and the words that it shows.
Readings:   None.
Departures: What a site answers to an address that does not exist is its soft 404, in any language.
            A page is the same error where its heading is the same, or where it has nearly all its
            words and nearly no others; digits and the words of its address do not count. A
            signature that a page is like which was right when the rule was learnt tells nothing and
            is left out.
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

MAX_WORDS: Final = 3_000
MIN_HEADING_CHARS: Final = 4
MAX_HEADING_CHARS: Final = 300
MAX_MISSING_SHARE: Final = 0.1  # of a signature's words, that a page may lack
MAX_FURTHER_SHARE: Final = 0.02  # of as many words, that it may have beside them
MIN_FURTHER_ALLOWED: Final = 3  # words, however few the signature has
MIN_WORDS_TO_JUDGE: Final = 5  # of a signature
_WORD = re.compile(r"[^\W\d_]{2,}")


class ErrorSignature(NamedTuple):
    """What is kept of an error page."""

    kind: str  # a word of the triage
    heading: str
    words: frozenset[int]

    @property
    def digest(self) -> str:
        """Return a name that equal signatures share."""
        return sha256(repr((self.heading, sorted(self.words))).encode()).hexdigest()


def signature_of(kind: str, shown: PageText, url: str) -> ErrorSignature:
    """Return what to keep of an error page that stood at an address."""
    own = _own_words(url)
    words = sorted(crc32(word.encode()) for word in set(_words(shown.text)) - own)
    return ErrorSignature(kind, heading_of(shown, url), frozenset(words[:MAX_WORDS]))


def heading_of(shown: PageText, url: str) -> str:
    """Return the words of a page's title and headings, without those of its address."""
    own = _own_words(url)
    return " ".join(word for word in _words(shown.heading) if word not in own)[:MAX_HEADING_CHARS]


def recognise(shown: PageText, url: str, signatures: Iterable[ErrorSignature]) -> str:
    """Return which kind of error page this is; blank where it is like none of them."""
    page = signature_of("", shown, url)
    return next((error.kind for error in signatures if is_like(page, error)), "")


def is_like(page: ErrorSignature, error: ErrorSignature) -> bool:
    """Return whether a page has the heading or the words of an error page."""
    if len(error.heading) >= MIN_HEADING_CHARS and page.heading == error.heading:
        return True
    if len(error.words) < MIN_WORDS_TO_JUDGE:
        return False
    n_words = len(error.words)
    n_missing = len(error.words - page.words)
    n_further = len(page.words - error.words)
    max_further = max(MIN_FURTHER_ALLOWED, MAX_FURTHER_SHARE * n_words)
    return n_missing <= MAX_MISSING_SHARE * n_words and n_further <= max_further


def telling_signatures(
    signatures: Iterable[ErrorSignature], pages: Sequence[tuple[PageText, str]]
) -> list[ErrorSignature]:
    """Return the signatures that no good page resembles; a good page comes with its address."""
    good_signatures = [signature_of("", text, url) for text, url in pages]
    return [
        error
        for error in signatures
        if not any(is_like(good_signature, error) for good_signature in good_signatures)
    ]


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
