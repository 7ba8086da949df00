"""Tell what pages are for, where they show it: a site's start, errors, log-in, search results.

Readings:   Pages are errors by their status, their classes or their texts; a log-in where they have
            a field for a password and most of the site has none; results where their addresses hold
            what is typed into a search form on them. Pages about the site itself, such as its
            contact, are named together after what they are.
Cost:       Linear in the addresses and in what is known of the pages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus
from itertools import takewhile
from statistics import median
from urllib.parse import unquote, urlsplit

from clustering.algorithms.titles.cluster_pages import MOST_PAGES, ClusterPages
from clustering.algorithms.titles.title_words import ENDING, WORD, query_keys

NEARLY_ALL = 0.8  # of a cluster's pages
MAX_ERROR_CHARS = 60  # of a title or heading that says that a page is gone
MAX_SITE_PAGES = 3  # that a title names
HOME, NOT_FOUND, RESULTS = "Home page", "Not found", "Search results"

_START = re.compile(
    r"/?(?:(?:page|pagina|seite)[/-]?\d+/?)?(?:(?:index|default|home|main)\.[a-z]{2,5})?",
    re.IGNORECASE,
)
_NUMBER_OF_PAGE = re.compile(r"(?:page|paged)=\d+", re.IGNORECASE)
_GONE_TOKEN = re.compile(r"(?:page-?|is-?)?(?:error-?)?(?:404|not-?found)(?:-page)?", re.IGNORECASE)
_GONE = re.compile(
    r"^\W*(?:404|410|error|sorry,)(?!\w)|error 4\d\d\b|not found|no longer (?:available|exists)"
    r"|page (?:is )?(?:gone|missing)|does(?: not|n.t) exist|nicht gefunden|introuvable|no encontrad"
    r"|non trovat|não encontrad|niet gevonden|nie znaleziono|nenalezen|не найден|見つかりません|未找到",
    re.IGNORECASE,
)
_SITE_PAGES = frozenset(
    re.split(
        r"\s+",
        """about account agb authors bag basket cart checkout colophon conduct contact contacts
        contributing cookie cookies copyright credits datenschutz disclaimer faq faqs feedback
        help hilfe impressum imprint jobs kontakt legal licence license login logon mentions
        newsletter privacy register registration returns shipping signin signup sitemap support
        team terms tos versand warenkorb""",
    )
)


def purpose_of(cluster: ClusterPages, root: str, *, has_rare_password: bool) -> str:
    """Return what the pages are for; blank where they do not show it."""
    if cluster.urls and all(is_home(url, root) for url in cluster.some_urls()):
        return HOME
    if is_gone(cluster):
        return NOT_FOUND
    if has_rare_password:
        usual_passwords = median(kind.n_passwords for kind in cluster.kinds)
        return "Registration" if usual_passwords > 1 else "Log-in"
    return RESULTS if _are_results(cluster) else _site_pages(cluster)


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


def has_password(cluster: ClusterPages) -> bool:
    """Return whether nearly all pages have a field for a password."""
    n_pages = sum(kind.n_passwords > 0 for kind in cluster.kinds)
    return bool(cluster.kinds) and n_pages >= NEARLY_ALL * len(cluster.kinds)


def is_gone(cluster: ClusterPages) -> bool:
    """Return whether the pages are errors, by their status, their classes or their texts."""
    n_errors = sum(status >= HTTPStatus.BAD_REQUEST for status in cluster.statuses)
    if n_errors > MOST_PAGES * len(cluster.statuses):
        return True
    n_gone = sum(any(map(_GONE_TOKEN.fullmatch, kind.tokens)) for kind in cluster.kinds)
    if n_gone > MOST_PAGES * len(cluster.kinds):
        return True
    for texts in (cluster.titles, cluster.headings):
        known = [text for text in texts if text]
        n_gone = sum(len(text) <= MAX_ERROR_CHARS and bool(_GONE.search(text)) for text in known)
        if known and n_gone >= NEARLY_ALL * len(known):
            return True
    return False


def _are_results(cluster: ClusterPages) -> bool:
    """Return whether the addresses hold what was typed into a search form on the pages."""
    keys = set[str]().union(*(kind.search_keys for kind in cluster.kinds))
    urls = cluster.some_urls()
    n_results = sum(not keys.isdisjoint(query_keys(url)) for url in urls)
    return bool(urls) and n_results >= NEARLY_ALL * len(urls)


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
    return [word for word in WORD.findall(path.replace("_", " ").lower()) if word in _SITE_PAGES]
