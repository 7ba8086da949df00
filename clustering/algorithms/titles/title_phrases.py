"""Read the phrases that may name a page from its address, its texts and what it declares.

Notation:   A phrase is a few words with the source they stand in; of some pages there are the
            phrases of each page, so that the share of pages that have one can be counted.
Readings:   A folder is a part of the path with a "/" behind it. A part that names nothing as a
            whole may begin or end with words, up to a sign such as "-" or "_". What stands in a
            heading or title is read by its parts, such as a page's name and its site's.
Cost:       Linear in the characters of the addresses and texts of MAX_PAGES pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from clustering.algorithms.titles.page_kinds import PageKind
from clustering.algorithms.titles.title_words import (
    ENDING,
    WORD,
    Place,
    is_page_class,
    key_words,
    naming_words,
    says_nothing,
    short_text,
    split_camel,
    title_parts,
    title_runs,
    token_words,
)
from clustering.dom.declared import LIST_TYPES, is_secondary

MAX_FIELDS = 30  # of a query
MAX_SEGMENTS = 12  # of a path
MAX_EDGE_WORDS = 3  # with which a part of an address begins or ends
MAX_LABEL_CHARS = 40

_SEPARATOR = re.compile(r"[-_.=,:+~ ]+")
_TYPE_TITLES = {
    "AboutPage": "About",
    "BlogPosting": "Blog post",
    "CheckoutPage": "Checkout",
    "ContactPage": "Contact",
    "DiscussionForumPosting": "Discussion",
    "FAQPage": "Questions and answers",
    "ImageGallery": "Gallery",
    "ImageObject": "Image",
    "IndividualProduct": "Product",
    "JobPosting": "Job",
    "MediaGallery": "Gallery",
    "ProductGroup": "Product",
    "ProductModel": "Product",
    "ProfilePage": "Profile",
    "QAPage": "Question",
    "SearchResultsPage": "Search results",
    "SocialMediaPosting": "Post",
    "VideoObject": "Video",
}


class Source(Enum):
    """Where a phrase stands."""

    TYPE = auto()  # that the page declares
    SECONDARY_TYPE = auto()
    BREADCRUMB = auto()  # the page right above
    BREADCRUMB_ABOVE = auto()
    HEADING = auto()  # all of a heading, or of a part of a title
    HEADING_END = auto()
    HEADING_BEGINNING = auto()
    FOLDER = auto()
    FILE = auto()
    EDGE = auto()  # what a part of the path begins or ends with
    QUERY_VALUE = auto()
    QUERY_KEY = auto()
    PAGE_CLASS = auto()  # such as "page-tour"
    CLASS = auto()
    LABEL = auto()


class Phrase(NamedTuple):
    """A few words that may name a page."""

    source: Source
    text: str


_HEADING_PLACES = {
    Place.WHOLE: Source.HEADING,
    Place.END: Source.HEADING_END,
    Place.BEGINNING: Source.HEADING_BEGINNING,
}


def phrases_of_address(url: str) -> Iterator[Phrase]:
    """Yield the phrases of a page's address: of its path, then of its query."""
    parts = urlsplit(url)
    segments = parts.path.split("/")[1:][:MAX_SEGMENTS]
    for number, segment in enumerate(segments):
        is_file = number == len(segments) - 1
        name = ENDING.sub("", unquote(segment))
        words = naming_words(name)
        if words and not _has_number(name):
            yield Phrase(Source.FILE if is_file else Source.FOLDER, words)
        yield from _edges(name)
    for key, value in parse_qsl("&".join(parts.query.split("&")[:MAX_FIELDS])):
        words = naming_words(value)
        if words:
            yield Phrase(Source.QUERY_VALUE, words)
        elif key_words(key):
            yield Phrase(Source.QUERY_KEY, key_words(key))


def _has_number(name: str) -> bool:
    return any(map(str.isdigit, name))


def _edges(name: str) -> Iterator[Phrase]:
    """Yield the words with which a part of an address begins and ends, without all of it."""
    pieces = [word for piece in _SEPARATOR.split(name) for word in split_camel(piece).split()]
    for n_words in range(1, min(MAX_EDGE_WORDS, len(pieces) - 1) + 1):
        for edge in (pieces[:n_words], pieces[-n_words:]):
            if all(map(WORD.fullmatch, edge)):
                words = naming_words(" ".join(edge))
                if words:
                    yield Phrase(Source.EDGE, words)


def phrases_of_heading(text: str) -> Iterator[Phrase]:
    """Yield the phrases of a heading or a title."""
    for part in title_parts(text):
        for place, words in title_runs(part):
            if not says_nothing(words):
                yield Phrase(_HEADING_PLACES[place], words)


def phrases_of_labels(labels: Iterable[str]) -> Iterator[Phrase]:
    """Yield the short ones of a page's texts."""
    for label in labels:
        if len(label) <= MAX_LABEL_CHARS:
            yield from _whole_phrases(label, Source.LABEL)


def phrases_of_kind(kind: PageKind) -> Iterator[Phrase]:
    """Yield the phrases of what a page declares, of its breadcrumb and of its main parts."""
    for name, _ in kind.types:
        if name not in LIST_TYPES:
            source = Source.SECONDARY_TYPE if is_secondary(name) else Source.TYPE
            yield Phrase(source, _TYPE_TITLES.get(name) or split_camel(name).lower())
    for number, crumb in enumerate(reversed(kind.breadcrumb)):
        source = Source.BREADCRUMB_ABOVE if number else Source.BREADCRUMB
        yield from _whole_phrases(crumb, source)
    for token in kind.tokens:
        words = token_words(token)
        if words:
            yield Phrase(Source.PAGE_CLASS if is_page_class(token) else Source.CLASS, words)


def _whole_phrases(text: str, source: Source) -> Iterator[Phrase]:
    """Yield a text where it is short and says something."""
    words = short_text(text)
    if words and not says_nothing(words):
        yield Phrase(source, words)
