"""Give clusters names that people understand, from the addresses of their pages and what stands on them.

Readings:   The first that a cluster has: "Home" for the site's start; the heading that nearly all its pages
            share; the last word of its address pattern that is no mere technical word; words that are in
            nearly all its titles and in few of the others'; an example's heading. Two of one name are told
            apart by a label that nearly all pages of one and few of the other have, else they are numbered,
            the larger first. A slug is the title in the letters a to z, for addresses and file names.
Cost:       Linear in the titles, headings and labels.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from clustering.algorithms.url_patterns import WILD, pattern_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from clustering.algorithms.page_features import PageFeatures

MAX_TITLE = 60
NEARLY_ALL, FEW = 0.8, 0.2
MOST_WORDS = 3  # of page titles, in a cluster's title
LONGEST_SLUG = 61
NAMELESS = "cluster"  # where no letter of a title is one of a to z
SHORTEST_WORD = 3  # letters; p, c and id say nothing

_WORD = re.compile(r"[^\W\d_]+")
_START = re.compile(r"/?(?:(?:index|default|home|main)\.[a-z]{2,5})?", re.IGNORECASE)
# Words in addresses that name a technique or a place in a site's folders, not what is there.
_TECHNICAL = frozenset(
    re.split(
        r"\s+",
        """index default page pages view show display item items node detail details content contents site web
        www home main static generated html htm php asp aspx jsp cgi bin com org net http https get list path
        file files""",
    )
)


@dataclass(frozen=True, slots=True)
class ClusterPages:
    """What is known of a cluster's pages; as many as are at hand."""

    urls: Sequence[str]
    titles: Sequence[str] = ()
    headings: Sequence[str] = ()
    labels: Sequence[Collection[str]] = ()  # of each page, its short texts


class ClusterName(NamedTuple):
    """What a cluster is called."""

    title: str
    slug: str  # letters, numbers and hyphens


def cluster_pages_of(urls: Sequence[str], observations: Sequence[PageFeatures]) -> ClusterPages:
    """Return what the observations of a cluster's pages tell of its name."""
    return ClusterPages(
        urls,
        [page.title for page in observations],
        [page.heading for page in observations],
        [page.labels.split("\n") for page in observations],
    )


def name_clusters(clusters: Sequence[ClusterPages], taken: Collection[str] = ()) -> list[ClusterName]:
    """Return a title and a slug for each cluster; no two are the same, and no slug is a taken one.

    >>> name_clusters([ClusterPages(["http://a.b/thread/1", "http://a.b/thread/2"])], taken=["thread"])
    [ClusterName(title='Thread', slug='thread-2')]
    """
    slugs = set(taken)
    names = []
    for title in title_clusters(clusters):
        names.append(ClusterName(title, _free_slug(title, slugs)))
        slugs.add(names[-1].slug)
    return names


def _free_slug(title: str, taken: Collection[str]) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain)[:LONGEST_SLUG].strip("-") or NAMELESS
    number, free = 1, slug
    while free in taken:
        number += 1
        free = f"{slug[: LONGEST_SLUG - len(str(number)) - 1].rstrip('-')}-{number}"
    return free


def title_clusters(clusters: Sequence[ClusterPages]) -> list[str]:
    """Return a title for each cluster; no two are the same."""
    titles = [_title(cluster, clusters) for cluster in clusters]
    by_title: dict[str, list[int]] = {}
    for number, title in enumerate(titles):
        by_title.setdefault(title, []).append(number)
    taken = set(titles)
    for title, numbers in by_title.items():
        for place, number in enumerate(sorted(numbers, key=lambda number: -len(clusters[number].urls))):
            if place:
                others = [clusters[other] for other in numbers if other != number]
                titles[number] = _distinct(title, _own_label(clusters[number], others), taken)
                taken.add(titles[number])
    return titles


def _title(cluster: ClusterPages, clusters: Sequence[ClusterPages]) -> str:
    if cluster.urls and all(_is_start(url) for url in cluster.urls):
        return "Home"
    found = _common_heading(cluster) or _address_word(cluster.urls) or _title_words(cluster, clusters)
    if found:
        return _capitalised(found)
    example = _capitalised(next(filter(None, [*cluster.headings, *cluster.titles]), ""))
    return f"Like “{example}”" if example and len(cluster.urls) > 1 else example or "Pages"


def _capitalised(words: str) -> str:
    shown = " ".join(words.split()).strip("¶# ")[:MAX_TITLE].strip()
    return shown[:1].upper() + shown[1:]


def _is_start(url: str) -> bool:
    parts = urlsplit(url)
    return not parts.query and _START.fullmatch(parts.path) is not None


def _common_heading(cluster: ClusterPages) -> str:
    """Return the heading of nearly all pages; blank where there is none."""
    counts = Counter(filter(None, cluster.headings))
    heading, n = min(counts.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
    return heading if n >= NEARLY_ALL * len(cluster.headings) else ""


def _address_word(urls: Sequence[str]) -> str:
    """Return the last word of the addresses' pattern that names something."""
    pattern = pattern_of(urls)
    if "://" not in pattern:
        return ""
    parts = urlsplit(pattern.replace(WILD, "\0"))
    values = [value for _, value in parse_qsl(parts.query)]
    for segment in reversed([*parts.path.split("/"), *values]):
        if "\0" not in segment:
            name = re.sub(r"\.[A-Za-z]{2,5}$", "", unquote(segment))
            words = [word for word in _WORD.findall(name) if len(word) >= SHORTEST_WORD]
            if words and not _TECHNICAL.issuperset(word.lower() for word in words):
                return " ".join(words)
    return ""


def _title_words(cluster: ClusterPages, clusters: Sequence[ClusterPages]) -> str:
    """Return words that are in nearly all of the cluster's page titles and in few of the others'."""
    own = Counter(word for title in cluster.titles for word in set(_WORD.findall(title)))
    others = [title for other in clusters if other is not cluster for title in other.titles]
    elsewhere = Counter(word for title in others for word in set(_WORD.findall(title)))
    if len(cluster.titles) < 2:  # noqa: PLR2004  # of one title, all words are in all
        return ""
    words = [
        word
        for word in _WORD.findall(cluster.titles[0])
        if len(word) >= SHORTEST_WORD
        and own[word] >= NEARLY_ALL * len(cluster.titles)
        and elsewhere[word] <= FEW * len(others)
    ]
    return " ".join(dict.fromkeys(words[:MOST_WORDS]))


def _own_label(cluster: ClusterPages, others: Sequence[ClusterPages]) -> str:
    """Return the label that most tells the cluster from others, blank where none does."""
    counts = Counter(label for labels in cluster.labels for label in set(labels))
    elsewhere = [labels for other in others for labels in other.labels]
    n_elsewhere = Counter(label for labels in elsewhere for label in set(labels))
    own = [
        (-n, len(label), label)
        for label, n in counts.items()
        if n >= NEARLY_ALL * len(cluster.labels)
        and n_elsewhere[label] <= FEW * len(elsewhere)
        and _WORD.search(label)
    ]
    return min(own)[2] if own else ""


def _distinct(title: str, label: str, taken: Collection[str]) -> str:
    if label and f"{title}: {label}" not in taken:
        return f"{title}: {label}"
    number = 2
    while f"{title} {number}" in taken:
        number += 1
    return f"{title} {number}"
