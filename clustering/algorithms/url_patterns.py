"""Find what addresses have in common: the pattern of each page, and that of a cluster.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            IV-A: a cluster is described by the most specific `(.*)` pattern that matches all its
            URLs.
Notation:   The pattern of a page is its address with `#` for numbers and `*` for what is peculiar
            to it; a word stays where enough pages share it behind the same beginning. The pattern
            of a cluster has `(.*)` for what differs.
Readings:   The paper bounds the literal characters and the wild cards of a pattern and names no
            numbers.
            Ours: at most MAX_WILD_CARDS, and between two of them at least one letter or number or
            one of `/ ? & =`; what has more or less is joined at its weakest literal piece until it
            has not. "Most specific" is the longest common subsequence of pieces (words, numbers,
            signs), found address by address.
Departures: A key of the query without which the same pages are addressed too, such as the number of
            a list's page, is left out of a page's pattern. A cluster of more than MAX_URLS
            addresses finds its pattern on about as many; what does not match the others is dropped
            then.
Cost:       `address_patterns` is linear in the characters of the addresses; `pattern_of` is
            quadratic in the pieces of one address and linear in the addresses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from urllib.parse import parse_qsl, unquote, urlsplit

# A word in an address that fewer pages share is peculiar to them.
MIN_PAGES_WITH_WORD, MIN_SHARE_WITH_WORD = 3, 0.01
MIN_SHARE_WITH_MIXED_WORD = 0.1  # of a word with numbers in it
MAX_SEGMENTS = 12
MAX_QUERY_KEYS = 4
MAX_QUERY_FIELDS = 50  # more are left unread

WILD = "(.*)"
MAX_WILD_CARDS = 3
MAX_URLS = 500
MAX_PIECES = 200  # of an address

_NUMBER = re.compile(r"\d+")
_HAS_WORD = re.compile(r"[^\W\d_]{4}")
_EXTENSION = re.compile(r"\.[A-Za-z]{2,5}$")
_MEANINGFUL = re.compile(r"[^\W_]|[/?&=]")
_SEPARATOR = re.compile(r"[/?&]")
_PIECE = re.compile(r"[^\W_]+|.", re.DOTALL)


def address_patterns(urls: Sequence[str], *, min_pages: float | None = None) -> list[str]:
    """Return the pattern of each address among all of its site.

    A word stays where so many pages share it; by default at least 3, and 1 % of them.

    >>> address_patterns(["http://a/p/oak", "http://a/p/elm", "http://a/p/ash", "http://a/x"])
    ['a/p/*', 'a/p/*', 'a/p/*', 'a/*']
    """
    if min_pages is None:
        min_pages = max(MIN_PAGES_WITH_WORD, MIN_SHARE_WITH_WORD * len(urls))
    parts = [urlsplit(url) for url in urls]
    patterns = [part.netloc for part in parts]
    segments = [part.path.split("/")[1:] for part in parts]
    n_segments = min(max(map(len, segments), default=0), MAX_SEGMENTS)
    for index in range(n_segments):
        words = [row[index] if index < len(row) else None for row in segments]
        patterns = _extend_patterns(patterns, words, min_pages, "/")
    pairs = _needed_pairs(patterns, [part.query for part in parts])
    patterns = [
        _with_keys(pattern, [key for key, _ in row])
        for pattern, row in zip(patterns, pairs, strict=True)
    ]
    for index in range(MAX_QUERY_KEYS):
        fields = ["=".join(row[index]) if index < len(row) else None for row in pairs]
        patterns = _extend_patterns(patterns, fields, min_pages, "&")
    return patterns


def _with_keys(pattern: str, keys: Sequence[str]) -> str:
    """Return a pattern with the keys of the query behind it."""
    return f"{pattern}?{','.join(keys)}" if keys else pattern


def _extend_patterns(
    patterns: Sequence[str], words: Sequence[str | None], min_pages: float, separator: str
) -> list[str]:
    """Extend each pattern by its next word, or by a wild card where the word is peculiar."""
    masked = [None if word is None else _mask_numbers(word) for word in words]
    n_by_pattern = Counter(
        pattern for pattern, word in zip(patterns, masked, strict=True) if word is not None
    )
    n_by_word = Counter(zip(patterns, masked, strict=True))
    extended = []
    for pattern, word in zip(patterns, masked, strict=True):
        if word is None:  # the address has ended
            extended.append(pattern)
        elif _is_shared(word, n_by_word[pattern, word], n_by_pattern[pattern], min_pages):
            extended.append(pattern + separator + word)
        else:
            extended.append(pattern + separator + _wild_card_for(word))
    return extended


def _mask_numbers(word: str) -> str:
    return _NUMBER.sub("#", unquote(word))


def _is_shared(word: str, n: int, n_siblings: int, min_pages: float) -> bool:
    """Return whether a word that n of so many siblings have belongs to their pattern."""
    value = word.rpartition("=")[2]
    if not value.strip("#"):  # nothing but a number
        return True
    if "#" not in value:
        return n >= min_pages
    if _HAS_WORD.search(value) is None:
        return False
    return n >= max(min_pages, MIN_SHARE_WITH_MIXED_WORD * n_siblings)


def _wild_card_for(word: str) -> str:
    """Return what stands for a peculiar word: a field's key and a file's extension stay."""
    key, equals, _ = word.partition("=")
    if equals:
        return f"{key}=*"
    extension = _EXTENSION.search(word)
    return "*" + (extension[0] if extension else "")


def pattern_among(url: str, patterns: Collection[str], prefixes: Collection[str]) -> str | None:
    """Return which of a site's patterns a later address has; `prefixes` are theirs.

    >>> patterns = {"a/p/*", "a/*"}
    >>> pattern_among("http://a/p/yew", patterns, prefixes_of(patterns))
    'a/p/*'
    """
    parts = urlsplit(url)
    path_pattern = parts.netloc
    for word in parts.path.split("/")[1 : MAX_SEGMENTS + 1]:
        path_pattern = _extend_known(path_pattern, word, "/", prefixes)
    # A key that the pages do without is not in their pattern: try all keys, all but one, none.
    pairs = sorted(_query_pairs(parts.query))
    all_but_one = [[pair for pair in pairs if pair is not left_out] for left_out in pairs]
    for some_pairs in [pairs, *all_but_one, []]:
        pattern = _with_keys(path_pattern, [key for key, _ in some_pairs])
        for pair in some_pairs[:MAX_QUERY_KEYS]:
            pattern = _extend_known(pattern, "=".join(pair), "&", prefixes)
        if pattern in patterns:
            return pattern
    return None


def _query_pairs(query: str) -> list[tuple[str, str]]:
    fields = query.split("&")[:MAX_QUERY_FIELDS]
    return parse_qsl("&".join(fields), keep_blank_values=True)


def prefixes_of(patterns: Collection[str]) -> set[str]:
    """Return the beginnings of all patterns."""
    return {beginning for pattern in patterns for beginning in beginnings(pattern)}


def beginnings(pattern: str) -> list[str]:
    """Return the beginnings of a pattern, shortest first, the pattern itself last.

    >>> beginnings("a/p/*?id")
    ['a', 'a/p', 'a/p/*', 'a/p/*?id']
    """
    ends = [separator.start() for separator in _SEPARATOR.finditer(pattern)]
    return [*(pattern[:end] for end in ends), pattern]


def _extend_known(pattern: str, word: str, separator: str, prefixes: Collection[str]) -> str:
    """Extend a pattern by a later address's word, or a wild card where no pattern has it."""
    masked = _mask_numbers(word)
    longer = pattern + separator + masked
    return longer if longer in prefixes else pattern + separator + _wild_card_for(masked)


def _needed_pairs(patterns: Sequence[str], queries: Sequence[str]) -> list[list[tuple[str, str]]]:
    """Return the keys and values of each query, sorted, without the keys other pages do without."""
    pairs = [_query_pairs(query) for query in queries]
    key_sets = [frozenset(key for key, _ in row) for row in pairs]
    known = set(zip(patterns, key_sets, strict=True))
    return [
        sorted(pair for pair in row if (pattern, keys - {pair[0]}) not in known)
        for pattern, row, keys in zip(patterns, pairs, key_sets, strict=True)
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
    sample = distinct[:: max(1, len(distinct) // MAX_URLS)]
    for url in sample:
        common = _longest_common(common, _pieces(url))
    runs = _runs(common, sample)
    while not _is_within_limits(runs) or not all(_matches(runs, url) for url in distinct):
        runs = _without_weakest(runs)
    return WILD.join(runs)


def matches(pattern: str, url: str) -> bool:
    """Return whether an address matches a `(.*)` pattern, in time linear in both.

    >>> matches("http://a.b/(.*).html", "http://a.b/x.html")
    True
    """
    return _matches(pattern.split(WILD), url)


def _matches(runs: Sequence[str], url: str) -> bool:
    if len(runs) == 1:
        return runs[0] == url
    if not url.startswith(runs[0]):
        return False
    end = len(runs[0])  # of the run before
    for run in runs[1:-1]:
        start = url.find(run, end)
        if start < 0:
            return False
        end = start + len(run)
    return url.endswith(runs[-1]) and len(url) - len(runs[-1]) >= end


def _pieces(url: str) -> list[str]:
    return _PIECE.findall(url)[:MAX_PIECES]


def _longest_common(a: list[str], b: list[str]) -> list[str]:
    """Return the longest common subsequence; what both begin and end with needs no search."""
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    middle = _subsequence(a[start : len(a) - end], b[start : len(b) - end])
    return a[:start] + middle + a[len(a) - end :]


def _subsequence(a: list[str], b: list[str]) -> list[str]:
    """Return the common subsequence with most characters."""
    # lengths[i][j]: the characters of the best one of a[i:] and b[j:]
    lengths = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, -1, -1):
        for j in range(len(b) - 1, -1, -1):
            lengths[i][j] = max(lengths[i + 1][j], lengths[i][j + 1])
            if a[i] == b[j]:
                lengths[i][j] = max(lengths[i][j], lengths[i + 1][j + 1] + len(a[i]))
    common = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j] and lengths[i][j] == lengths[i + 1][j + 1] + len(a[i]):
            common.append(a[i])
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return common


def _runs(common: list[str], urls: Sequence[str]) -> list[str]:
    """Join the common pieces that no address parts; between two runs stands a wild card."""
    if len(urls) == 1:
        return [urls[0]]
    runs = ["", *common, ""]
    index = 0
    while index + 1 < len(runs):
        joined = [*runs[:index], runs[index] + runs[index + 1], *runs[index + 2 :]]
        if all(_matches(joined, url) for url in urls):
            runs = joined
        else:
            index += 1
    return runs


def _is_within_limits(runs: Sequence[str]) -> bool:
    return len(runs) - 1 <= MAX_WILD_CARDS and all(map(_MEANINGFUL.search, runs[1:-1]))


def _without_weakest(runs: list[str]) -> list[str]:
    """Drop the weakest run between two wild cards, else the last run, else the first."""

    def strength(index: int) -> tuple[bool, int, int]:
        run = runs[index]
        return _MEANINGFUL.search(run) is not None, len(run), -index

    if len(runs) > 2:  # more than a beginning and an end
        weakest = min(range(1, len(runs) - 1), key=strength)
        return runs[:weakest] + runs[weakest + 1 :]
    return [runs[0], ""] if runs[-1] else ["", ""]
