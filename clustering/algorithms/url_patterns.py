"""See what the addresses of a site have in common: the pattern of each page, and the pattern of a cluster.

Notation:   The pattern of a page is its address with `#` for numbers and `*` for what is peculiar to it; a word
            stays where many pages share it behind the same beginning. The pattern of a cluster is the most specific
            one, with `(.*)` for what differs, that matches all its addresses.
Readings:   The paper limits a cluster's pattern by the number of literal characters and of wild cards and names
            no numbers. Ours: at least FEWEST_LITERALS literal characters behind the host, at most MOST_WILD wild
            cards; what has more is joined at its weakest literal pieces until it has not.
Cost:       Linear in the characters of the addresses.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import reduce
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Sequence

RAREST_WORD, RAREST_WORD_SHARE = 3, 0.01  # on fewer pages a word in an address is peculiar to them
RAREST_MIXED_SHARE = 0.1  # a word with numbers in it stays only where so many pages share it
MOST_SEGMENTS = 12
MOST_KEYS = 4
MOST_WILD = 3
FEWEST_LITERALS = 1
MOST_URLS = 2000  # a pattern is sought among so many addresses, then tested on all
WILD = "(.*)"

_NUMBER = re.compile(r"\d+")
_HAS_WORD = re.compile(r"[^\W\d_]{4}")
_EXTENSION = re.compile(r"\.[A-Za-z]{2,5}$")
_PIECES = re.compile(r"[A-Za-z0-9%]+|.", re.DOTALL)


def address_patterns(urls: Sequence[str]) -> list[str]:
    """Return the pattern of each address among all of its site.

    >>> address_patterns(["http://a/p/oak", "http://a/p/elm", "http://a/p/ash", "http://a/x"])
    ['a/p/*', 'a/p/*', 'a/p/*', 'a/*']
    """
    least = max(RAREST_WORD, RAREST_WORD_SHARE * len(urls))
    parts = [urlsplit(url) for url in urls]
    patterns = [part.netloc for part in parts]
    segments = [part.path.split("/")[1:] for part in parts]
    for place in range(min(max(map(len, segments), default=0), MOST_SEGMENTS)):
        words = [row[place] if place < len(row) else None for row in segments]
        patterns = _extended(patterns, words, least, "/")
    keys = _needed_keys(patterns, [parse_qsl(part.query, keep_blank_values=True) for part in parts])
    patterns = [
        f"{pattern}?{','.join(key for key, _ in pairs)}" if pairs else pattern
        for pattern, pairs in zip(patterns, keys, strict=True)
    ]
    for place in range(MOST_KEYS):
        values = [f"{row[place][0]}={row[place][1]}" if place < len(row) else None for row in keys]
        patterns = _extended(patterns, values, least, "&")
    return patterns


def _extended(patterns: Sequence[str], words: Sequence[str | None], least: float, mark: str) -> list[str]:
    """Extend each pattern by its next word, or by a wild card where the word is peculiar."""
    masked = [None if word is None else _NUMBER.sub("#", unquote(word)) for word in words]
    n_by_pattern = Counter(pattern for pattern, word in zip(patterns, masked, strict=True) if word is not None)
    n_by_word = Counter(zip(patterns, masked, strict=True))
    extended = []
    for pattern, word in zip(patterns, masked, strict=True):
        if word is None:
            extended.append(pattern)
            continue
        n = n_by_word[pattern, word]
        if "#" not in word:
            stays = n >= least
        else:
            stays = not word.strip("#") or (
                _HAS_WORD.search(word) is not None
                and n >= max(least, RAREST_MIXED_SHARE * n_by_pattern[pattern])
            )
        extended.append(pattern + mark + (word if stays else _peculiar(word)))
    return extended


def _peculiar(word: str) -> str:
    name, equals, _ = word.partition("=")
    if equals:
        return f"{name}=*"
    extension = _EXTENSION.search(word)
    return "*" + (extension[0] if extension else "")


def _needed_keys(
    patterns: Sequence[str], queries: Sequence[list[tuple[str, str]]]
) -> list[list[tuple[str, str]]]:
    """Leave out the keys without which the same pages are addressed too, such as the number of a list's page."""
    keys = [frozenset(key for key, _ in query) for query in queries]
    known = set(zip(patterns, keys, strict=True))
    return [
        sorted(pair for pair in query if (pattern, its_keys - {pair[0]}) not in known)
        for pattern, query, its_keys in zip(patterns, queries, keys, strict=True)
    ]


def pattern_of(urls: Sequence[str]) -> str:
    """Return the most specific `(.*)` pattern that matches all addresses, within the limits.

    >>> pattern_of(["http://a.b/p/oak-1", "http://a.b/p/elm-2"])
    'http://a.b/p/(.*)-(.*)'
    """
    distinct = sorted(set(urls))
    if len(distinct) < 2:  # noqa: PLR2004  # nothing differs
        return distinct[0] if distinct else WILD
    common = reduce(_common_pieces, map(_pieces, distinct[:: max(1, len(distinct) // MOST_URLS)]))
    return "".join(common)


def _pieces(url: str) -> list[str]:
    return _PIECES.findall(url)


def _common_pieces(pattern: list[str], url: list[str]) -> list[str]:
    return pattern
