"""Give clusters titles that people understand, from what the pages themselves declare, say and do.

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
Cost:       Linear in the addresses and in what is known of the pages, of which SOME_PAGES of a
            cluster count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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
NEARLY_ALL, MOST, FEW = 0.8, 0.5, 0.2
SOME_PAGES, SOME_ADDRESSES = 40, 1_000
SEVERAL = (
    3  # things of one type that make a list; links that lead elsewhere than the site's own menus
)
SHORT_HEADING = 40
FIRST_ERROR = 400
LIST_SHARE = 0.35  # of a page's text; what is related to a thing, or a menu, takes less
PROSE, NAMELESS = "Article", "Pages"

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
        """archive archives catalog catalogue categories directory gallery index list listing listings lists
        overview results search sitemap tags topics""",
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
        words, are_above = address_words(_some(self.urls, SOME_ADDRESSES))
        return self.in_singular(words) if are_above else words

    def in_singular(self, words: str) -> str:
        """Return words with the last one in the singular where the pages are English."""
        languages = Counter(kind.language for kind in self.kinds)
        if not words or languages["en"] <= MOST * len(self.kinds):
            return words
        *others, last = words.split(" ")
        return " ".join([*others, singular_of(last) if last.islower() else last])


def title_clusters(clusters: Sequence[ClusterPages]) -> list[str]:
    """Return a title for each cluster; no two are the same.

    >>> title_clusters([ClusterPages(["http://a.b/thread/1", "http://a.b/thread/2"])])
    ['Thread']
    """
    clusters = [_cut(cluster) for cluster in clusters]
    site = _Site(clusters)
    titles = [_capitalised(site.title_of(number)) or NAMELESS for number in range(len(clusters))]
    return tell_apart(titles, list(map(_marks, clusters)))


class _Site:
    """The clusters of a site, and how many of them have what might name one of them."""

    def __init__(self, clusters: Sequence[ClusterPages]) -> None:
        self.clusters = clusters
        self.types = _Shared(
            clusters, lambda one: [{name for name, _ in kind.types} for kind in one.kinds]
        )
        self.tokens = _Shared(clusters, lambda one: [kind.tokens for kind in one.kinds])
        self.headings = _Shared(
            clusters, lambda one: [[heading] if heading else [] for heading in one.headings]
        )
        self.parts = _Shared(clusters, lambda one: list(map(title_parts, one.titles)))
        self.words = _Shared(
            clusters, lambda one: [set(WORD.findall(title)) for title in one.titles]
        )
        self.passwords = _Shared(
            clusters, lambda one: [["is"] if kind.n_passwords else [] for kind in one.kinds]
        )
        self.cluster_by_url = {
            url: number for number, one in enumerate(clusters) for url in one.urls
        }
        self.links = _Shared(
            clusters,
            lambda one: [
                {link for links in kind.lists for link in links.links} for kind in one.kinds
            ],
        )

    def title_of(self, number: int) -> str:
        """Return the title of a cluster, perhaps one that others have too."""
        cluster = self.clusters[number]
        purpose = self.purpose_of(number)
        if purpose:
            return purpose
        targets = self.targets_of(number)
        is_list = targets is not None or _is_of_list_type(cluster)
        subject = self.subject_of(number)
        if is_list and not subject:
            subject = self.subject_of_targets(number, targets or Counter())
            if subject:
                return f"{subject} list"
        subject = subject or self.class_words(number)
        if not subject:
            return "List" if is_list else PROSE if _is_prose(cluster) else self.like_example(number)
        is_phrase = subject == self.heading_of(number) or (
            " " in subject and subject == self.title_words(number)
        )
        is_whole = is_phrase or not _LISTS.isdisjoint(subject.lower().split())
        return f"{subject} list" if is_list and not is_whole and len(cluster.urls) > 1 else subject

    def purpose_of(self, number: int) -> str:
        """Return what the pages are for, where they show it."""
        cluster = self.clusters[number]
        if cluster.urls and all(map(is_start, cluster.urls)):
            return "Home page"
        if _is_gone(cluster):
            return "Not found"
        n_with_password = self.passwords.n_by_trait["is"]
        is_rare = n_with_password == 1 or n_with_password <= MOST * len(self.clusters)
        if self.passwords.by_cluster[number] and is_rare:
            return (
                "Registration"
                if median(kind.n_passwords for kind in cluster.kinds) > 1
                else "Log-in"
            )
        return "Search results" if _are_results(cluster) else ""

    def heading_of(self, number: int) -> str:
        """Return the heading that nearly all pages have; of a single page, where it is short."""
        heading = next(iter(self.headings.own(number, FEW)), "")
        is_long = len(self.clusters[number].urls) == 1 and len(heading) > SHORT_HEADING
        return "" if is_long else heading

    def subject_of(self, number: int) -> str:
        """Return what the pages are about, in the order of trust; blank where nothing tells."""
        cluster = self.clusters[number]
        heading = self.heading_of(number)
        firsts = [self.type_title(number)]
        firsts += (
            [heading, cluster.address_words]
            if len(cluster.urls) == 1
            else [cluster.address_words, heading]
        )
        return next(filter(None, [*firsts, self.title_words(number)]), "")

    def type_title(self, number: int) -> str:
        """Return the title that the declared types give, blank where they say nothing."""
        cluster = self.clusters[number]
        own = [name for name in self.types.own(number, NEARLY_ALL) if name not in LIST_TYPES]
        trusted = [name for name in own if not is_secondary(name)]
        beside = [
            name for name in own if is_secondary(name) and self.types.is_own(number, name, FEW)
        ]
        for name in trusted + beside:
            return _TYPE_TITLES.get(name) or cluster.in_singular(_CAMEL.sub(" ", name).lower())
        return ""

    def title_words(self, number: int) -> str:
        """Return words with which a part of nearly all of the cluster's page titles begins or ends."""
        titles = self.clusters[number].titles
        if len(titles) < 2:  # of one title, all words are in all
            return ""
        own = set(self.words.own(number, FEW))
        counts = Counter(run for title in titles for run in title_runs(title, own))
        n, _, run = max(((n, len(run), run) for run, n in counts.items()), default=(0, 0, ""))
        return run if n >= NEARLY_ALL * len(titles) else ""

    def class_words(self, number: int) -> str:
        """Return the words of the first class that nearly all pages and few others have."""
        words = map(token_words, self.tokens.own(number, FEW))
        return next(filter(None, words), "")

    def like_example(self, number: int) -> str:
        """Return the title of a cluster that nothing names: it is like one of its pages."""
        cluster = self.clusters[number]
        titles = [
            next(
                (
                    part
                    for part in title_parts(title)
                    if self.parts.n_by_trait[part] <= FEW * len(self.clusters)
                ),
                title,
            )
            for title in cluster.titles
        ]
        known = [text for text in (*cluster.headings, *titles) if text]
        example = _capitalised(
            next((text for text in known if not _GONE.search(text)), (*known, "")[0])
        )
        is_like = example and len(cluster.urls) > 1
        return f"Like “{example[:MAX_EXAMPLE].strip()}”" if is_like else example or NAMELESS

    def targets_of(self, number: int) -> Counter[int] | None:
        """Return the clusters to which the pages' lists lead, None where the pages are no lists.

        Links that nearly all pages of the cluster have, or other clusters have in their lists, are
        menus.
        """
        cluster = self.clusters[number]
        if sum(map(_is_of_one_thing, cluster.kinds)) > MOST * len(cluster.kinds):
            return None
        n_pages = Counter(
            link for kind in cluster.kinds for links in kind.lists for link in set(links.links)
        )
        most_pages = (
            NEARLY_ALL * len(cluster.kinds) if len(cluster.kinds) > 2 else len(cluster.kinds)
        )
        most_clusters = max(FEW * len(self.clusters), 2)  # this one is one of them
        targets: Counter[int] = Counter()
        n_lists = 0
        for kind in cluster.kinds:
            for links in kind.lists:
                varying = [
                    link
                    for link in links.links
                    if n_pages[link] <= most_pages and self.links.n_by_trait[link] <= most_clusters
                ]
                if links.share >= LIST_SHARE and len(varying) >= max(
                    SEVERAL, MOST * len(links.links)
                ):
                    n_lists += 1
                    targets.update(self.cluster_by_url.get(link, -1) for link in varying)
                    break
        leads_to_itself = (
            targets[number] > MOST * targets.total()
        )  # as to what is related to a page
        return (
            targets
            if n_lists >= max(MOST * len(cluster.kinds), 1) and not leads_to_itself
            else None
        )

    def subject_of_targets(self, number: int, targets: Mapping[int, int]) -> str:
        """Return the subject of the cluster to which most links of the lists lead."""
        known = Counter({one: n for one, n in targets.items() if one not in {-1, number}})
        for one, n in sorted(known.items(), key=lambda item: (-item[1], item[0])):
            if n >= MOST * known.total() and not self.purpose_of(one):
                named = self.subject_of(one) or self.class_words(one)
                return named or (PROSE if _is_prose(self.clusters[one]) else "")
        return ""


class _Shared:
    """What nearly all pages of a cluster have, and in how many clusters it is so."""

    def __init__(
        self,
        clusters: Sequence[ClusterPages],
        traits: Callable[[ClusterPages], Sequence[Iterable[str]]],
    ) -> None:
        self.by_cluster = [_in_nearly_all(traits(cluster)) for cluster in clusters]
        self.n_by_trait = Counter(trait for shared in self.by_cluster for trait in shared)

    def own(self, number: int, share: float) -> list[str]:
        """Return what the cluster's pages share and at most such a share of the other clusters."""
        return [trait for trait in self.by_cluster[number] if self.is_own(number, trait, share)]

    def is_own(self, number: int, trait: str, share: float) -> bool:
        n_others = self.n_by_trait[trait] - (trait in self.by_cluster[number])
        return n_others <= max(share * (len(self.by_cluster) - 1), 1 if share > FEW else 0)


def _in_nearly_all(traits: Sequence[Iterable[str]]) -> dict[str, None]:
    """Return what nearly all pages have, in the order of the page that has most of it."""
    counts: Counter[str] = Counter()
    for page in traits:
        counts.update(list(dict.fromkeys(page)))
    return {trait: None for trait, n in counts.items() if n >= NEARLY_ALL * len(traits)}


def _is_gone(cluster: ClusterPages) -> bool:
    """Say whether the pages are errors, by their status or by what they say."""
    if cluster.statuses:
        n_errors = sum(status >= FIRST_ERROR for status in cluster.statuses)
        if n_errors > MOST * len(cluster.statuses):
            return True
    n_gone = sum(any(map(_GONE_TOKEN.fullmatch, kind.tokens)) for kind in cluster.kinds)
    if n_gone > MOST * len(cluster.kinds):
        return True
    for texts in (cluster.titles, cluster.headings):
        said = [text for text in texts if text]
        short = [text for text in said if _GONE.search(text) and len(text) <= MAX_TITLE]
        if said and len(short) >= NEARLY_ALL * len(said):
            return True
    return False


def _are_results(cluster: ClusterPages) -> bool:
    """Say whether the addresses hold what was typed into a search form that stands on the pages."""
    keys = set[str]().union(*(kind.search_keys for kind in cluster.kinds))
    some = _some(cluster.urls, SOME_PAGES)
    found = sum(not keys.isdisjoint(query_keys(url)) for url in some)
    return bool(some) and found >= NEARLY_ALL * len(some)


def _is_of_list_type(cluster: ClusterPages) -> bool:
    n = sum(
        any(one.n >= SEVERAL or one.name in LIST_TYPES for one in kind.types)
        for kind in cluster.kinds
    )
    n_of_one = sum(map(_is_of_one_thing, cluster.kinds))
    return n > MOST * len(cluster.kinds) and n_of_one <= MOST * len(cluster.kinds)


def _is_of_one_thing(kind: PageKind) -> bool:
    """Say whether a page declares to be about one thing."""
    return any(
        one.n < SEVERAL and one.name not in LIST_TYPES and not is_secondary(one.name)
        for one in kind.types
    )


def _is_prose(cluster: ClusterPages) -> bool:
    return sum(kind.is_prose for kind in cluster.kinds) > MOST * len(cluster.kinds)


def _capitalised(words: str) -> str:
    shown = _cleaned(words)[:MAX_TITLE].strip()
    return shown[:1].upper() + shown[1:]


def _cleaned(words: str) -> str:
    """Return words on one line, without what is not shown."""
    cut = words[: MAX_TITLE * 4]
    if not cut.isprintable():
        cut = "".join(one if one.isprintable() else " " for one in cut)
    return " ".join(cut.split()).strip("¶# ")


def _some(values: Sequence[str], n: int) -> Sequence[str]:
    return values[:: max(1, -(-len(values) // n))]


def _marks(cluster: ClusterPages) -> Marks:
    return Marks(
        n_pages=len(cluster.urls),
        words=_capitalised(cluster.address_words),
        example=_capitalised(next(filter(None, [*cluster.headings, *cluster.titles]), "")),
        labels=cluster.labels[:SOME_PAGES],
        tokens=[kind.tokens for kind in cluster.kinds],
    )


def _cut(cluster: ClusterPages) -> ClusterPages:
    """Return a cluster with as many of its pages as count."""
    return replace(
        cluster,
        titles=cluster.titles[:SOME_PAGES],
        headings=list(map(_cleaned, cluster.headings[:SOME_PAGES])),
        labels=cluster.labels[:SOME_PAGES],
        kinds=cluster.kinds[:SOME_PAGES],
    )
