"""What is watched of a site: its published rules, each with its bellwethers and golden records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from clustering.algorithms.grouping import RawPage
from clustering.models import ClusterFigures, Page, PageMembership
from monitoring.services.checks.tested_pages import read_stored
from rules.algorithms.running.record_lines import Line
from rules.algorithms.running.records import RunnableRule
from rules.models import Bellwether, GoldenRecord, Rule
from rules.services.learning.schemas import runnable
from vertex.core.models import Site

MAX_COVERAGE_PAGES = 60  # of each cluster in an archive, besides bellwethers
MAX_SHARE_OF_PAGES = 0.34  # that show a golden value which tells a page from the others


class WatchedPage(NamedTuple):
    """A bellwether with what is known of it."""

    page: Page
    golden: Sequence[Line]
    old: RawPage


class WatchedCluster(NamedTuple):
    """A cluster with a published rule, and its bellwethers."""

    rule: Rule
    ready: RunnableRule
    signature: str
    pages: Sequence[WatchedPage]
    other_urls: Sequence[str]  # of further pages

    @property
    def name(self) -> str:
        return self.rule.cluster.name


def watched_clusters(site: Site) -> list[WatchedCluster]:
    """Return the clusters of a site with a published rule, by name, each with its bellwethers."""
    published = (
        Rule.objects.published().of_site(site).select_related("cluster").order_by("cluster__name")
    )
    figures = ClusterFigures.objects.current().filter(clustering__site=site)
    signatures = dict(figures.values_list("cluster", "signature"))
    watched = []
    for rule in published:
        pages = _watched_pages(rule)
        watched.append(
            WatchedCluster(
                rule=rule,
                ready=runnable(rule),
                signature=signatures.get(rule.cluster_id, ""),
                pages=pages,
                other_urls=_other_urls(rule, pages),
            )
        )
    return watched


def _watched_pages(rule: Rule) -> list[WatchedPage]:
    """Return the bellwethers with a golden record, by rank; all golden records where none is a bellwether."""
    golden = list(GoldenRecord.objects.filter(rule=rule).select_related("page", "snapshot"))
    rank_by_page = dict(
        Bellwether.objects.filter(cluster=rule.cluster_id).values_list("page", "rank")
    )
    ranked = [row for row in golden if row.page_id in rank_by_page] or golden
    ranked.sort(key=lambda row: (rank_by_page.get(row.page_id, 0), row.pk))
    return [
        WatchedPage(row.page, row.lines, read_stored(row.page.url, row.snapshot)) for row in ranked
    ]


def _other_urls(rule: Rule, pages: Iterable[WatchedPage]) -> list[str]:
    members = PageMembership.objects.of_cluster(rule.cluster_id)
    members = members.exclude(page__in=[watched.page.pk for watched in pages])
    urls = members.order_by("page__url_hash").values_list("page__url", flat=True)
    return list(urls[:MAX_COVERAGE_PAGES])


def known_texts(pages: Sequence[WatchedPage], constant: Collection[str]) -> dict[str, list[str]]:
    """Return the golden constant values of each page, those that tell it from others if it has any."""
    texts_by_url = {}
    for watched in pages:
        texts: list[str] = []
        for line in watched.golden:
            for name in constant:
                value = line.values.get(name)
                if value is not None:
                    texts += [value] if isinstance(value, str) else value
        texts_by_url[watched.page.url] = texts
    n_pages = Counter(text for texts in texts_by_url.values() for text in set(texts))
    limit = max(1.0, MAX_SHARE_OF_PAGES * len(pages))
    return {
        url: [text for text in texts if n_pages[text] <= limit] or texts
        for url, texts in texts_by_url.items()
    }
