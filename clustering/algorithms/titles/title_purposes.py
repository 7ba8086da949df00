"""Name pages by what they are for: start, errors, log-in, search results, the site itself.

Readings:   The cluster's kind tells which of these they are, but for a site's start, of which later
            pages count too. Pages about the site itself, such as its contact, are named together
            after what they are.
Cost:       Linear in the addresses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile
from statistics import median
from urllib.parse import unquote, urlsplit

from clustering.algorithms.kinds.kind_names import ERROR, LOGIN, SEARCH
from clustering.algorithms.titles.cluster_pages import MOST_PAGES, ClusterPages
from clustering.algorithms.titles.title_words import ENDING, SITE_WORDS, WORD

MAX_SITE_PAGES = 3  # that a title names
HOME, NOT_FOUND, RESULTS = "Home page", "Not found", "Search results"
LOG_IN, REGISTRATION = "Log-in", "Registration"  # the password of a registration is repeated

_START = re.compile(
    r"/?(?:(?:page|pagina|seite)[/-]?\d+/?)?(?:(?:index|default|home|main)\.[a-z]{2,5})?",
    re.IGNORECASE,
)
_NUMBER_OF_PAGE = re.compile(r"(?:page|paged)=\d+", re.IGNORECASE)


def purpose_of(cluster: ClusterPages, root: str) -> str:
    """Return what the pages are for; blank where they do not show it."""
    if cluster.urls and all(is_home(url, root) for url in cluster.some_urls()):
        return HOME
    if cluster.kind == ERROR:
        return NOT_FOUND
    if cluster.kind == LOGIN:
        n_passwords = median(kind.n_passwords for kind in cluster.kinds) if cluster.kinds else 0
        return REGISTRATION if n_passwords > 1 else LOG_IN
    return RESULTS if cluster.kind == SEARCH else _site_pages(cluster)


def root_of(clusters: Sequence[ClusterPages]) -> str:
    """Return the folder in which all pages of a site stand."""
    folders: list[str] | None = None
    for cluster in clusters:
        for url in cluster.some_urls():
            own = url.split("/")[:-1]
            folders = own if folders is None else _common_beginning(folders, own)
    return "/".join(folders or [])


def _common_beginning(a: Sequence[str], b: Sequence[str]) -> list[str]:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))
    return [part for part, _ in pairs]


def is_home(url: str, root: str = "") -> bool:
    """Return whether an address is a site's start, or a later page of it.

    >>> is_home("http://a.b/index.html"), is_home("http://a.b/x/page/2/", "http://a.b/x")
    (True, True)
    """
    parts = urlsplit(url)
    path, query = parts.path.removeprefix(urlsplit(root).path), parts.query
    if query and not _NUMBER_OF_PAGE.fullmatch(query):
        return False
    return _START.fullmatch(path) is not None


def _site_pages(cluster: ClusterPages) -> str:
    """Return the words for most pages, such as "About, contact", where they are about the site."""
    urls = cluster.some_urls()
    n_by_word: Counter[str] = Counter()
    n_pages = 0
    for url in urls:
        words = _words_of_path(url)
        if words:
            n_by_word.update(words[-1:])
            n_pages += 1
    if len(n_by_word) < 2 or n_pages < MOST_PAGES * len(urls):
        return ""
    words = sorted(n_by_word, key=lambda word: (-n_by_word[word], word))[:MAX_SITE_PAGES]
    return ", ".join(words).capitalize()


def _words_of_path(url: str) -> list[str]:
    """Return the words of a path that stand for pages about a site."""
    path = ENDING.sub("", unquote(urlsplit(url).path))
    return [word for word in WORD.findall(path.replace("_", " ").lower()) if word in SITE_WORDS]
