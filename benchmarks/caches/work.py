"""The product's work in memory, a function for each kind, to count what its caches do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from benchmarks.extraction_speed.learnt_sites import learnt_sites
from benchmarks.pages_needed import annotate
from benchmarks.records.generated import made_pages
from benchmarks.rule_learning import demo_clusters
from benchmarks.suggestions import judge
from benchmarks.values import FIFTH_OF_MARCH
from clustering.algorithms.automatic import auto
from clustering.algorithms.automatic import placing as page_placing
from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.grouping import ClusteringInputs, RawPage, SiteLink
from clustering.algorithms.published import keyclus, urest
from clustering.algorithms.published.derived_log import derive_clicks
from clustering.algorithms.records.finding import find_records
from clustering.dom.addresses import belongs_to_site, url_hash
from clustering.dom.links import find_links
from clustering.dom.page import parse_page
from clustering.values.dates_by_dateparser import DatesByDateparser
from clustering.values.normalising import PageContext, normalise
from clustering.values.typed_regexes import select
from monitoring.services.checks.check_calendar import AS_IT_WAS, CHANGED, Day
from monitoring.templatetags.watching import strip
from rules.algorithms.running.record_lines import line_json
from rules.bundle.extraction import lines_of
from vertex.demo import sites

N_PAGES: Final = 40  # of a site, where an algorithm is quadratic
ROOT: Final = "http://site.example"
N_IN_BATCH: Final = 50
N_DAYS, N_SITES = 30, 500
GENERATED: Final = ("newswire", "shokudo")


def links() -> None:
    """Read the links of all pages, ask whether they stay at the site, and hash their addresses.

    A crawl does the same.
    """
    for page in _pages():
        parsed = parse_page(page.body, page.content_type)
        if parsed.tree is not None:
            for link in find_links(parsed.tree, page.url, parsed.encoding):
                if belongs_to_site(link.url, ROOT):
                    url_hash(link.url)


def clustering() -> None:
    """Cluster pages of each demo site by every algorithm."""
    for name in sites.NAMES:
        pages = list(_pages(name))[:N_PAGES]
        inputs = _inputs(pages)
        for clusterer in CLUSTERERS.values():
            observations = [
                clusterer.observe(page) if clusterer.observe else None for page in pages
            ]
            clusterer.cluster_pages([page.url for page in pages], observations, inputs)


def placing() -> None:
    """Cluster part of each demo site by `auto`, then assign all its pages one by one."""
    observe = auto.CLUSTERER.observe
    assert observe is not None  # `auto` reads pages
    for name in sites.NAMES:
        pages = list(_pages(name))
        known = pages[:N_PAGES]
        observations = [observe(page) for page in known]
        model = auto.cluster_pages([page.url for page in known], observations, _inputs(known)).model
        for start in range(0, len(pages), N_IN_BATCH):
            stored_model = json.loads(json.dumps(model))  # each batch reads it anew
            for page in pages[start : start + N_IN_BATCH]:
                page_placing.place_page(stored_model, page)


def recognising() -> None:
    """Cluster part of each demo site by KeyClus, then recognise all its pages by their bytes."""
    observe = keyclus.CLUSTERER.observe
    assert observe is not None  # KeyClus reads pages
    for name in sites.NAMES:
        pages = list(_pages(name))
        known = pages[:N_PAGES]
        urls = [page.url for page in known]
        observations = [observe(page) for page in known]
        model = keyclus.CLUSTERER.cluster_pages(urls, observations, _inputs(known)).model
        for page in pages:
            keyclus.CLUSTERER.find_group(model, page)


def lists() -> None:
    """Find the lists of generated pages, by the product and by U-REST."""
    for _, html in made_pages():
        tree = parse_page(html.encode()).tree
        if tree is not None:
            find_records(tree)
            urest.find_lists(tree)


def suggestions() -> None:
    """Suggest the values of pages of the demo sites."""
    for cluster in demo_clusters():
        judge(cluster)


def learning() -> None:
    """Learn rules of the demo sites as an editor annotates."""
    for cluster in demo_clusters():
        annotate(cluster, hints=False)


def extracting(data: Path) -> None:
    """Extract pages of generated sites."""
    for site in learnt_sites(data, GENERATED):
        for page in site.pages:
            for line in lines_of(page, site.rules, nodes=True):
                line_json(line, nodes=True)


def values() -> None:
    """Normalise the dates of a site in each of many languages, and select by a regex."""
    for text in FIFTH_OF_MARCH.values():
        by_dateparser = DatesByDateparser()
        for year in range(1990, 2020):
            context = PageContext(by_dateparser=by_dateparser)
            normalise("date", text.replace("2021", str(year)), context)
            select(r"(\d+)\D+$", text)


def overview() -> None:
    """Draw the strips of many sites."""
    for site in range(N_SITES):
        strip([_day(number, site) for number in range(N_DAYS)])


def _day(number: int, site: int) -> Day:
    """Return a day of a site's calendar; one site in ten changed, each on another day."""
    is_changed = site % 10 == 0 and number == site // 10 % N_DAYS
    day = date(2026, 1, 1) + timedelta(days=number)
    return Day(day, CHANGED if is_changed else AS_IT_WAS, None)


def _pages(name: str = "") -> Iterator[RawPage]:
    """Yield the pages of a demo site, or of all."""
    for site in [name] if name else sites.NAMES:
        for page in sites.load(site).pages.values():
            yield RawPage(f"{ROOT}{page.path}", page.body, page.content_type)


def _inputs(pages: Sequence[RawPage]) -> ClusteringInputs:
    """Return the links between pages, with clicks that are derived from their texts."""
    tree_by_url = {page.url: page.tree for page in pages}
    site_links = [
        SiteLink(source, link.xpath, link.url, link.text)
        for source, tree in tree_by_url.items()
        if tree is not None
        for link in find_links(tree, source)
        if link.url in tree_by_url
    ]
    return ClusteringInputs(
        links=site_links,
        clicks=derive_clicks(site_links),
        has_derived_clicks=True,
        read=tree_by_url.get,
    )
