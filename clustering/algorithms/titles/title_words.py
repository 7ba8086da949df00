"""Find the words by which a site itself names its pages, in addresses, texts and classes.

Readings:   A word of an address counts where all pages of the cluster have it and it has
            MIN_WORD_CHARS letters; the last one is the most telling; of the letters that sites use
            in addresses only "u" is unambiguous. Where a part of an address only begins or ends
            with words, MIN_ADDRESSES_OF_PIECES must share them. Words of technique, place and look
            name nothing.
Cost:       Linear in the characters of the addresses.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from clustering.algorithms.url_patterns import WILD, pattern_of

MIN_WORD_CHARS = 3  # p, c and id say nothing
MAX_WORDS = 3
MIN_ADDRESSES_OF_PIECES = 5
MAX_FIELDS = 30  # of a query

_PARTS = re.compile(r"\s[-\u2013\u2014|·•:>»/]+\s|[|»:·]")
WORD = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_GLUED = re.compile(
    r"(?:view|show|display)(?=(?:article|forum|item|post|product|profile|thread|topic|user)s?$)"
)
_ENDING = re.compile(r"\.[A-Za-z]{2,5}$")
_ID = re.compile(r"(?:[-_]?(?:ids?|no|nr|num|number|slug|name|key)|(?<=[a-z])(?:Id|ID))$")
_KNOWN = {
    "u": "user",
    "cat": "category",
    "prod": "product",
    "dept": "department",
    "tagged": "tag",
    "login": "log-in",
    "logon": "log-in",
    "signin": "log-in",
    "signup": "registration",
    "register": "registration",
}
_START = re.compile(r"/?(?:(?:index|default|home|main)\.[a-z]{2,5})?", re.IGNORECASE)
# Words in addresses that name a technique or a place in a site's folders, not what is there.
_TECHNICAL = frozenset(
    re.split(
        r"\s+",
        """all asp aspx bin browse cgi com content contents data default detail details dir display
        docs file         files generated get home htm html http https index item items jsp list
        main net node org page pages         path php public show site static view web www""",
    )
)
# Words in classes that name a look, a place on the page, a technique.
_LOOKS = _TECHNICAL | frozenset(
    re.split(
        r"\s+",
        """absolute active align antialiased app area article aside auto background bar base block
        body border         bottom box boxed center centered class clear clearfix clients col
        cols column columns container copy         custom dark desktop document enabled false
        fixed flex fluid font footer full gap grid has header         height hentry hidden image
        images inner items js justify large layout left light loaded logged         margin max
        middle min mobile narrow nav navigation new none not outer overflow pad padded padding
        panel part position post primary prose ready relative responsive right root row rows
        screen         secondary section sections shadow sidebar simple single size sizing skin
        small space sticky style         tablet template text theme tight title top true type
        typography unboxed user version visible white         wide width with without wordpress
        wrap wrapper""",
    )
)


# Of these, the ones behind which what the page is may follow.
_PLACES = frozenset(
    re.split(r"\s+", "page type template single post view content main site layout body")
)
# Plurals of which the singular is not what a rule gives, and words that have none.
_SINGULARS = {
    "news": "news",
    "series": "series",
    "species": "species",
    "sales": "sales",
    "movies": "movie",
    "cookies": "cookie",
    "faqs": "faq",
}


def is_start(url: str) -> bool:
    """Return whether an address is a site's start."""
    parts = urlsplit(url)
    return not parts.query and _START.fullmatch(parts.path) is not None


def query_keys(url: str) -> set[str]:
    """Return the keys of an address's query whose values have letters."""
    fields = urlsplit(url).query.split("&")[:MAX_FIELDS]
    return {key for key, value in parse_qsl("&".join(fields)) if WORD.search(value)}


class AddressWords(NamedTuple):
    """The words that name something in the addresses of a cluster."""

    text: str = ""
    are_above: bool = False  # what differs comes behind them: they name one of many


def address_words(urls: Sequence[str]) -> AddressWords:
    """Return the last words of the addresses' pattern that name something, blank without such.

    >>> address_words(["http://a.b/brand/oak", "http://a.b/brand/elm"])
    AddressWords(text='brand', are_above=True)
    """
    pattern = pattern_of(urls)
    if "://" not in pattern:
        return AddressWords()
    parts = urlsplit(pattern.replace(WILD, "\0"))
    words = _last_words(parts, len(set(urls)))
    words_of_last_segment = _naming_words(parts.path.rpartition("/")[2])
    return AddressWords(words, WILD in pattern and words not in words_of_last_segment)


def _last_words(parts: SplitResult, n_urls: int) -> str:
    """Return the last words that name something in a pattern; a null stands for what differs.

    1. Words of a whole value of the query, or of a whole segment of the path.
    2. With many addresses, words with which a segment begins or ends.
    3. The name of an id in the query.
    """
    fields = [field.partition("=") for field in parts.query.split("&") if field]
    segments = parts.path.split("/")
    for segment in [*reversed([value for _, _, value in fields]), *reversed(segments)]:
        words = _naming_words(segment) if "\0" not in segment else ""
        if words:
            return words
    if n_urls >= MIN_ADDRESSES_OF_PIECES:
        for segment in reversed(segments):
            for piece in _fixed_pieces(segment):
                words = _naming_words(piece)
                if words:
                    return words
    for key, _, value in fields:
        words = _naming_words(_ID.sub("", key)) if "\0" in value and _ID.search(key) else ""
        if words:
            return words
    return ""


def _fixed_pieces(segment: str) -> Iterator[str]:
    """Yield what begins or ends a segment of an address, up to a separator beside what differs."""
    beginning = re.match(r"([^\0]*)[-_.=,:][^-_.=,:\0]*\0", segment)
    if beginning:
        yield beginning[1]
    end = re.search(r"\0[^-_.\0]*[-_.=,:]([^\0]*)$", segment)
    if end:
        yield _ENDING.sub("", "." + end[1]).lstrip(".")


def _naming_words(segment: str) -> str:
    """Return the words of a segment that name something; blank where there are none."""
    name = _CAMEL.sub(" ", _ENDING.sub("", unquote(segment)))
    words = [_GLUED.sub("", word) for word in WORD.findall(name)]
    if len(words) == 1:
        words = [_KNOWN.get(words[0].lower(), words[0])]
    words = list(filter(is_long, words))
    naming = [word for word in words if word.lower() not in _TECHNICAL]
    return " ".join(words if len(naming) > 1 else naming)


def token_words(token: str) -> str:
    """Return the words of a class or an id that name something, blank where it names a look.

    >>> token_words("product-info"), token_words("page-listing"), token_words("mx-auto")
    ('product info', 'listing', '')
    """
    words = [word.lower() for word in WORD.findall(_CAMEL.sub(" ", token))]
    if any(map(str.isdigit, token)) or not words or not is_long(words[0]):
        return ""
    if words[0] in _LOOKS - _PLACES:
        return ""
    naming = [word for word in words if is_long(word) and word not in _LOOKS]
    return " ".join(dict.fromkeys(_KNOWN.get(word, word) for word in naming[:MAX_WORDS]))


def title_parts(title: str) -> list[str]:
    """Return the parts of a title, such as a page's name and its site's.

    >>> title_parts("Oak-tree facts | A site")
    ['Oak-tree facts', 'A site']
    """
    return [part for part in map(str.strip, _PARTS.split(title)) if part]


def title_runs(title: str, words: Collection[str]) -> set[str]:
    """Return the runs of some words with which parts of a title begin or end.

    >>> sorted(title_runs("Oak tree facts | A site", {"tree", "facts", "site"}))
    ['site', 'tree facts']
    """
    runs = set()
    for part in title_parts(title):
        words_of_part = WORD.findall(part)
        first = list(takewhile(words.__contains__, words_of_part))[:MAX_WORDS]
        last = list(takewhile(words.__contains__, reversed(words_of_part)))[:MAX_WORDS]
        for run in (first, last[::-1]):
            if any(map(is_long, run)):
                runs.add(" ".join(run))
    return runs


def is_long(word: str) -> bool:
    """Return whether a word is long enough to name something; of signs that are no letters, two."""
    return len(word) >= MIN_WORD_CHARS or (len(word) > 1 and word.lower() == word.upper())


def singular_of(word: str) -> str:
    """Return the singular of an English word.

    >>> singular_of("categories"), singular_of("boxes"), singular_of("news"), singular_of("recipes")
    ('category', 'box', 'news', 'recipe')
    """
    if word in _SINGULARS:
        return _SINGULARS[word]
    if not word.endswith("s"):
        return word
    if word.endswith("ies") and len(word) > 4:  # not ties
        return word[:-3] + "y"
    if re.search(r"(?:ss|us|is|os|as|ous)$", word):
        return word
    return word[:-2] if re.search(r"(?:x|ch|sh|ss|zz)es$", word) else word[:-1]
