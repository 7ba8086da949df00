"""Pages that come after a clustering find their clusters."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from clustering.dom.addresses import url_hash
from clustering.models import Cluster, ClusterFigures, Clustering, Page, PageMembership
from clustering.services.clusters import cluster_changes
from clustering.services.clusters.arrivals import (
    arrivals_request,
    assign_arrivals,
    plan_arrivals,
    run_arrivals,
)
from clustering.services.clusters.clustering_inputs import first_inbound_xpaths
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import (
    articles,
    cluster,
    clusters_of,
    demo_site,
    details,
    shop,
    store,
)
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import create_here

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def name_at(clustering: Clustering, end: str) -> str | None:
    return next(name for url, name in clusters_of(clustering).items() if url.endswith(end))


def test_new_pages_join_the_cluster_of_their_kind() -> None:
    site = shop()
    clustering = cluster(site)
    store(site, [*details([77]), *articles([78])])

    assert 2 == assign_arrivals(site=site)
    assert name_at(clustering, "/p/1") == name_at(clustering, "/p/77")
    assert name_at(clustering, "/news/1") == name_at(clustering, "/news/78")
    assert [7, 7] == [
        figures.n_pages for figures in ClusterFigures.objects.filter(clustering=clustering)
    ]
    assert PageMembership.objects.filter(page__url__endswith="/p/77", distance__lt=0.2).exists()


def test_new_pages_are_read_with_the_parameters_of_the_clustering() -> None:
    site = shop()
    clustering = cluster(site, algorithm="shingles", parameters={"shingle_length": 2})
    store(site, details([77]))

    assert 1 == assign_arrivals(site=site)
    assert name_at(clustering, "/p/1") == name_at(clustering, "/p/77") is not None


def test_nothing_new_is_nothing_to_do() -> None:
    site = shop()
    cluster(site)

    assert 0 == assign_arrivals(site=site)


def test_a_site_without_a_clustering_has_nothing_to_assign_to() -> None:
    assert 0 == assign_arrivals(site=shop())


def test_a_page_of_no_known_kind_is_unassigned_and_counted() -> None:
    site = shop()
    clustering = cluster(site)
    strange = (
        "<html><body><table>"
        + "<tr><td><font><i>?</i></font></td></tr>" * 9
        + "</table></body></html>"
    )
    store(site, [("odd/thing.cgi", strange.encode(), "text/html")])
    assign_arrivals(site=site)
    clustering.refresh_from_db()

    assert name_at(clustering, "thing.cgi") is None
    assert (13, 1) == (clustering.n_pages, clustering.n_unassigned)
    assert pytest.approx(1 / 13) == clustering.measures["unassigned"]


def test_a_page_that_changed_is_judged_again() -> None:
    site = shop()
    clustering = cluster(site)
    _, body, content_type = articles([5])[0]
    store(site, [("p/5", body, content_type)])

    assert 1 == assign_arrivals(site=site)
    assert name_at(clustering, "/news/1") == name_at(clustering, "/p/5")
    assert 0 == assign_arrivals(site=site)


def test_what_people_changed_holds_for_new_pages_too() -> None:
    site = shop()
    clustering = cluster(site)
    first, other = Cluster.objects.present().filter(site=site)
    cluster_changes.merge_clusters(cluster=first, into=other, actor=None)
    store(site, [*details([77]), *articles([78])])
    assign_arrivals(site=site)

    assert {other.name} == set(clusters_of(clustering).values())
    assert {first.pk, other.pk} == set(
        PageMembership.objects.filter(page__url__regex="77|78").values_list("found", flat=True)
    )


@pytest.mark.parametrize("algorithm", ["uxclust", "keyclus", "site_model", "shingles"])
def test_pages_of_a_real_site_come_to_the_same_cluster_as_before(algorithm: str) -> None:
    site = demo_site("alpine-shop", n=90)
    clustering = cluster(site, algorithm=algorithm)
    before = clusters_of(clustering)
    some = PageMembership.objects.filter(clustering=clustering).order_by("page__url_hash")[:30]
    PageMembership.objects.filter(pk__in=[entry.pk for entry in some]).delete()

    assert 30 == assign_arrivals(site=site)
    after = clusters_of(clustering)
    assert sum(before[url] == after[url] for url in before) >= 0.8 * len(before)


def test_the_first_link_is_the_one_that_a_clustering_counts() -> None:
    site = site_of("shop")
    home = b"<html><body><a href='/old'>Old</a><ul><li><a href='/p/1'>1</a></ul></body></html>"
    product = b"<html><body><a href='/'>Home</a><p><a href='/p/1'>this</a></p></body></html>"
    store(site, [("", home, "text/html"), ("p/1", product, "text/html")])
    root = site.root_url
    Page.objects.create(
        site=site,
        url=f"{root}old",
        url_hash=url_hash(f"{root}old"),
        state=Page.State.REDIRECTED,
        redirects_to=Page.objects.get(url=f"{root}p/1"),
    )

    assert {f"{root}p/1": "/html/body/a"} == first_inbound_xpaths(site, [root, f"{root}p/1"])


class TestThePlan:
    def test_sites_with_new_snapshots_get_a_job(self) -> None:
        site, quiet = shop(), shop("quiet")
        cluster(site), cluster(quiet)
        store(site, details([77]))

        assert 1 == plan_arrivals()
        job = Job.objects.get(task="clustering.assign_arrivals")
        assert (site, Job.Queue.LEARN) == (job.site, job.queue)
        assert 0 == plan_arrivals()

    def test_the_job_ends_the_wait(self) -> None:
        site = shop()
        cluster(site)
        store(site, details([77]))
        job = jobs.run_job(create_here(arrivals_request(site=site)).pk, run_arrivals)

        assert {"pages": 1} == job.result
        assert 0 == plan_arrivals()

    @pytest.mark.parametrize(
        "change", [{"deletion_requested_at": timezone.now()}, {"last_snapshot_at": None}]
    )
    def test_sites_that_go_or_are_empty_wait_for_nothing(self, change: dict[str, Any]) -> None:
        site = shop()
        cluster(site)
        Site.objects.update(last_snapshot_at=timezone.now() + timedelta(hours=1))
        assert Site.objects.filter(last_snapshot_at__gt=timezone.now()).exists()
        Site.objects.update(**change)

        assert 0 == plan_arrivals()

    def test_sites_without_a_clustering_wait_for_nothing(self) -> None:
        store(site_of("new"), details([1]))

        assert 0 == plan_arrivals()

    def test_a_clustering_that_is_no_longer_current_takes_no_pages(self) -> None:
        site = shop()
        old = cluster(site)
        store(site, details([77]))
        new = cluster(site)

        assert 0 == assign_arrivals(site=site)
        assert 12 == PageMembership.objects.filter(clustering=old).count()
        assert 13 == PageMembership.objects.filter(clustering=new).count()
        assert 13 == Page.objects.filter(site=site).count()
