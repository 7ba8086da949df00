"""What workers do when rung: a task for each kind of job here, and the ticks of the clock."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from celery import shared_task

from clustering.services.clusters import arrivals, clusterings, observing, splitting
from clustering.services.clusters.doubts import with_answers
from clustering.services.crawl import (
    address_lists,
    crawling,
    list_crawling,
    revisiting,
    sitemap_crawling,
)
from clustering.services.looks import assets, thumbnails
from clustering.services.looks.thumbnails import with_thumbnails
from clustering.services.pages import importing, search_log, warc_export
from clustering.services.sites import retention, site_export
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.jobs.requests import enqueue
from vertex.core.tasks import register

KINDS = (
    importing.IMPORT_PAGES,
    crawling.CRAWL_SITE,
    # The pages are visited once the list or the sitemaps are read: see `fetch_service`.
    replace(address_lists.VISIT_ADDRESSES, work=address_lists.read_list),
    replace(sitemap_crawling.CRAWL_SITEMAPS, work=sitemap_crawling.read_sitemaps),
    revisiting.REVISIT_PAGES,
    search_log.IMPORT_SEARCH_LOG,
    list_crawling.CRAWL_LIST,
    arrivals.ASSIGN_ARRIVALS,
    observing.OBSERVE_PAGES,
    splitting.JUDGE_SPLIT_PAGES,
    thumbnails.DRAW_THUMBNAILS,
    assets.FETCH_ASSETS,
    site_export.EXPORT_SITE,
    warc_export.EXPORT_WARC,
    retention.DELETE_SITE,
    retention.SWEEP,
)
KINDS_WITH_THUMBNAILS = (
    replace(clusterings.CLUSTER_SITE, work=with_answers(clusterings.CLUSTER_SITE.work)),
    splitting.SPLIT_CLUSTER,
)

for kind in KINDS:
    register(kind)
for kind in KINDS_WITH_THUMBNAILS:
    register(replace(kind, work=with_thumbnails(kind.work)))


@shared_task(name="clustering.plan_sweep")
def plan_sweep() -> None:
    with contextlib.suppress(JobExists):
        enqueue(retention.sweep_request())
