"""What a site offers a clustering beside its pages."""

from __future__ import annotations

import pytest
from django.db import transaction
from django.utils import timezone

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.grouping import ClusteringInputs
from clustering.services.clusters import clustering_inputs
from clustering.services.clusters.clustering_inputs import collect_inputs
from clustering.services.pages.pages import Visit, prepare_visits, store_visits
from clustering.services.pages.stored_pages import sample_pages, stored_pages
from tests.apps.clustering.demo_sites import demo_site
from vertex.core.models import Site

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def inputs_of(site: Site, n_pages: int) -> ClusteringInputs:
    pages = sample_pages(stored_pages(site), n_pages)
    return collect_inputs(site, pages, CLUSTERERS["auto"])


@pytest.mark.parametrize("n_pages", [5, 60])
def test_links_to_few_pages_are_those_that_are_found_among_all_links(
    n_pages: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = demo_site("alpine-shop", n=60)
    page = stored_pages(site)[7]
    old = Visit(f"{page.url}-old", b"<p>x", timezone.now(), final_url=page.url)
    links = f"<a href='{page.url}-old'>x</a><a href='{page.url}'>y</a>" * 3
    new = Visit(f"{site.root_url}new", links.encode(), timezone.now(), content_type="text/html")
    with transaction.atomic():
        store_visits(site=site, prepared=prepare_visits([old, new]))
    monkeypatch.setattr(clustering_inputs, "MAX_INBOUND", 2)
    monkeypatch.setattr(clustering_inputs, "PAGES_PER_QUERY", 3)
    few = inputs_of(site, n_pages)
    monkeypatch.setattr(clustering_inputs, "MAX_WANTED", 0)
    among_all = inputs_of(site, n_pages)

    assert few.links
    assert (among_all.links, among_all.redirected) == (few.links, few.redirected)
