"""Suggestions on stored pages: the page itself, other pages, what was annotated elsewhere."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from annotation.models import Annotation, Attribute
from annotation.services.page.suggesting import suggestions_for
from clustering.models import Page, SearchClick, Snapshot
from clustering.services.children import stored
from clustering.services.children.limits import CallStopped
from clustering.services.clusters.clustering_runs import cluster_site
from clustering.services.clusters.clusterings import clustering_request
from tests.apps.rules.learning.test_rule_views import client_of
from tests.apps.rules.shop_cast import annotate_product, shop
from vertex.core.models import Role, Site
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def site() -> Site:
    return shop()


def suggested(site: Site, n: int) -> dict[str, dict[str, Any]]:
    page = Page.objects.select_related("latest_snapshot__page").get(
        site=site, url__endswith=f"/p/{n}"
    )
    assert page.latest_snapshot is not None
    attributes = list(Attribute.objects.order_by("position"))
    best: dict[str, dict[str, Any]] = {}
    for each in suggestions_for(snapshot=page.latest_snapshot, attributes=attributes):
        best.setdefault(each["attribute"], each)
    return best


def test_the_first_page_has_suggestions_and_nothing_is_written(site: Site) -> None:
    suggestions = suggested(site, 1)
    assert ["Rope 1", "1.50 EUR", "15 g"] == [
        suggestions[name]["marks"][0]["text"] for name in ("name", "price", "weight")
    ]
    assert 0 == Annotation.objects.count()


def test_key_paths_of_the_clustering_are_lit(site: Site) -> None:
    assert "key path" not in suggested(site, 1)["name"]["why"]
    for page in Page.objects.filter(site=site, url__contains="/p/"):
        query = f"Rope {page.url.rpartition('/')[2]}"
        SearchClick.objects.create(
            site=site, query=query, url=page.url, url_hash=page.url_hash, clicks=3
        )
    run_job(create_here(clustering_request(site=site, algorithm="keyclus")).pk, cluster_site)

    assert "key path 1" in suggested(site, 1)["name"]["why"]


def test_what_other_pages_of_the_cluster_have_is_suggested_as_absent(site: Site) -> None:
    assert suggested(site, 3)["weight"]["absent"]


def test_what_was_annotated_on_the_page_before_is_known(site: Site) -> None:
    annotate_product(site, 1)
    Annotation.objects.filter(attribute__name="weight").update(
        text="Rope 1 is good", xpath="/html/body/p"
    )
    assert "was annotated on this page before" in suggested(site, 1)["weight"]["why"]


def test_a_query_for_each_source_and_not_for_each_attribute(
    site: Site, django_assert_max_num_queries: object
) -> None:
    suggested(site, 1)
    with django_assert_max_num_queries(14):  # type: ignore[operator]
        suggested(site, 1)


def test_of_a_page_that_is_too_heavy_nothing_is_suggested_and_the_page_says_why(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = client_of(Role.EDITOR)
    snapshot = Snapshot.objects.get(page__site=site, page__url__endswith="/p/1")
    outline, suggestions, node = (
        reverse(name, args=[site.name, snapshot.page_id, snapshot.pk])
        for name in ("page_outline", "page_suggestions", "page_node")
    )
    assert "Rope 1" in editor.get(outline).json()["texts"].values()
    assert "Rope 1" in editor.get(f"{node}?number=2").content.decode()

    def stopped(*_: object, **__: object) -> None:
        raise CallStopped("it takes more than 5 seconds of a processor")

    monkeypatch.setattr(stored, "call_limited", stopped)
    assert {"": []} == editor.get(suggestions).json()
    assert ["too_heavy"] == list(
        Snapshot.objects.filter(pk=snapshot.pk).values_list("problem", flat=True)
    )
    assert [404, 404, 404] == [
        editor.get(address).status_code for address in (outline, node, suggestions)
    ]
    annotating = editor.get(reverse("annotate_page", args=[site.name, snapshot.page_id]))
    assert "too heavy to read" in annotating.content.decode()
