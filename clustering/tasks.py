"""What workers do when rung: each task claims its job's row and calls one service."""

from __future__ import annotations

import contextlib

from celery import shared_task

from clustering.services.clusters import arrivals, cluster_changes, clusterings
from clustering.services.crawl import crawling, list_crawling
from clustering.services.looks import assets, thumbnails
from clustering.services.pages import importing, search_log
from clustering.services.sites import retention, site_export
from vertex.core.services.jobs import jobs
from vertex.core.tasks import answer


@shared_task(name="clustering.import_pages")
def import_pages(job_id: int) -> None:
    answer(job_id, importing.import_pages)


@shared_task(name="clustering.import_search_log")
def import_search_log(job_id: int) -> None:
    answer(job_id, search_log.import_search_log)


@shared_task(name="clustering.crawl_site")
def crawl_site(job_id: int) -> None:
    answer(job_id, crawling.crawl)


@shared_task(name="clustering.cluster_site")
def cluster_site(job_id: int) -> None:
    answer(job_id, thumbnails.with_thumbnails(clusterings.cluster_site))


@shared_task(name="clustering.plan_arrivals")
def plan_arrivals() -> None:
    arrivals.plan_arrivals()


@shared_task(name="clustering.assign_arrivals")
def assign_arrivals(job_id: int) -> None:
    answer(job_id, arrivals.run_arrivals)


@shared_task(name="clustering.split_cluster")
def split_cluster(job_id: int) -> None:
    answer(job_id, thumbnails.with_thumbnails(cluster_changes.split_cluster))


@shared_task(name="clustering.judge_split_pages")
def judge_split_pages(job_id: int) -> None:
    answer(job_id, cluster_changes.judge_split_pages)


@shared_task(name="clustering.draw_thumbnails")
def draw_thumbnails(job_id: int) -> None:
    answer(job_id, thumbnails.draw_thumbnails)


@shared_task(name="clustering.fetch_assets")
def fetch_assets(job_id: int) -> None:
    answer(job_id, assets.fetch_assets)


@shared_task(name="clustering.crawl_list")
def crawl_list(job_id: int) -> None:
    answer(job_id, list_crawling.crawl_list)


@shared_task(name="clustering.delete_site")
def delete_site(job_id: int) -> None:
    answer(job_id, retention.delete_site)


@shared_task(name="clustering.export_site")
def export_site(job_id: int) -> None:
    answer(job_id, site_export.export_site)


@shared_task(name="clustering.sweep")
def sweep(job_id: int) -> None:
    answer(job_id, retention.sweep)


@shared_task(name="clustering.plan_sweep")
def plan_sweep() -> None:
    with contextlib.suppress(jobs.JobExists):
        retention.request_sweep()
