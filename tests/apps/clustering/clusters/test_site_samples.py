"""The pages of a site that an algorithm groups itself."""

from __future__ import annotations

import pytest

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.models import Page
from clustering.services.clusters.site_samples import sample_by_parts, sample_size
from clustering.services.pages.stored_pages import stored_pages
from tests.apps.clustering.demo_sites import cluster, shop, store

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

PAGE = "<html><body><h1>{0}</h1><p>{0} is a page</p></body></html>"


@pytest.mark.parametrize(
    ("algorithm", "n_pages", "asked", "size"),
    [
        ("shingles", 0, None, 0),
        ("shingles", 60, None, 60),
        ("shingles", 2_001, None, 2_000),
        ("shingles", 10_001, None, 2_000),
        ("shingles", 50_000, None, 10_000),
        ("shingles", 900_000, None, 20_000),
        ("shingles", 900_000, 50_000, 50_000),
        ("site_model", 12_000, None, 12_000),
        ("auto", 900_000, None, 2_000),
        ("auto", 900_000, 3_000, 3_000),
        ("auto", 900_000, 50_000, CLUSTERERS["auto"].max_pages),
        ("auto", 60, 50, 50),
    ],
)
def test_how_many_pages_are_sampled(
    algorithm: str, n_pages: int, asked: int | None, size: int
) -> None:
    assert size == sample_size(CLUSTERERS[algorithm], n_pages, asked)


def test_the_sample_does_not_depend_on_the_order() -> None:
    site = shop()
    pages = stored_pages(site)

    assert sample_by_parts(site, pages, 5) == sample_by_parts(site, pages[::-1], 5)
    assert sample_by_parts(site, pages, 99) == sample_by_parts(site, pages[::-1], 12)


def test_pages_linked_from_another_place_are_in_the_sample() -> None:
    site = shop(n=0)
    menu = "".join(f"<li><a href='/page-{n}'>{n}</a>" for n in range(200))
    foot = "".join(f"<a href='/page-{n}'>{n}</a>" for n in range(200, 204))
    start = f"<html><body><ul>{menu}</ul><footer>{foot}</footer></body></html>"
    pages = [(f"page-{n}", PAGE.format(n).encode(), "text/html") for n in range(204)]
    store(site, [("", start.encode(), "text/html"), *pages])

    sampled = sample_by_parts(site, stored_pages(site), 40)
    numbers = {page.url.rpartition("-")[2] for page in sampled}
    assert {"200", "201", "202", "203"} <= numbers
    assert 40 == len(sampled)


def test_pages_of_another_depth_are_in_the_sample() -> None:
    site = shop(n=60)
    deep = Page.objects.filter(site=site, url__endswith="/p/7")
    deep.update(depth=9)

    assert 9 in {page.depth for page in sample_by_parts(site, stored_pages(site), 12)}


def test_a_clustering_groups_the_sample_and_assigns_the_others() -> None:
    site = shop(n=30)
    clustering = cluster(site, n_sample=20)

    assert (60, 20, 0) == (clustering.n_pages, clustering.n_sampled, clustering.n_unassigned)
    assert [30, 30] == sorted(clustering.figures.values_list("n_pages", flat=True))
