"""Demo sites as they are stored, with the truth about their pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.utils import timezone

from clustering.algorithms.measures import compare
from clustering.models import Clustering, PageMembership
from clustering.services.clusters.clustering_runs import cluster_site
from clustering.services.clusters.clusterings import clustering_request
from clustering.services.pages.pages import Visit, prepare_visits, store_visits
from tests.apps.clustering.api_cast import site_of
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here
from vertex.demo import sites

DETAIL = (
    "<html><head><title>{0}</title></head><body><h1>{0}</h1><dl><dt>Price<dd>{1}</dl><p>{0} is "
    "good</p></body></html>"
)
ARTICLE = (
    "<html><head><title>{0}</title></head><body><article><h2>{0}</h2><p>By "
    "{1}</p><p>Text</p></article></body></html>"
)


def demo_site(name: str, edition: str = "1", *, n: int | None = None) -> Site:
    """Store a demo site, or so many of its pages, evenly spread."""
    site = site_of(name)
    demo = sites.load(name, edition)
    pages = list(demo.pages.items())
    pages = pages[:: len(pages) // (n or len(pages))][:n]
    store(site, ((path, page.body, page.content_type) for path, page in pages))
    return site


def store(site: Site, pages: Iterable[tuple[str, bytes, str]]) -> None:
    """Store pages: path, bytes and content type of each."""
    now = timezone.now()
    visits = [
        Visit(site.root_url + path.lstrip("/"), body, now, content_type=content_type)
        for path, body, content_type in pages
    ]
    prepared = prepare_visits(visits)
    with transaction.atomic():
        store_visits(site=site, prepared=prepared)


def shop(name: str = "shop", n: int = 6) -> Site:
    """Store a site of so many products and as many articles."""
    site = site_of(name)
    store(site, [*details(range(n)), *articles(range(n))])
    return site


def details(numbers: Iterable[int]) -> list[tuple[str, bytes, str]]:
    return [
        (f"p/{n}", DETAIL.format(f"Rope {n}", f"{n}.50").encode(), "text/html") for n in numbers
    ]


def articles(numbers: Iterable[int]) -> list[tuple[str, bytes, str]]:
    return [
        (f"news/{n}", ARTICLE.format(f"Story {n}", f"Ada {n}").encode(), "text/html")
        for n in numbers
    ]


def truth_of(site: Site, edition: str = "1") -> dict[str, str]:
    """Return the type of each page of a demo site; near-twins are of one."""
    demo = sites.load(site.name, edition)
    return {
        site.root_url + path.lstrip("/"): page.cluster_type for path, page in demo.pages.items()
    }


def cluster(site: Site, **options: Any) -> Clustering:
    """Cluster a site in this process."""
    job = run_job(create_here(clustering_request(site=site, **options)).pk, cluster_site)
    assert job.state == Job.State.DONE, job.error
    assert job.result is not None
    return Clustering.objects.get(pk=job.result["clustering"])


def clusters_of(clustering: Clustering) -> dict[str, str | None]:
    """Return the name of each page's cluster by its address."""
    rows = PageMembership.objects.filter(clustering=clustering)
    return dict(rows.values_list("page__url", "cluster__name"))


def adjusted_rand_of(clustering: Clustering, types: dict[str, str]) -> float:
    return compare(clusters_of(clustering), types).adjusted_rand
