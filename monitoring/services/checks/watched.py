"""What is watched of a site: its published rules, each with its bellwethers and golden records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clustering.algorithms.grouping import RawPage
from clustering.models import ClusterFigures, Page, PageMembership
from monitoring.services.checks.tested_pages import read_stored
from rules.algorithms.running.record_lines import Line
from rules.algorithms.running.records import RunnableRule
from rules.models import Bellwether, GoldenRecord, Rule
from rules.services.learning.schemas import runnable
from vertex.core.models import Site

N_COVERAGE = 60  # further pages of each cluster in an archive whose mandatory values are counted
RARE = 0.34  # a golden value on a smaller share of the pages tells a page from the others


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
    others: Sequence[str]  # addresses of further pages

    @property
    def name(self) -> str:
        return self.rule.cluster.name


def watched_clusters(site: Site) -> list[WatchedCluster]:
    """Return the clusters of a site with a published rule, each with its bellwethers and golden records."""
    published = (
        Rule.objects.published().of_site(site).select_related("cluster").order_by("cluster__name")
    )
    extents = ClusterFigures.objects.filter(clustering__site=site, clustering__is_current=True)
    signatures = dict(extents.values_list("cluster", "signature"))
    watched = []
    for rule in published:
        pages = _watched_pages(rule)
        watched.append(
            WatchedCluster(
                rule,
                runnable(rule),
                signatures.get(rule.cluster_id, ""),
                pages,
                _others(rule, pages),
            )
        )
    return watched


def _watched_pages(rule: Rule) -> list[WatchedPage]:
    golden = GoldenRecord.objects.filter(rule=rule).select_related("page", "snapshot")
    golden_by_page = {one.page_id: one for one in golden}
    rank_by_page = dict(
        Bellwether.objects.filter(cluster=rule.cluster_id).values_list("page", "rank")
    )
    kept = [one for one in golden_by_page.values() if one.page_id in rank_by_page] or list(golden)
    kept.sort(key=lambda one: (rank_by_page.get(one.page_id, 0), one.pk))
    return [
        WatchedPage(one.page, one.lines, read_stored(one.page.url, one.snapshot)) for one in kept
    ]


def _others(rule: Rule, pages: Iterable[WatchedPage]) -> list[str]:
    members = PageMembership.objects.current().filter(cluster=rule.cluster_id)
    members = members.exclude(page__in=[one.page.pk for one in pages])
    return list(members.order_by("page__url_hash").values_list("page__url", flat=True)[:N_COVERAGE])


def known_texts(pages: Sequence[WatchedPage], constant: Iterable[str]) -> dict[str, list[str]]:
    """Return the golden constant values of each page, those that tell it from others if it has any."""
    names = list(constant)
    values = {
        page.page.url: [
            text
            for line in page.golden
            for name in names
            if (value := line.values.get(name)) is not None
            for text in ([value] if isinstance(value, str) else value)
        ]
        for page in pages
    }
    n_pages = Counter(text for texts in values.values() for text in set(texts))
    limit = max(1.0, RARE * len(pages))
    return {
        url: [text for text in texts if n_pages[text] <= limit] or texts
        for url, texts in values.items()
    }
