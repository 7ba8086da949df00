"""What is watched of a site: its published rules, each with its bellwethers and golden records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.grouping import RawPage
from clustering.models import ClusterFigures, Page, PageMembership, Snapshot
from monitoring.algorithms.known_values import ADDRESSES
from monitoring.services.checks.tested_pages import read_stored
from rules.algorithms.running.record_lines import Line
from rules.algorithms.running.records import RunnableRule
from rules.models import Bellwether, GoldenRecord, Rule
from rules.services.learning.schemas import runnable
from vertex.core.models import Site

MAX_COVERAGE_PAGES = 60  # of each cluster in an archive, besides bellwethers


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
    layout_by_url: Mapping[str, str]  # where the cluster has several

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
                layout_by_url=_layouts(rule),
            )
        )
    return watched


def _watched_pages(rule: Rule) -> list[WatchedPage]:
    """Return the bellwethers with a golden record, by rank; without any, all golden records.

    One whose bytes are gone is left out: nothing can be compared with it.
    """
    golden = list(GoldenRecord.objects.filter(rule=rule).select_related("page", "snapshot"))
    rank_by_page = dict(
        Bellwether.objects.filter(cluster=rule.cluster_id).values_list("page", "rank")
    )
    ranked = [row for row in golden if row.page_id in rank_by_page] or golden
    ranked.sort(key=lambda row: (rank_by_page.get(row.page_id, 0), row.pk))
    watched = []
    for row in ranked:
        stored = read_stored(row.page.url, row.snapshot)
        if stored is not None:
            watched.append(WatchedPage(row.page, row.lines, stored))
    return watched


def _layouts(rule: Rule) -> dict[str, str]:
    members = PageMembership.objects.of_cluster(rule.cluster_id).filter(layout__isnull=False)
    return dict(members.values_list("page__url", "layout__name"))


def _other_urls(rule: Rule, pages: Iterable[WatchedPage]) -> list[str]:
    members = PageMembership.objects.of_cluster(rule.cluster_id)
    members = members.exclude(page__in=[watched.page.pk for watched in pages])
    urls = members.order_by("page__url_hash").values_list("page__url", flat=True)
    return list(urls[:MAX_COVERAGE_PAGES])


def constant_values(golden: Iterable[Line], attributes: Iterable[AttributeType]) -> list[str]:
    """Return the values of a page that do not change with time, but those that are addresses."""
    values: list[str] = []
    names = {
        attribute.name
        for attribute in attributes
        if attribute.is_constant and attribute.type not in ADDRESSES
    }
    for line in golden:
        for name in names & line.values.keys():
            value = line.values[name]
            values += [value] if isinstance(value, str) else value
    return values


def stored_pages(rule: Rule, urls: Collection[str]) -> dict[str, Snapshot]:
    """Return what is stored of some pages of a rule's site, by address."""
    pages = Page.objects.filter(site=rule.cluster.site, url__in=urls, latest_snapshot__isnull=False)
    return {
        page.url: page.latest_snapshot
        for page in pages.select_related("latest_snapshot")
        if page.latest_snapshot is not None
    }
