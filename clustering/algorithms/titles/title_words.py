"""Find the words that name something in addresses, texts and classes.

Readings:   A word has MIN_WORD_CHARS letters; of the letters that sites use in addresses only "u"
            is unambiguous. Words of technique, place and look name nothing, and small words such as
            "of" stand only between others.
Cost:       Linear in the characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from urllib.parse import parse_qsl, unquote, urlsplit

MIN_WORD_CHARS, MAX_WORD_CHARS = 3, 30  # p, c and id say nothing
MAX_FIELDS = 30  # of a query
MAX_CLASS_WORDS = 3
MAX_RUN = 3  # words with which a text begins or ends
MAX_WHOLE = 5  # words of a text that is a phrase

_PARTS = re.compile(r"\s[-\u2013\u2014|·•:>»/]+\s|[|»:·]")
WORD = re.compile(r"[^\W\d_]+")
_PIECE = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_GLUED = re.compile(
    r"(?:view|show|display)(?=(?:article|forum|item|post|product|profile|thread|topic|user)s?$)"
)
ENDING = re.compile(r"\.[A-Za-z]{2,5}$")
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
_SMALL_WORDS = frozenset(
    re.split(
        r"\s+",
        """a an and are as at by for from in into is it my of on or our that the this to with your
        au auf aus das de del der des di die du e ein eine el en et i il im la las le les los mit
        o per por pour sur um un una und une von y zu""",
    )
)
_START = re.compile(r"/?(?:(?:index|default|home|main)\.[a-z]{2,5})?", re.IGNORECASE)
# Pages that nearly every site has, and that are about the site itself.
SITE_WORDS = frozenset(
    re.split(
        r"\s+",
        """about aboutus account agb authors bag basket cart checkout colophon conduct contact
        contacts contactus contributing cookie cookies copyright credits datenschutz disclaimer
        faq faqs feedback help hilfe impressum imprint kontakt legal licence license login logon
        mentions newsletter policies privacy register registration returns shipping signin signup
        sitemap support team terms tos versand warenkorb""",
    )
)
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
_PLACES_OF_TEXTS = frozenset(
    re.split(
        r"\s+",
        "back close com content contents home html main menu more net next org page pages php "
        "previous top www",
    )
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


class Place(Enum):
    """Where a run of words stands in a text."""

    BEGINNING = auto()
    END = auto()
    WHOLE = auto()


def is_start(url: str) -> bool:
    """Return whether an address is a site's start."""
    parts = urlsplit(url)
    return not parts.query and _START.fullmatch(parts.path) is not None


def query_keys(url: str) -> set[str]:
    """Return the keys of an address's query whose values have letters."""
    fields = urlsplit(url).query.split("&")[:MAX_FIELDS]
    return {key for key, value in parse_qsl("&".join(fields)) if WORD.search(value)}


def naming_words(segment: str) -> str:
    """Return the words of a part of an address that name something; blank where there are none.

    >>> naming_words("product-category"), naming_words("show.php"), naming_words("detailPage")
    ('product category', '', '')
    """
    name = _CAMEL.sub(" ", ENDING.sub("", unquote(segment)))
    words = [_GLUED.sub("", word) for word in WORD.findall(name)]
    if len(words) == 1:
        words = [_KNOWN.get(words[0].lower(), words[0])]
    words = [word for word in words if is_long(word) or word.lower() in _SMALL_WORDS]
    naming = [word for word in words if word.lower() not in _TECHNICAL | _SMALL_WORDS]
    if not naming:
        return ""
    return " ".join(without_small_ends(words) if len(naming) > 1 else naming)


def key_words(key: str) -> str:
    """Return the words of a key of a query that name something, without the sign of an id."""
    return naming_words(_ID.sub("", key))


def without_small_ends(words: Sequence[str]) -> list[str]:
    """Return words without those at both ends that name nothing, such as "of"."""
    trimmed = list(words)
    while trimmed and trimmed[0].lower() in _SMALL_WORDS:
        trimmed.pop(0)
    while trimmed and trimmed[-1].lower() in _SMALL_WORDS:
        trimmed.pop()
    return trimmed


def folded_words(text: str) -> list[str]:
    """Return the words of a text in small letters, English plurals as singulars.

    >>> folded_words("Opening Hours"), folded_words("OPENING HOUR")
    (['opening', 'hour'], ['opening', 'hour'])
    """
    return [singular_of(word.lower()) for word in WORD.findall(text)]


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
    return " ".join(dict.fromkeys(_KNOWN.get(word, word) for word in naming[:MAX_CLASS_WORDS]))


def is_page_class(token: str) -> bool:
    """Return whether a class says of what kind a page is, such as "page-tour"."""
    return re.split(r"[-_]", token.lower())[0] in _PLACES and re.search(r"[-_]", token) is not None


def title_parts(title: str) -> list[str]:
    """Return the parts of a title, such as a page's name and its site's.

    >>> title_parts("Oak-tree facts | A site")
    ['Oak-tree facts', 'A site']
    """
    return [part for part in map(str.strip, _PARTS.split(title)) if part]


def title_runs(text: str) -> Iterator[tuple[Place, str]]:
    """Yield a short text, and the runs of at most MAX_RUN words with which it begins and ends.

    >>> [run for place, run in title_runs("Family of Ann, 3") if place is Place.BEGINNING]
    ['Family', 'Family', 'Family of Ann']
    """
    pieces = _pieces_of(text)
    whole = _naming_run(pieces) if len(pieces) <= MAX_WHOLE else ""
    if whole:
        yield Place.WHOLE, whole
    for n_pieces in range(1, min(MAX_RUN, len(pieces) - 1) + 1):
        beginning, end = _naming_run(pieces[:n_pieces]), _naming_run(pieces[-n_pieces:])
        if beginning:
            yield Place.BEGINNING, beginning
        if end:
            yield Place.END, end


def short_text(text: str) -> str:
    """Return the words of a short text; blank where it is long or has more than words.

    >>> short_text("Opening hours:"), short_text("7 seats")
    ('Opening hours', '')
    """
    if text.count(" ") >= MAX_WHOLE:
        return ""
    pieces = _pieces_of(text)
    return _naming_run(pieces) if len(pieces) <= MAX_WHOLE else ""


def _pieces_of(text: str) -> list[str]:
    return _PIECE.findall(text.rstrip(" .:,;!?"))


def _naming_run(pieces: Sequence[str]) -> str:
    """Return pieces of a text as words; blank where one is no word, or none names something."""
    words = without_small_ends(pieces)
    if not all(map(WORD.fullmatch, words)) or not any(map(is_long, words)):
        return ""
    return " ".join(words)


def split_camel(name: str) -> str:
    """Return a name with a blank before each capital within it.

    >>> split_camel("RealEstateListing")
    'Real Estate Listing'
    """
    return _CAMEL.sub(" ", name)


def says_nothing(words: str) -> bool:
    """Return whether words of a text name only a place on a site, such as its home."""
    return _PLACES_OF_TEXTS.issuperset(words.lower().split())


def is_long(word: str) -> bool:
    """Return whether a word is long enough to name something; of signs that are no letters, two.

    What is longer than MAX_WORD_CHARS is no word.
    """
    if len(word) > MAX_WORD_CHARS:
        return False
    return len(word) >= MIN_WORD_CHARS or (len(word) > 1 and word.lower() == word.upper())


def singular_of(word: str) -> str:
    """Return the singular of an English word.

    >>> singular_of("categories"), singular_of("boxes"), singular_of("news"), singular_of("recipes")
    ('category', 'box', 'news', 'recipe')
    """
    known = _SINGULARS.get(word.lower())
    if known is not None:
        return word[: len(known)]
    if not word.endswith("s"):
        return word
    if word.endswith("ies") and len(word) > 4:  # not ties
        return word[:-3] + "y"
    if re.search(r"(?:ss|us|is|os|as|ous)$", word):
        return word
    return word[:-2] if re.search(r"(?:x|ch|sh|ss|zz)es$", word) else word[:-1]
