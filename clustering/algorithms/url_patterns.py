"""See what the addresses of a site have in common: the pattern of each page, and the pattern of a cluster.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section IV-A: a
            cluster is described by the most specific `(.*)` pattern that matches all its URLs.
Notation:   The pattern of a page is its address with `#` for numbers and `*` for what is peculiar to it; a
            word stays where enough pages share it behind the same beginning. The pattern of a cluster has
            `(.*)` for what differs.
Readings:   The paper bounds the literal characters and the wild cards of a pattern and names no numbers.
            Ours: at most MOST_WILD wild cards, and between two of them at least one letter or number or one
            of `/ ? & =`; what has more or less is joined at its weakest literal piece until it has not. "Most
            specific" is the longest common subsequence of pieces (words, numbers, signs), found address by
            address.
Departures: A key of the query without which the same pages are addressed too, such as the number of a list's
            page, is left out of a page's pattern. A cluster of more than MOST_URLS addresses finds its
            pattern on as many; what does not match the others is dropped then.
Cost:       `address_patterns` is linear in the characters of the addresses; `pattern_of` is quadratic in the
            pieces of one address and linear in the addresses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from urllib.parse import parse_qsl, unquote, urlsplit

RAREST_WORD, RAREST_WORD_SHARE = 3, 0.01  # on fewer pages a word in an address is peculiar to them
RAREST_MIXED_SHARE = 0.1  # a word with numbers in it stays only where so many pages share it
MOST_SEGMENTS = 12
MOST_KEYS = 4
MOST_FIELDS = 50  # of a query; more are left unread

WILD = "(.*)"
MOST_WILD = 3
MOST_URLS = 500
MOST_PIECES = 200  # of an address

_NUMBER = re.compile(r"\d+")
_HAS_WORD = re.compile(r"[^\W\d_]{4}")
_EXTENSION = re.compile(r"\.[A-Za-z]{2,5}$")
_SAYING = re.compile(r"[^\W_]|[/?&=]")
_MARK = re.compile(r"[/?&]")
_PIECE = re.compile(r"[^\W_]+|.", re.DOTALL)


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
    pairs = _needed_pairs(patterns, [part.query for part in parts])
    patterns = [
        f"{pattern}?{','.join(key for key, _ in row)}" if row else pattern
        for pattern, row in zip(patterns, pairs, strict=True)
    ]
    for place in range(MOST_KEYS):
        values = ["=".join(row[place]) if place < len(row) else None for row in pairs]
        patterns = _extended(patterns, values, least, "&")
    return patterns


def _extended(
    patterns: Sequence[str], words: Sequence[str | None], least: float, mark: str
) -> list[str]:
    """Extend each pattern by its next word, or by a wild card where the word is peculiar."""
    masked = [None if word is None else _NUMBER.sub("#", unquote(word)) for word in words]
    n_by_pattern = Counter(
        pattern for pattern, word in zip(patterns, masked, strict=True) if word is not None
    )
    n_by_word = Counter(zip(patterns, masked, strict=True))
    extended = []
    for pattern, word in zip(patterns, masked, strict=True):
        if word is None:
            extended.append(pattern)
        else:
            stays = _stays(word, n_by_word[pattern, word], n_by_pattern[pattern], least)
            extended.append(pattern + mark + (word if stays else _peculiar(word)))
    return extended


def _stays(word: str, n: int, n_siblings: int, least: float) -> bool:
    """Say whether a word that so many pages share tells of their type."""
    value = word.rpartition("=")[2]
    if not value.strip("#"):
        return True
    if "#" not in value:
        return n >= least
    return _HAS_WORD.search(value) is not None and n >= max(least, RAREST_MIXED_SHARE * n_siblings)


def _peculiar(word: str) -> str:
    key, equals, _ = word.partition("=")
    if equals:
        return f"{key}=*"
    extension = _EXTENSION.search(word)
    return "*" + (extension[0] if extension else "")


def pattern_among(url: str, patterns: Collection[str], prefixes: Collection[str]) -> str | None:
    """Return which pattern of a site's pages a later address has; `prefixes` are those of the patterns.

    >>> patterns = {"a/p/*", "a/*"}
    >>> pattern_among("http://a/p/yew", patterns, prefixes_of(patterns))
    'a/p/*'
    """
    parts = urlsplit(url)
    pattern = parts.netloc
    for word in parts.path.split("/")[1 : MOST_SEGMENTS + 1]:
        pattern = _extended_by(pattern, word, "/", prefixes)
    pairs = sorted(
        parse_qsl("&".join(parts.query.split("&")[:MOST_FIELDS]), keep_blank_values=True)
    )
    without = [[pair for pair in pairs if pair is not left_out] for left_out in pairs]
    for some in [pairs, *without, []]:
        found = pattern + ("?" + ",".join(key for key, _ in some) if some else "")
        for pair in some[:MOST_KEYS]:
            found = _extended_by(found, "=".join(pair), "&", prefixes)
        if found in patterns:
            return found
    return None


def prefixes_of(patterns: Collection[str]) -> set[str]:
    """Return the beginnings of all patterns."""
    return {beginning for pattern in patterns for beginning in beginnings(pattern)}


def beginnings(pattern: str) -> list[str]:
    """Return the beginnings of a pattern, shortest first, the pattern itself last.

    >>> beginnings("a/p/*?id")
    ['a', 'a/p', 'a/p/*', 'a/p/*?id']
    """
    return [pattern[: found.start()] for found in _MARK.finditer(pattern)] + [pattern]


def _extended_by(pattern: str, word: str, mark: str, prefixes: Collection[str]) -> str:
    masked = _NUMBER.sub("#", unquote(word))
    longer = pattern + mark + masked
    return longer if longer in prefixes else pattern + mark + _peculiar(masked)


def _needed_pairs(patterns: Sequence[str], queries: Sequence[str]) -> list[list[tuple[str, str]]]:
    """Return the keys and values of each query, sorted, without the keys that other pages do without."""
    pairs = [
        parse_qsl("&".join(query.split("&")[:MOST_FIELDS]), keep_blank_values=True)
        for query in queries
    ]
    keys = [frozenset(key for key, _ in row) for row in pairs]
    known = set(zip(patterns, keys, strict=True))
    return [
        sorted(pair for pair in row if (pattern, its_keys - {pair[0]}) not in known)
        for pattern, row, its_keys in zip(patterns, pairs, keys, strict=True)
    ]


def pattern_of(urls: Sequence[str]) -> str:
    """Return the most specific `(.*)` pattern within the limits that matches all addresses.

    >>> pattern_of(["http://a.b/p/oak/1", "http://a.b/p/elm/2"])
    'http://a.b/p/(.*)/(.*)'
    """
    distinct = sorted(set(urls))
    if not distinct:
        return WILD
    common = _pieces(distinct[0])
    some = distinct[:: max(1, len(distinct) // MOST_URLS)]
    for url in some:
        common = _longest_common(common, _pieces(url))
    runs = _runs(common, some)
    while not _is_within_limits(runs) or not all(_matches(runs, url) for url in distinct):
        runs = _without_weakest(runs)
    return WILD.join(runs)


def matches(pattern: str, url: str) -> bool:
    """Say whether an address matches a `(.*)` pattern, in time linear in both.

    >>> matches("http://a.b/(.*).html", "http://a.b/x.html")
    True
    """
    return _matches(pattern.split(WILD), url)


def _matches(runs: Sequence[str], url: str) -> bool:
    if len(runs) == 1:
        return runs[0] == url
    if not url.startswith(runs[0]):
        return False
    at = len(runs[0])
    for run in runs[1:-1]:
        at = url.find(run, at) + len(run)
        if at < len(run):
            return False
    return url.endswith(runs[-1]) and len(url) - len(runs[-1]) >= at


def _pieces(url: str) -> list[str]:
    return _PIECE.findall(url)[:MOST_PIECES]


def _longest_common(a: list[str], b: list[str]) -> list[str]:
    """Return the longest common subsequence; the beginnings and ends in common come first, as most are."""
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    middle = _subsequence(a[start : len(a) - end], b[start : len(b) - end])
    return a[:start] + middle + a[len(a) - end :]


def _subsequence(a: list[str], b: list[str]) -> list[str]:
    lengths = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, -1, -1):
        for j in range(len(b) - 1, -1, -1):
            both = lengths[i + 1][j + 1] + len(a[i])
            lengths[i][j] = max(lengths[i + 1][j], lengths[i][j + 1], both if a[i] == b[j] else 0)
    found, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] == b[j] and lengths[i][j] == lengths[i + 1][j + 1] + len(a[i]):
            found.append(a[i])
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return found


def _runs(common: list[str], urls: Sequence[str]) -> list[str]:
    """Join the common pieces that no address parts; between two runs stands a wild card."""
    if len(urls) == 1:
        return [urls[0]]
    runs = ["", *common, ""]
    place = 0
    while place + 1 < len(runs):
        joined = [*runs[:place], runs[place] + runs[place + 1], *runs[place + 2 :]]
        if all(_matches(joined, url) for url in urls):
            runs = joined
        else:
            place += 1
    return runs


def _is_within_limits(runs: Sequence[str]) -> bool:
    return len(runs) - 1 <= MOST_WILD and all(map(_SAYING.search, runs[1:-1]))


def _without_weakest(runs: list[str]) -> list[str]:
    """Give up the shortest run between two wild cards, else the last run, else the first."""
    if len(runs) > 2:  # more than a beginning and an end
        weakest = min(
            range(1, len(runs) - 1),
            key=lambda place: (_SAYING.search(runs[place]) is not None, len(runs[place]), -place),
        )
        return runs[:weakest] + runs[weakest + 1 :]
    return [runs[0], ""] if runs[-1] else ["", ""]
