"""Leave out of addresses what tells no types apart: language, page of a list, index file.

Readings:   `/en/talks/3` and `/ja/talks/4` are of one type, and so are `/tag/oak/` and
            `/tag/oak/page/2/`. Only the languages that sites have most often count, and no code
            that is a usual word of an address besides, such as `id`.
Cost:       Linear in the characters of the address.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit, urlunsplit

_LANGUAGE = re.compile(
    r"/(?:ar|bg|ca|cs|da|de|el|en|es|et|fa|fi|fr|he|hi|hr|hu|it|ja|ko|lt|lv|nb|nl|pl|pt|ro|ru|sk|sl|sr"
    r"|sv|th|tr|uk|vi|zh)(?:[-_][a-z]{2,4})?(?=/|$)",
    re.IGNORECASE,
)
_PAGE_OF_LIST = re.compile(r"/(?:page|pagina|seite)[/_-]?\d+(?=/|$)", re.IGNORECASE)
_INDEX_FILE = re.compile(r"/(?:index|default)\.[a-z]{2,5}$", re.IGNORECASE)


def plain_address(url: str) -> str:
    """Return an address without what tells no types apart.

    >>> plain_address("http://a.b/de-at/tag/oak/page/2/index.html?sort=name")
    'http://a.b/tag/oak/?sort=name'
    """
    parts = urlsplit(url)
    path = _INDEX_FILE.sub("/", parts.path)
    path = _PAGE_OF_LIST.sub("", path)
    path = _LANGUAGE.sub("", path)
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, parts.fragment))
