"""Title clusters so that people understand them, from what their pages declare, show and do.

Readings:   What the pages are for comes first, where they show it: a site's start, errors, the form
            that takes a password, the results of a search. Else a title is a subject, and "list"
            behind it where the pages are lists of links. The subject is the first that a cluster
            has: the declared type of its pages, the last word of its address pattern, the heading
            that its pages share, words that all its page titles and few others have, the subject of
            the cluster to which its lists lead, words in the classes of its main parts; else it is
            like an example. Two of one title are told apart by the words of their addresses, a
            label or a class that one has and the others have not; else the larger comes first and
            the others are numbered.
Departures: Plurals become singular on pages that declare to be English; other languages stay as
            written.
Cost:       Linear in the addresses and in what is known of the pages, of which MAX_PAGES of a
            cluster count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from http import HTTPStatus
from math import ceil
from statistics import median

from clustering.algorithms.titles.page_kinds import PageKind
from clustering.algorithms.titles.title_clashes import Marks, tell_apart
from clustering.algorithms.titles.title_words import (
    WORD,
    address_words,
    is_start,
    query_keys,
    singular_of,
    title_parts,
    title_runs,
    token_words,
)
from clustering.dom.declared import LIST_TYPES, is_secondary

MAX_TITLE = 60
MAX_EXAMPLE = 50
# Shares of the pages of a cluster, or of the clusters of a site.
NEARLY_ALL, MOST, FEW = 0.8, 0.5, 0.2
MAX_PAGES, MAX_ADDRESSES = 40, 1_000  # of a cluster
# Things of one type that make a list; links that lead elsewhere than the site's own menus.
MIN_LISTED = 3
MAX_HEADING_OF_ONE_PAGE = 40
MIN_LIST_SHARE = 0.35  # of a page's text; what is related to a thing, or a menu, takes less
PROSE, NAMELESS = "Article", "Pages"
LOGS_IN = "logs in"  # a trait of pages with a field for a password

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
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LISTS = frozenset(
    re.split(
        r"\s+",
        """archive archives catalog catalogue categories directory gallery index list listing
        listings lists overview results search sitemap tags topics""",
    )
)
_GONE_TOKEN = re.compile(r"(?:page-?|is-?)?(?:error-?)?(?:404|not-?found)(?:-page)?", re.IGNORECASE)
_GONE = re.compile(
    r"^\W*(?:404|410|error|sorry,)(?!\w)|error 4\d\d\b|not found|no longer (?:available|exists)"
    r"|page (?:is )?(?:gone|missing)|does(?: not|n.t) exist|nicht gefunden|introuvable|no encontrad"
    r"|non trovat|não encontrad|niet gevonden|nie znaleziono|nenalezen|не найден|見つかりません|未找到",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ClusterPages:
    """What is known of a cluster's pages; as many as are at hand."""

    urls: Sequence[str]
    titles: Sequence[str] = ()
    headings: Sequence[str] = ()
    labels: Sequence[Collection[str]] = ()  # of each page, its short texts
    kinds: Sequence[PageKind] = ()
    statuses: Sequence[int] = ()

    @cached_property
    def address_words(self) -> str:
        """The words of its address pattern, in the singular on English pages."""
        words, are_above = address_words(_spread_out(self.urls, MAX_ADDRESSES))
        return self.in_singular(words) if are_above else words

    def in_singular(self, words: str) -> str:
        """Return words with the last one in the singular where the pages are English."""
        languages = Counter(kind.language for kind in self.kinds)
        if not words or languages["en"] <= MOST * len(self.kinds):
            return words
        *leading_words, last = words.split(" ")
        return " ".join([*leading_words, singular_of(last) if last.islower() else last])


def title_clusters(clusters: Sequence[ClusterPages]) -> list[str]:
    """Return a title for each cluster; no two are the same.

    >>> title_clusters([ClusterPages(["http://a.b/thread/1", "http://a.b/thread/2"])])
    ['Thread']
    """
    clusters = [_with_first_pages(cluster) for cluster in clusters]
    site = _Site(clusters)
    titles = [_capitalised(site.title_of(number)) or NAMELESS for number in range(len(clusters))]
    return tell_apart(titles, list(map(_marks, clusters)))


class _Site:
    """The clusters of a site, and how many of them have what might name one of them."""

    def __init__(self, clusters: Sequence[ClusterPages]) -> None:
        self.clusters = clusters
        self.types = _SharedTraits(
            [[[name for name, _ in kind.types] for kind in cluster.kinds] for cluster in clusters]
        )
        self.tokens = _SharedTraits(
            [[kind.tokens for kind in cluster.kinds] for cluster in clusters]
        )
        self.headings = _SharedTraits(
            [[[heading] if heading else [] for heading in cluster.headings] for cluster in clusters]
        )
        self.parts = _SharedTraits([list(map(title_parts, cluster.titles)) for cluster in clusters])
        self.words = _SharedTraits(
            [list(map(WORD.findall, cluster.titles)) for cluster in clusters]
        )
        self.passwords = _SharedTraits(
            [
                [[LOGS_IN] if kind.n_passwords else [] for kind in cluster.kinds]
                for cluster in clusters
            ]
        )
        self.links = _SharedTraits(
            [list(map(_links_of_lists, cluster.kinds)) for cluster in clusters]
        )
        self.cluster_by_url = {
            url: number for number, cluster in enumerate(clusters) for url in cluster.urls
        }

    def title_of(self, number: int) -> str:
        """Return the title of a cluster, perhaps one that others have too.

        1. What its pages are for.
        2. Of lists without a subject of their own: the subject of what they lead to, with "list".
        3. Its subject or words of its classes, with "list" for lists whose name does not say so.
        4. "List" or "Article", else a title like an example.
        """
        cluster = self.clusters[number]
        purpose = self.purpose_of(number)
        if purpose:
            return purpose
        targets = self.targets_of(number)
        is_list = targets is not None or _is_of_list_type(cluster)
        subject = self.subject_of(number)
        if is_list and not subject:
            subject_of_targets = self.subject_of_targets(number, targets or Counter())
            if subject_of_targets:
                return f"{subject_of_targets} list"
        subject = subject or self.class_words(number)
        if subject:
            needs_list = is_list and len(cluster.urls) > 1 and not self.is_whole(number, subject)
            return f"{subject} list" if needs_list else subject
        if is_list:
            return "List"
        return PROSE if _is_prose(cluster) else self.like_example(number)

    def is_whole(self, number: int, subject: str) -> bool:
        """Return whether a subject is a title as it is: the site's phrase or a word for lists."""
        if subject == self.heading_of(number):
            return True
        if " " in subject and subject == self.title_words(number):
            return True
        return not _LISTS.isdisjoint(subject.lower().split())

    def purpose_of(self, number: int) -> str:
        """Return what the pages are for, where they show it; else blank."""
        cluster = self.clusters[number]
        if cluster.urls and all(map(is_start, cluster.urls)):
            return "Home page"
        if _is_gone(cluster):
            return "Not found"
        n_with_password = self.passwords.n_by_trait[LOGS_IN]
        is_rare = n_with_password == 1 or n_with_password <= MOST * len(self.clusters)
        if self.passwords.by_cluster[number] and is_rare:
            usual_passwords = median(kind.n_passwords for kind in cluster.kinds)
            return "Registration" if usual_passwords > 1 else "Log-in"
        return "Search results" if _are_results(cluster) else ""

    def heading_of(self, number: int) -> str:
        """Return the heading that nearly all pages have; of a single page, where it is short."""
        heading = next(iter(self.headings.own(number, FEW)), "")
        is_single = len(self.clusters[number].urls) == 1
        return "" if is_single and len(heading) > MAX_HEADING_OF_ONE_PAGE else heading

    def subject_of(self, number: int) -> str:
        """Return what the pages are about, in the order of trust; blank where nothing tells."""
        cluster = self.clusters[number]
        heading = self.heading_of(number)
        if len(cluster.urls) == 1:
            by_page = heading or cluster.address_words
        else:
            by_page = cluster.address_words or heading
        return self.type_title(number) or by_page or self.title_words(number)

    def type_title(self, number: int) -> str:
        """Return the title that the declared types give, blank where they say nothing."""
        cluster = self.clusters[number]
        names = [name for name in self.types.own(number, NEARLY_ALL) if name not in LIST_TYPES]
        primary = [name for name in names if not is_secondary(name)]
        secondary = [
            name for name in names if is_secondary(name) and self.types.is_own(number, name, FEW)
        ]
        name = next(iter(primary + secondary), None)
        if name is None:
            return ""
        return _TYPE_TITLES.get(name) or cluster.in_singular(_CAMEL.sub(" ", name).lower())

    def title_words(self, number: int) -> str:
        """Return words with which parts of nearly all page titles begin or end, or blank."""
        titles = self.clusters[number].titles
        if len(titles) < 2:  # of one title, all words are in all
            return ""
        own_words = set(self.words.own(number, FEW))
        n_by_run = Counter(run for title in titles for run in title_runs(title, own_words))
        if not n_by_run:
            return ""
        best = max(n_by_run, key=lambda run: (n_by_run[run], len(run), run))
        return best if n_by_run[best] >= NEARLY_ALL * len(titles) else ""

    def class_words(self, number: int) -> str:
        """Return the words of the first class that nearly all pages and few others have."""
        return next(filter(None, map(token_words, self.tokens.own(number, FEW))), "")

    def like_example(self, number: int) -> str:
        """Return the title of a cluster that nothing names: it is like one of its pages."""
        cluster = self.clusters[number]
        texts = [*cluster.headings, *map(self.own_part, cluster.titles)]
        texts = [text for text in texts if text]
        examples = [text for text in texts if not _GONE.search(text)] or texts
        example = _capitalised(examples[0]) if examples else ""
        if not example:
            return NAMELESS
        if len(cluster.urls) <= 1:
            return example
        return f"Like “{example[:MAX_EXAMPLE].strip()}”"

    def own_part(self, title: str) -> str:
        """Return the first part of a page's title that few clusters share, else all of it."""
        for part in title_parts(title):
            if self.parts.n_by_trait[part] <= FEW * len(self.clusters):
                return part
        return title

    def targets_of(self, number: int) -> Counter[int] | None:
        """Return the clusters to which the pages' lists lead, None where the pages are no lists.

        Links that nearly all pages of the cluster have, or other clusters have in their lists, are
        menus.
        """
        cluster = self.clusters[number]
        n_kinds = len(cluster.kinds)
        if sum(map(_is_of_one_thing, cluster.kinds)) > MOST * n_kinds:
            return None
        n_pages_by_link = Counter(
            link for kind in cluster.kinds for links in kind.lists for link in set(links.links)
        )
        max_pages = NEARLY_ALL * n_kinds if n_kinds > 2 else n_kinds
        max_clusters = max(FEW * len(self.clusters), 2)  # this one is one of them

        def is_no_menu(link: str) -> bool:
            return (
                n_pages_by_link[link] <= max_pages and self.links.n_by_trait[link] <= max_clusters
            )

        targets: Counter[int] = Counter()
        n_pages_with_list = 0
        for kind in cluster.kinds:
            for links in kind.lists:
                varying = [link for link in links.links if is_no_menu(link)]
                min_varying = max(MIN_LISTED, MOST * len(links.links))
                if links.share >= MIN_LIST_SHARE and len(varying) >= min_varying:
                    n_pages_with_list += 1
                    targets.update(self.cluster_by_url.get(link, -1) for link in varying)
                    break
        if n_pages_with_list < max(MOST * n_kinds, 1):
            return None
        # Links to its own pages are to what is related to a page.
        leads_to_itself = targets[number] > MOST * targets.total()
        return None if leads_to_itself else targets

    def subject_of_targets(self, number: int, targets: Mapping[int, int]) -> str:
        """Return the subject of the cluster to which most links of the lists lead; else blank."""
        n_by_cluster = {cluster: n for cluster, n in targets.items() if cluster not in {-1, number}}
        min_links = MOST * sum(n_by_cluster.values())
        for target in sorted(n_by_cluster, key=lambda cluster: (-n_by_cluster[cluster], cluster)):
            if n_by_cluster[target] >= min_links and not self.purpose_of(target):
                subject = self.subject_of(target) or self.class_words(target)
                return subject or (PROSE if _is_prose(self.clusters[target]) else "")
        return ""


class _SharedTraits:
    """What nearly all pages of a cluster have, and in how many clusters it is so."""

    def __init__(self, traits_by_cluster: Sequence[Sequence[Iterable[str]]]) -> None:
        self.by_cluster = [_in_nearly_all(traits) for traits in traits_by_cluster]
        self.n_by_trait = Counter(trait for shared in self.by_cluster for trait in shared)

    def own(self, number: int, share: float) -> list[str]:
        """Return what the cluster's pages share and at most such a share of the other clusters."""
        return [trait for trait in self.by_cluster[number] if self.is_own(number, trait, share)]

    def is_own(self, number: int, trait: str, share: float) -> bool:
        """Return whether at most such a share of the other clusters have a trait, too."""
        n_others = self.n_by_trait[trait] - (trait in self.by_cluster[number])
        min_allowed = 1 if share > FEW else 0
        return n_others <= max(share * (len(self.by_cluster) - 1), min_allowed)


def _in_nearly_all(traits_by_page: Sequence[Iterable[str]]) -> dict[str, None]:
    """Return the traits that nearly all pages have, in the order in which they are met."""
    n_pages: Counter[str] = Counter()
    for traits in traits_by_page:
        n_pages.update(dict.fromkeys(traits).keys())
    return {trait: None for trait, n in n_pages.items() if n >= NEARLY_ALL * len(traits_by_page)}


def _links_of_lists(kind: PageKind) -> list[str]:
    return [link for links in kind.lists for link in links.links]


def _is_gone(cluster: ClusterPages) -> bool:
    """Return whether the pages are errors, by their status, their classes or their texts."""
    n_errors = sum(status >= HTTPStatus.BAD_REQUEST for status in cluster.statuses)
    if n_errors > MOST * len(cluster.statuses):
        return True
    n_gone = sum(any(map(_GONE_TOKEN.fullmatch, kind.tokens)) for kind in cluster.kinds)
    if n_gone > MOST * len(cluster.kinds):
        return True
    for texts in (cluster.titles, cluster.headings):
        known = [text for text in texts if text]
        n_gone = sum(len(text) <= MAX_TITLE and bool(_GONE.search(text)) for text in known)
        if known and n_gone >= NEARLY_ALL * len(known):
            return True
    return False


def _are_results(cluster: ClusterPages) -> bool:
    """Return whether the addresses hold what was typed into a search form on the pages."""
    keys = set[str]().union(*(kind.search_keys for kind in cluster.kinds))
    urls = _spread_out(cluster.urls, MAX_PAGES)
    n_results = sum(not keys.isdisjoint(query_keys(url)) for url in urls)
    return bool(urls) and n_results >= NEARLY_ALL * len(urls)


def _is_of_list_type(cluster: ClusterPages) -> bool:
    n_lists = sum(map(_is_of_several_things, cluster.kinds))
    n_of_one_thing = sum(map(_is_of_one_thing, cluster.kinds))
    return n_lists > MOST * len(cluster.kinds) and n_of_one_thing <= MOST * len(cluster.kinds)


def _is_of_several_things(kind: PageKind) -> bool:
    """Return whether a page declares to be a list, or several things of one type."""
    return any(declared.n >= MIN_LISTED or declared.name in LIST_TYPES for declared in kind.types)


def _is_of_one_thing(kind: PageKind) -> bool:
    """Return whether a page declares to be about one thing."""
    return any(
        declared.n < MIN_LISTED
        and declared.name not in LIST_TYPES
        and not is_secondary(declared.name)
        for declared in kind.types
    )


def _is_prose(cluster: ClusterPages) -> bool:
    return sum(kind.is_prose for kind in cluster.kinds) > MOST * len(cluster.kinds)


def _capitalised(words: str) -> str:
    title = _cleaned(words)[:MAX_TITLE].strip()
    return title[:1].upper() + title[1:]


def _cleaned(words: str) -> str:
    """Return words on one line, without what is not shown."""
    words = words[: MAX_TITLE * 4]
    if not words.isprintable():
        words = "".join(char if char.isprintable() else " " for char in words)
    return " ".join(words.split()).strip("¶# ")


def _spread_out(values: Sequence[str], n_most: int) -> Sequence[str]:
    """Return at most so many of some values, spread over all of them."""
    step = max(1, ceil(len(values) / n_most))
    return values[::step]


def _marks(cluster: ClusterPages) -> Marks:
    return Marks(
        n_pages=len(cluster.urls),
        words=_capitalised(cluster.address_words),
        example=_capitalised(next(filter(None, [*cluster.headings, *cluster.titles]), "")),
        labels=cluster.labels,
        tokens=[kind.tokens for kind in cluster.kinds],
    )


def _with_first_pages(cluster: ClusterPages) -> ClusterPages:
    """Return a cluster with what MAX_PAGES of its pages show, their headings cleaned.

    Its addresses and statuses stay all: they are cheap, and their shares count.
    """
    return replace(
        cluster,
        titles=cluster.titles[:MAX_PAGES],
        headings=list(map(_cleaned, cluster.headings[:MAX_PAGES])),
        labels=cluster.labels[:MAX_PAGES],
        kinds=cluster.kinds[:MAX_PAGES],
    )
