"""A cluster of several types is split by a job, and later pages find their part."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from clustering.models import Cluster, ClusterChange, ClusterFigures, Page, PageMembership
from clustering.services.clusters import split_parts
from clustering.services.clusters.cluster_changes import (
    merge_clusters,
    move_pages,
    redo_change,
    undo_change,
)
from clustering.services.clusters.current_changes import apply_changes
from clustering.services.clusters.splitting import judge_split_pages, split_cluster, split_request
from tests.apps.clustering.api_cast import page_of
from tests.apps.clustering.cluster_cast import Shop, clustering_of, pages_by_cluster, shop_of
from vertex.core.models import AuditEntry, Job
from vertex.core.services.jobs.jobs import JobExists, run_job
from vertex.core.services.jobs.requests import create_here

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

BOOK = "<title>Book {n}</title><h1>Books</h1><p class=price>{n} EUR</p><ul><li>{n}a<li>{n}b</ul>"
RECIPE = (
    "<title>Recipe {n}</title><h1>Recipes</h1><ol><li>{n}<li>{n}1</ol><table><tr><td>{n}</table>"
)
MIXED = "abcdefABC"  # books in small letters, recipes in capitals


def body_of(letter: str) -> bytes:
    return (BOOK if letter.islower() else RECIPE).format(n=ord(letter)).encode()


@pytest.fixture
def shop() -> Shop:
    shop = shop_of({"mixed": "", "news": "xy"})
    shop.pages |= {letter: page_of(shop.site, letter, body_of(letter)).pk for letter in MIXED}
    shop.clustering = clustering_of(shop, {"mixed": MIXED, "news": "xy"})
    return shop


def split(shop: Shop, name: str = "mixed") -> Job:
    job = create_here(split_request(cluster=Cluster.objects.get(name=name)))
    return run_job(job.pk, split_cluster)


def shown(shop: Shop) -> dict[str, str]:
    return pages_by_cluster(shop, shop.clustering)


def arrive(shop: Shop, letters: str, *, found: str = "mixed") -> list[int]:
    """Let pages come later, which the algorithm takes for those of a cluster."""
    pages = [page_of(shop.site, letter, body_of(letter)).pk for letter in letters]
    shop.pages |= dict(zip(letters, pages, strict=True))
    cluster = Cluster.objects.get(name=found)
    for page in pages:
        PageMembership.objects.create(
            clustering=shop.clustering, page_id=page, found=cluster, cluster=cluster
        )
    return pages


def test_its_types_become_clusters_and_the_larger_keeps_the_name(shop: Shop) -> None:
    job = split(shop)

    assert (Job.State.DONE, "") == (job.state, job.error)
    assert {"mixed": "abcdef", "recipes": "ABC", "news": "xy"} == shown(shop)
    assert ["mixed", "recipes"] == (job.result or {})["parts"]
    recipes = ClusterFigures.objects.get(cluster__name="recipes")
    assert (3, "Recipes", True) == (
        recipes.n_pages,
        recipes.cluster.title,
        recipes.cluster.is_hand_made,
    )
    assert set(shop.pks("ABC")) == set(recipes.examples)
    assert "https://shop.example/(.*)" == recipes.url_pattern
    assert recipes.cohesion is not None
    assert recipes.cohesion > 0.9
    assert {"cluster.split_requested", "cluster.split"} == set(
        AuditEntry.objects.values_list("action", flat=True)
    )


def test_undoing_and_redoing_it(shop: Shop) -> None:
    split(shop)
    change = ClusterChange.objects.get()
    undo_change(change=change, actor=None)
    assert {"mixed": "ABCabcdef", "news": "xy"} == shown(shop)
    assert 0 == ClusterFigures.objects.get(cluster__name="recipes").n_pages

    redo_change(change=change, actor=None)
    assert {"mixed": "abcdef", "recipes": "ABC", "news": "xy"} == shown(shop)


def test_pages_that_come_later_find_their_part_and_are_judged_once(shop: Shop) -> None:
    split(shop)
    new = arrive(shop, "gG")
    apply_changes(clustering=shop.clustering, pages=new)

    assert {"mixed": "abcdefg", "recipes": "ABCG", "news": "xy"} == shown(shop)
    listed = ClusterChange.objects.get().detail["parts"]
    assert [7, 4] == sorted((len(pages) for pages in listed.values()), reverse=True)


def test_a_new_clustering_repeats_it(shop: Shop) -> None:
    split(shop)
    shop.clustering = clustering_of(shop, {"mixed": MIXED[1:] + "x", "news": "ay"})

    assert {"mixed": "bcdefx", "recipes": "ABC", "news": "ay"} == shown(shop)


def test_changes_before_and_after_it_count_in_their_order(shop: Shop) -> None:
    first = move_pages(
        site=shop.site, pages=shop.pks("A"), to=Cluster.objects.get(name="news"), actor=None
    )
    split(shop)
    merge_clusters(
        cluster=Cluster.objects.get(name="recipes"),
        into=Cluster.objects.get(name="news"),
        actor=None,
    )
    assert {"mixed": "abcdef", "news": "ABCxy"} == shown(shop)

    undo_change(change=first, actor=None)
    # The split judged A now, the merge took it.
    assert {"mixed": "abcdef", "news": "ABCxy"} == shown(shop)


def test_many_later_pages_are_left_to_a_job(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    split(shop)
    monkeypatch.setattr(split_parts, "MAX_READ", 1)
    new = arrive(shop, "gGHI")
    apply_changes(clustering=shop.clustering, pages=new)
    assert {"mixed": "GHIabcdefg", "recipes": "ABC", "news": "xy"} == shown(shop)

    job = run_job(Job.objects.get(task="clustering.judge_split_pages").pk, judge_split_pages)
    assert (Job.State.DONE, {"pages": 3}) == (job.state, job.result)
    assert {"mixed": "abcdefg", "recipes": "ABCGHI", "news": "xy"} == shown(shop)
    assert 6 == ClusterFigures.objects.get(cluster__name="recipes").n_pages


def test_pages_beyond_the_sample_are_assigned(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clustering.services.clusters.splitting.MAX_SAMPLED", 7)
    split(shop)

    assert {"mixed": "abcdef", "recipes": "ABC", "news": "xy"} == shown(shop)


def test_where_all_pages_are_alike_the_job_says_so_and_nothing_changes(shop: Shop) -> None:
    Page.objects.filter(pk__in=shop.pks("ABC")).delete()
    job = split(shop)

    assert Job.State.FAILED == job.state
    assert (
        "mixed was not split: Its pages differ by less than 10%. Nothing was changed." == job.error
    )
    assert {"mixed": "abcdef", "news": "xy"} == shown(shop)
    assert not ClusterChange.objects.exists()


def test_a_cluster_with_one_page_or_none_is_refused(shop: Shop) -> None:
    merge_clusters(
        cluster=Cluster.objects.get(name="news"), into=Cluster.objects.get(name="mixed"), actor=None
    )
    with pytest.raises(ValidationError, match="fewer than 2 pages"):
        split_request(cluster=Cluster.objects.get(name="news"))


def test_it_is_not_split_twice_at_once(shop: Shop) -> None:
    request = split_request(cluster=Cluster.objects.get(name="mixed"))
    create_here(request)
    with pytest.raises(JobExists):
        create_here(request)


def test_a_cancelled_split_changes_nothing(shop: Shop) -> None:
    job = create_here(split_request(cluster=Cluster.objects.get(name="mixed")))
    Job.objects.filter(pk=job.pk).update(cancel_requested_at=job.created_at)
    assert Job.State.CANCELLED == run_job(job.pk, split_cluster).state
    assert {"mixed": "ABCabcdef", "news": "xy"} == shown(shop)
