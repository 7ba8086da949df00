"""Clusterings as jobs: what they leave behind, what goes on, what stays as it was."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.published.shingles import shingle_vector
from clustering.algorithms.published.signatures import read_signature
from clustering.models import (
    Cluster,
    ClusterFigures,
    Clustering,
    ClusterReview,
    Page,
    PageMembership,
    SearchClick,
    Snapshot,
)
from clustering.services.clusters import cluster_changes, clustering_store
from clustering.services.clusters.clustering_runs import cluster_site
from clustering.services.clusters.clustering_store import N_KEPT, drop_old_clusterings
from clustering.services.clusters.clusterings import (
    clustering_request,
    compare_clusterings,
    drop_clustering,
    make_current,
    reclustering_request,
)
from clustering.services.pages.stored_pages import read_pages, stored_pages
from tests.apps.clustering.api_cast import page_of, site_of
from tests.apps.clustering.demo_sites import (
    adjusted_rand_of,
    articles,
    cluster,
    clusters_of,
    demo_site,
    details,
    shop,
    store,
    truth_of,
)
from vertex.core.models import AuditEntry, Job
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import create_here

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def present(site: Any) -> set[str]:
    return set(Cluster.objects.present().filter(site=site).values_list("name", flat=True))


def test_a_demo_site_is_clustered_by_type() -> None:
    site = demo_site("tinker-board", n=140)
    clustering = cluster(site)

    assert adjusted_rand_of(clustering, truth_of(site)) > 0.95
    assert clustering.is_current
    assert (140, 140, 0) == (clustering.n_pages, clustering.n_sampled, clustering.n_unassigned)
    assert "small groups were joined to" in clustering.why
    assert clustering.evidence["links"] > 500
    assert 0.1 < clustering.measures["coverage"] < 1
    assert 0.7 < clustering.measures["cohesion"] < 1
    assert 0 == clustering.measures["unassigned"]


class TestWhatIsKept:
    def test_each_cluster_has_its_figures(self) -> None:
        clustering = cluster(shop())
        cluster_figures = ClusterFigures.objects.filter(clustering=clustering)

        assert [6, 6] == [figures.n_pages for figures in cluster_figures]
        assert {"https://shop.example/p/(.*)", "https://shop.example/news/(.*)"} == {
            figures.url_pattern for figures in cluster_figures
        }
        assert all(
            len(figures.signature) == 16 and len(figures.examples) == 5
            for figures in cluster_figures
        )
        assert all(
            figures.cohesion == 1 and figures.group and figures.why for figures in cluster_figures
        )

    def test_a_cluster_of_algorithm_1_keeps_the_mask_that_made_it(self) -> None:
        site = demo_site("alpine-shop", n=90)
        clustering = cluster(site, algorithm="shingles")
        cluster_figures = ClusterFigures.objects.filter(clustering=clustering)

        assert any("**" in figures.signature for figures in cluster_figures)
        assert {figures.group for figures in cluster_figures} == {
            figures.signature for figures in cluster_figures
        }
        assert set(clustering.model["signatures"]) == {
            figures.signature for figures in cluster_figures
        }

    def test_it_keeps_it_when_a_person_moves_pages(self) -> None:
        site = demo_site("alpine-shop", n=90)
        clustering = cluster(site, algorithm="shingles")
        first, other = Cluster.objects.present().filter(site=site).order_by("pk")[:2]
        moved = PageMembership.objects.of_cluster(first.pk).values_list("page", flat=True)[:1]
        cluster_changes.move_pages(site=site, pages=list(moved), to=other, actor=None)

        for figures in ClusterFigures.objects.filter(clustering=clustering):
            assert figures.group == figures.signature

    def test_each_page_has_its_place(self) -> None:
        site = shop()
        clustering = cluster(site)
        memberships = PageMembership.objects.filter(clustering=clustering).select_related("page")

        assert 12 == len(memberships)
        assert all(
            membership.found_id == membership.cluster_id is not None and membership.distance == 0
            for membership in memberships
        )
        assert all(
            membership.snapshot_seen == membership.page.latest_snapshot_id
            for membership in memberships
        )
        assert 12 == len(clustering.map)
        assert {page for page, _, _ in clustering.map} == {
            membership.page_id for membership in memberships
        }

    def test_names_are_fit_for_files(self) -> None:
        for name in present_after_clustering(shop()):
            Cluster(name=name).clean_fields(exclude=["site", "title"])

    def test_clusters_are_called_after_what_their_pages_are(self) -> None:
        site = shop()
        Snapshot.objects.filter(page__url__contains="/p/").update(status=404)
        cluster(site)

        assert {("News", "news"), ("Not found", "not-found")} == set(
            Cluster.objects.filter(site=site).values_list("title", "name")
        )

    def test_who_asked_is_recorded(self) -> None:
        site = shop()
        cluster(site)

        assert ["clustering.requested", "site.clustered"] == list(
            AuditEntry.objects.filter(site=site).order_by("pk").values_list("action", flat=True)
        )


def present_after_clustering(site: Any) -> set[str]:
    cluster(site)
    return present(site)


class TestWhatGoesOn:
    def test_clustering_again_keeps_the_names(self) -> None:
        site = shop()
        first, second = cluster(site), cluster(site)

        assert clusters_of(first) == clusters_of(second)
        assert [second] == list(Clustering.objects.current().filter(site=site))

    def test_pages_that_are_assigned_elsewhere_meanwhile_keep_theirs(self) -> None:
        site = shop()
        first = cluster(site)
        names = clusters_of(first)
        memberships = PageMembership.objects.filter(clustering=first)
        articles_ = memberships.get(page__url__endswith="/news/1").found

        def assign_all_to_the_articles(_line: Any) -> None:
            memberships.update(found=articles_)

        job = create_here(clustering_request(site=site))
        jobs.run_job(job.pk, cluster_site, report=assign_all_to_the_articles)
        again = Clustering.objects.current().get(site=site)

        assert again != first
        assert names == clusters_of(again)

    def test_other_algorithms_keep_them_too(self) -> None:
        site = shop()
        names = present_after_clustering(site)
        cluster(site, algorithm="path_shingles")

        assert names == present(site)

    def test_a_title_that_a_person_gave_stays(self) -> None:
        site = shop()
        cluster(site)
        clusters = Cluster.objects.present().filter(site=site)[0]
        cluster_changes.rename_cluster(cluster=clusters, title="Ropes", actor=None)
        cluster(site)
        clusters.refresh_from_db()

        assert "Ropes" == clusters.title

    def test_what_people_changed_is_repeated(self) -> None:
        site = shop()
        clustering = cluster(site)
        moved = Page.objects.get(site=site, url__endswith="/p/3")
        articles_ = Cluster.objects.get(memberships__page__url__endswith="/news/1", site=site)
        cluster_changes.move_pages(site=site, pages=[moved.pk], to=articles_, actor=None)
        again = cluster(site)

        assert clustering != again
        assert articles_.name == clusters_of(again)[moved.url]
        assert [7, 5] == [
            figures.n_pages for figures in ClusterFigures.objects.filter(clustering=again)
        ]

    def test_a_cluster_that_was_merged_by_hand_stays_merged(self) -> None:
        site = shop()
        cluster(site)
        first, other = Cluster.objects.present().filter(site=site)
        cluster_changes.merge_clusters(cluster=first, into=other, actor=None)
        again = cluster(site)

        assert {other.name} == set(clusters_of(again).values())

    def test_a_name_is_never_given_to_another_cluster(self) -> None:
        site = shop()
        names = present_after_clustering(site)
        Page.objects.filter(site=site, url__contains="/news/").delete()
        cluster(site)
        store(site, articles(range(50, 56)))
        cluster(site)

        assert 1 == len(names & present(site))
        assert 2 == len(present(site))

    def test_a_cluster_that_comes_back_is_known_again(self) -> None:
        site = shop()
        names = present_after_clustering(site)
        cluster(site, algorithm="shingles", n_sample=1)
        cluster(site)

        assert names == present(site)


class TestComparing:
    def test_a_comparison_leaves_the_current_clustering_alone(self) -> None:
        site = shop()
        current = cluster(site)
        titles = dict(Cluster.objects.filter(site=site).values_list("name", "title"))
        beside = cluster(site, algorithm="common_paths", compare=True)
        current.refresh_from_db()

        assert (True, False) == (current.is_current, beside.is_current)
        assert (
            titles.items()
            <= dict(Cluster.objects.filter(site=site).values_list("name", "title")).items()
        )

    def test_the_first_comparison_makes_no_clustering_current(self) -> None:
        site = shop()
        cluster(site, compare=True)

        assert set() == present(site)

    def test_another_clustering_can_be_made_current(self) -> None:
        site = shop()
        first, beside = cluster(site), cluster(site, algorithm="shingles", compare=True)
        make_current(clustering=beside, actor=None)

        assert [beside] == list(Clustering.objects.current().filter(site=site))
        assert "clustering.made_current" in AuditEntry.objects.values_list("action", flat=True)
        drop_clustering(clustering=first, actor=None)
        assert [beside] == list(Clustering.objects.filter(site=site))

    def test_the_current_one_cannot_be_dropped(self) -> None:
        with pytest.raises(ValidationError, match="make another one current first"):
            drop_clustering(clustering=cluster(shop()), actor=None)

    def test_one_with_verdicts_cannot_be_dropped(self) -> None:
        site = shop()
        judged, _ = cluster(site), cluster(site)
        give_verdict(judged)

        with pytest.raises(ValidationError, match="verdicts"):
            drop_clustering(clustering=Clustering.objects.get(pk=judged.pk), actor=None)

    def test_how_two_agree_is_told(self) -> None:
        site = shop()
        first, other = cluster(site), cluster(site)
        moved = PageMembership.objects.filter(clustering=other)[0]
        PageMembership.objects.filter(pk=moved.pk).update(cluster=None)
        same, different = compare_clusterings(first, first), compare_clusterings(first, other)

        assert (1.0, 0, [6, 6]) == (same.adjusted_rand, same.n_moved, [n for _, _, n in same.table])
        assert (12, 1) == (different.n_pages, different.n_moved)
        assert 0.5 < different.adjusted_rand < 1
        assert [(moved.page_id, None)] == [
            (page.page, page.other_cluster) for page in different.moved
        ]

    def test_only_the_newest_are_kept_and_those_with_verdicts(self) -> None:
        site = shop()
        current = cluster(site)
        old = [Clustering.objects.create(site=site, algorithm="auto") for _ in range(N_KEPT + 3)]
        give_verdict(old[0])
        drop_old_clusterings(site)

        assert {current.pk, old[0].pk, *[each.pk for each in old[3:]]} == set(
            Clustering.objects.filter(site=site).values_list("pk", flat=True)
        )

    def test_the_one_that_was_current_can_be_made_current_again(self) -> None:
        site = shop()
        before = cluster(site)
        for _ in range(N_KEPT):
            Clustering.objects.create(site=site, algorithm="shingles")
        after = cluster(site)

        assert Clustering.objects.filter(pk=before.pk, is_current=False).exists()
        make_current(clustering=Clustering.objects.get(pk=before.pk), actor=None)
        assert [False, True] == [
            Clustering.objects.get(pk=each.pk).is_current for each in (after, before)
        ]


def give_verdict(clustering: Clustering) -> None:
    ClusterReview.objects.create(
        clustering=clustering,
        cluster=Cluster.objects.filter(site=clustering.site)[0],
        verdict=ClusterReview.Verdict.ONE_TYPE,
    )


class TestEndings:
    def test_a_cancelled_job_leaves_the_old_clustering(self) -> None:
        site = shop()
        old = cluster(site)
        job = create_here(clustering_request(site=site))
        ended = jobs.run_job(job.pk, cluster_site, report=lambda _page: stop(job))

        assert Job.State.CANCELLED == ended.state
        assert [old] == list(Clustering.objects.filter(site=site))

    def test_a_worker_that_lost_its_lease_writes_nothing(self) -> None:
        site = shop()
        job = create_here(clustering_request(site=site))
        run = jobs.claim_job(job.pk)
        Job.objects.filter(pk=job.pk).update(lease="another")

        with pytest.raises(jobs.LeaseLost):
            cluster_site(run)
        assert not Clustering.objects.exists()
        assert not Cluster.objects.exists()

    def test_what_fails_in_the_middle_of_storing_leaves_nothing_half(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site = shop()
        old = cluster(site)
        n_rows = PageMembership.objects.count()
        Cluster.objects.filter(site=site).update(title="Before")
        monkeypatch.setattr(clustering_store, "drop_old_clusterings", fall_over)
        job = create_here(clustering_request(site=site))
        ended = jobs.run_job(job.pk, cluster_site)

        assert "killed here" in ended.error
        assert [old] == list(Clustering.objects.filter(site=site))
        assert n_rows == PageMembership.objects.count()
        assert {"Before"} == set(Cluster.objects.filter(site=site).values_list("title", flat=True))

    def test_a_site_without_pages_says_so(self) -> None:
        job = create_here(clustering_request(site=site_of("bare")))

        assert "no stored pages" in jobs.run_job(job.pk, cluster_site).error

    def test_one_at_a_time(self) -> None:
        site = shop()
        create_here(clustering_request(site=site))

        with pytest.raises(jobs.JobExists):
            create_here(clustering_request(site=site, algorithm="shingles"))

    @pytest.mark.parametrize(
        "options", [{"algorithm": "magic"}, {"n_sample": 0}, {"parameters": {"k": 1}}]
    )
    def test_what_cannot_be_done_is_refused_at_once(self, options: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            create_here(clustering_request(site=shop(), **options))

    def test_two_current_clusterings_cannot_be(self) -> None:
        site = shop()
        cluster(site)

        with pytest.raises(IntegrityError), transaction.atomic():
            Clustering.objects.create(site=site, algorithm="auto", is_current=True)


class TestParameters:
    def test_they_are_stored_with_the_clustering(self) -> None:
        clustering = cluster(shop(), algorithm="common_paths", parameters={"threshold": 0.5})

        assert {"threshold": 0.5} == clustering.parameters
        assert "more than 50%" in clustering.why

    def test_those_that_are_not_named_are_stored_with_their_default(self) -> None:
        clustering = cluster(shop(), algorithm="masked_path_shingles", parameters={"k": 4})

        assert {"k": 4, "m": 6} == clustering.parameters

    def test_signatures_keep_ten_tags_whatever_the_shingles_have(self) -> None:
        clustering = cluster(shop(), algorithm="shingles", parameters={"shingle_length": 3})

        for figures in ClusterFigures.objects.filter(clustering=clustering):
            bodies = read_pages(stored_pages(clustering.site, figures.examples))
            signature = read_signature(figures.signature)
            assert figures.group != figures.signature
            assert all(signature.covers(shingle_vector(page.body) or 0) for page in bodies)

    def test_a_site_is_clustered_again_as_it_was(self) -> None:
        site = shop()
        cluster(site, algorithm="shingles", parameters={"shingle_length": 3})
        again = reclustering_request(site=site).params

        assert ("shingles", {"shingle_length": 3}) == (again["algorithm"], again["parameters"])

    def test_a_site_that_was_never_clustered_is_clustered_by_default(self) -> None:
        assert "auto" == reclustering_request(site=shop()).params["algorithm"]

    def test_a_job_of_an_older_version_has_none(self) -> None:
        job = create_here(clustering_request(site=shop(), algorithm="shingles"))
        del job.params["parameters"]
        job.save()

        assert Job.State.DONE == jobs.run_job(job.pk, cluster_site).state


class TestEvidence:
    def test_an_algorithm_without_its_evidence_says_what_it_needs(self) -> None:
        job = create_here(clustering_request(site=shop(), algorithm="uxclust"))

        assert "links" in jobs.run_job(job.pk, cluster_site).error

    def test_a_derived_log_is_called_derived(self) -> None:
        site = demo_site("town-guide", n=60)
        clustering = cluster(site, algorithm="keyclus")

        assert clustering.evidence["has_derived_clicks"]
        assert clustering.evidence["clicks"] > 0
        assert "derived" in clustering.why

    def test_a_search_log_comes_first(self) -> None:
        site = demo_site("town-guide", n=60)
        for page in Page.objects.filter(site=site)[:20]:
            SearchClick.objects.create(
                site=site, query=page.url[-20:], url=page.url, url_hash=page.url_hash, clicks=3
            )
        clustering = cluster(site, algorithm="keyclus")

        assert not clustering.evidence["has_derived_clicks"]
        assert 20 == clustering.evidence["clicks"]

    @pytest.mark.parametrize("algorithm", sorted(set(CLUSTERERS) - {"auto", "keyclus"}))
    def test_every_algorithm_ends_with_a_clustering(self, algorithm: str) -> None:
        site = demo_site("town-guide", n=30)
        clustering = cluster(site, algorithm=algorithm)

        assert 30 == clustering.n_pages
        assert present(site) or clustering.n_unassigned == clustering.n_pages
        assert clustering.why


class TestSampling:
    def test_pages_that_were_not_sampled_are_assigned(self) -> None:
        site = shop(n=20)
        clustering = cluster(site, n_sample=16)
        clusters = clusters_of(clustering)

        assert (16, 40) == (clustering.n_sampled, clustering.n_pages)
        assert 1 == len({name for url, name in clusters.items() if "/p/" in url})
        assert 2 == len(set(clusters.values()))


class TestHostileSites:
    def test_a_site_of_one_page(self) -> None:
        site = site_of("tiny")
        store(site, details([1]))

        assert 1 == ClusterFigures.objects.get(clustering=cluster(site)).n_pages

    @pytest.mark.parametrize("algorithm", ["auto", "shingles", "site_model"])
    def test_a_site_of_empty_pages(self, algorithm: str) -> None:
        site = site_of("empty")
        store(site, [(f"p/{n}", b"", "text/html") for n in range(5)])

        assert 5 == cluster(site, algorithm=algorithm).n_pages

    def test_a_page_whose_bytes_are_gone(self) -> None:
        site = shop()
        snapshot = Page.objects.filter(site=site)[0].latest_snapshot
        assert snapshot is not None
        snapshot.body = "0" * 64
        snapshot.save()

        assert 12 == cluster(site).n_pages

    def test_addresses_with_what_no_database_takes(self) -> None:
        site = site_of("odd")
        for n in range(6):
            page_of(site, f"%00/p\u00e9/{n}%00", f"<html><h1>\x01{n}</h1><p>x</p></html>".encode())

        assert 6 == cluster(site).n_pages


def fall_over(*_: object, **__: object) -> None:
    raise RuntimeError("killed here")


def stop(job: Job) -> None:
    jobs.cancel_job(job=job, actor=None)
