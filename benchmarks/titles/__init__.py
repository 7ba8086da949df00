"""How often the title of a cluster shares a word with what people call its pages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from benchmarks.labelled_sites import SWDE, LabelledPage, load_sites
from benchmarks.report import markdown_table
from benchmarks.titles.descriptions import Description, descriptions
from clustering.algorithms.grouping import RawPage
from clustering.algorithms.kinds.cluster_kinds import cluster_kinds
from clustering.algorithms.kinds.kind_features import ClusterFacts
from clustering.algorithms.kinds.page_facts import read_facts
from clustering.algorithms.observation import observe_page
from clustering.algorithms.titles import title_evidence
from clustering.algorithms.titles.cluster_pages import MAX_PAGES, ClusterPages
from clustering.algorithms.titles.title_clashes import DETAILS, LISTS
from clustering.algorithms.titles.title_phrases import Source
from clustering.algorithms.titles.titles import phrases_of, title_clusters

TITLE = "Titles of clusters"
MIN_SHARE, MAX_PLAIN_SHARE = 0.8, 0.1
MAX_READ, MAX_READ_OF_SITE = 20, 4_000  # as a clustering reads pages once more for their titles
# A source's best phrases count for its trust where they separate a cluster that well.
MIN_SEPARATION = 0.6

_TRUST_HEADING = (
    "## Trust in the sources\n\nHow often the best phrase of a source shares a word "
    "with what people "
    "call the pages, over all sites; the product's figures are rounded. No "
    "type has a secondary type alone."
)
_WORD = re.compile(r"[^\W\d_]+")
_HAS_NO_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# Words that say nothing of a type: small ones, and those of the plain titles.
_STOP_WORDS = frozenset(
    re.split(
        r"\s+",
        """a all an and at by detail details for from in its like list lists no not of on one or
        other others page pages site sites the to with""",
    )
)


class TitledCluster(NamedTuple):
    """A type taken as a cluster, with the title it got."""

    site: str
    label: str
    type: str
    title: str
    description: Description

    @property
    def is_named(self) -> bool:
        return shares_word(self.title, self.description.words)

    @property
    def is_plain(self) -> bool:
        return self.title.startswith((DETAILS, LISTS))


class SiteToTitle(NamedTuple):
    """The types of a site as clusters."""

    name: str
    label: str
    family: str
    clusters: dict[str, ClusterPages]


def run(data: Path | None) -> str:
    """Return the figures as a section in Markdown."""
    if data is None:
        return "There is no folder of real pages: give one by `--data`."
    described = descriptions()
    sites = [
        SiteToTitle(site.name, site.label, site.family, _described(site.pages_by_type()))
        for site in load_sites(data)
    ]
    usual = title_sites(sites, described)
    left_out = []
    n_versions = Counter(site.name for site in sites if site.name != SWDE)
    observations = {
        site.label: observe_sources(site, described, 1 / max(n_versions[site.name], 1))
        for site in sites
    }
    usual_trust = dict(title_evidence.TRUST)
    for family in sorted({site.family for site in sites}):
        others = [
            observed
            for site in sites
            if site.family != family
            for observed in observations[site.label]
        ]
        title_evidence.TRUST.update(trust_of(others))
        left_out += title_sites([site for site in sites if site.family == family], described)
    title_evidence.TRUST.update(usual_trust)
    all_observed = [observed for some in observations.values() for observed in some]
    return "\n\n".join(
        [
            _summary(left_out, usual),
            "## By site\n\nWith the trust of the other sites.",
            _by_site(left_out),
            _TRUST_HEADING,
            _trust_table(trust_of(all_observed), all_observed),
            "## All titles\n\nOf the snapshots and versions of a site, the first.",
            _all_titles(left_out),
        ]
    )


def _described(pages_by_type: Mapping[str, Sequence[LabelledPage]]) -> dict[str, ClusterPages]:
    """Return what a clustering would know of each type's pages for a title."""
    n_read = min(max(MAX_READ_OF_SITE // len(pages_by_type), 2), MAX_READ)
    clusters, facts = {}, []
    for type_, pages in pages_by_type.items():
        some = [
            RawPage(each.page.url, each.page.body, each.page.content_type)
            for each in pages[:MAX_PAGES]
        ]
        seen = [observe_page("auto", page) for page in some]
        urls = [each.page.url for each in pages]
        facts.append(ClusterFacts([read_facts(page) for page in some[:n_read]], urls))
        clusters[type_] = ClusterPages(
            urls,
            [page.title for page in seen],
            [page.heading for page in seen],
            [page.labels for page in seen],
            [page.shown for page in facts[-1].pages],
        )
    return {
        type_: replace(clusters[type_], kind=kind.kind)
        for type_, kind in zip(clusters, cluster_kinds(facts), strict=True)
    }


def title_sites(
    sites: Iterable[SiteToTitle], described: Mapping[tuple[str, str], Description]
) -> list[TitledCluster]:
    """Return the title of each type of some sites."""
    titled = []
    for site in sites:
        titles = title_clusters(list(site.clusters.values()))
        for type_, title in zip(site.clusters, titles, strict=True):
            description = described[site.name, type_]
            titled.append(TitledCluster(site.name, site.label, type_, title, description))
    return titled


def shares_word(title: str, description: str) -> bool:
    """Return whether a title shares a word with a description, in the singular or the plural.

    >>> shares_word("Box scores list", "list of a game; match"), shares_word("Movie", "Movies")
    (False, True)
    """
    title_words, words = _forms(title), _forms(description)
    if title_words & words:
        return True
    return any(
        shown in word or word in shown
        for shown in title_words
        for word in words
        if _HAS_NO_SPACES.search(word)
    )


def _forms(text: str) -> set[str]:
    """Return the words of a text that say something, as they stand and in a simple singular."""
    words = {word.casefold() for word in _WORD.findall(text)} - _STOP_WORDS
    forms = set(words)
    for word in words:
        if word.endswith("s") and not word.endswith("ss") and len(word) > 3:
            forms.add(word[:-1])
        if word.endswith("es") and len(word) > 4:
            forms.add(word[:-2])
        if word.endswith("ies") and len(word) > 4:
            forms.add(word[:-3] + "y")
    return forms


class Observed(NamedTuple):
    """How well the best phrases of a source name a cluster."""

    source: Source
    weight: float  # a type of several versions counts once
    share_right: float


def observe_sources(
    site: SiteToTitle, described: Mapping[tuple[str, str], Description], weight: float
) -> list[Observed]:
    """Return how well each source names the clusters of a site."""
    evidence = title_evidence.TitleEvidence(
        [phrases_of(cluster.some()) for cluster in site.clusters.values()]
    )
    observed = []
    for number, type_ in enumerate(site.clusters):
        best: dict[Source, tuple[float, list[str]]] = {}
        for phrase in evidence.shared[number]:
            separation = round(evidence.separation(phrase), 3)
            most, texts = best.get(phrase.source, (MIN_SEPARATION, []))
            if separation > most:
                best[phrase.source] = (separation, [phrase.text])
            elif separation == most:
                best[phrase.source] = (separation, [*texts, phrase.text])
        words = described[site.name, type_].words
        for source, (_, texts) in best.items():
            n_right = sum(shares_word(text, words) for text in texts)
            observed.append(Observed(source, weight, n_right / len(texts)))
    return observed


def trust_of(observed: Iterable[Observed]) -> dict[Source, float]:
    """Return the trust in each source that was observed."""
    n_right: dict[Source, float] = defaultdict(float)
    n_all: dict[Source, float] = defaultdict(float)
    for source, weight, share_right in observed:
        n_right[source] += weight * share_right
        n_all[source] += weight
    return {source: n_right[source] / n_all[source] for source in n_all}


def _share(titled: Iterable[TitledCluster], what: str) -> float:
    """Return the share of types that are named, or plain; one of several snapshots counts once."""
    by_type: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for cluster in titled:
        by_type[cluster.site, cluster.type].append(getattr(cluster, what))
    shares = [sum(hits) / len(hits) for hits in by_type.values()]
    return sum(shares) / max(len(shares), 1)


def _summary(left_out: Sequence[TitledCluster], usual: Sequence[TitledCluster]) -> str:
    whole = [cluster for cluster in left_out if cluster.site != SWDE]
    single = [cluster for cluster in left_out if cluster.site == SWDE]
    drawers = [cluster for cluster in left_out if cluster.description.kind == "other"]
    rows: list[tuple[str, Sequence[TitledCluster]]] = [
        ("all, the trust of each site from the others", left_out),
        ("all, the product's trust", usual),
        ("whole sites, left out", whole),
        ("sites of one type (SWDE), left out", single),
        ("drawers of various pages, left out", drawers),
    ]
    table = markdown_table(
        ["types", "number", "named", "plain"],
        [
            [
                name,
                len({(each.site, each.type) for each in titled}),
                f"{_share(titled, 'is_named'):.3f}",
                f"{_share(titled, 'is_plain'):.3f}",
            ]
            for name, titled in rows
            if titled
        ],
    )
    return (
        "Types of labelled sites, taken as clusters. A title names a type where it shares a word "
        "with the type's name or its description in `benchmarks/clustering/page_kinds.tsv`, in the "
        'singular or the plural, without small words and without "list" and "pages". Plain titles '
        f'are "{DETAILS}" and "{LISTS}".\n\n{table}\n\n'
        f"Bars: named at least {MIN_SHARE}, plain at most {MAX_PLAIN_SHARE}.\n\n"
        "The rules were written with these sites at hand: only the trust in the sources is chosen "
        "without the site that is measured. The titles of the version before, by words in a fixed "
        "order of sources, named 0.734 of the types."
    )


def _by_site(titled: Sequence[TitledCluster]) -> str:
    rows = []
    for site in sorted({cluster.site for cluster in titled}):
        own = [cluster for cluster in titled if cluster.site == site]
        rows.append(
            [
                site,
                len({cluster.type for cluster in own}),
                f"{_share(own, 'is_named'):.2f}",
                f"{_share(own, 'is_plain'):.2f}",
            ]
        )
    return markdown_table(["site", "types", "named", "plain"], rows)


def _trust_table(trust: Mapping[Source, float], observed: Sequence[Observed]) -> str:
    n_by_source = Counter(each.source for each in observed)
    rows = [
        [
            source.name.lower().replace("_", " "),
            n_by_source[source],
            f"{trust[source]:.2f}",
            title_evidence.TRUST[source],
        ]
        for source in sorted(trust, key=lambda source: -trust[source])
    ]
    return markdown_table(["source", "clusters", "measured", "in the product"], rows)


def _all_titles(titled: Sequence[TitledCluster]) -> str:
    rows = []
    seen = set()
    for cluster in titled:
        if (cluster.site, cluster.type) not in seen:
            seen.add((cluster.site, cluster.type))
            mark = "yes" if cluster.is_named else "no"
            rows.append([cluster.site, cluster.type, cluster.title.replace("|", " "), mark])
    return markdown_table(["site", "type", "title", "named"], rows)
