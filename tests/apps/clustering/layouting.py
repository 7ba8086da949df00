"""A clusterer with layouts: by the first word of addresses, apart by whether pages have a photo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.grouping import (
    Clusterer,
    ClusteringInputs,
    Grouping,
    GroupLayout,
    Model,
    Placed,
    RawPage,
    grouping_of,
)
from clustering.models import Cluster, Page
from clustering.services.clusters import observer_processes
from clustering.services.clusters.clusterings import clustering_request
from clustering.services.clusters.observer_child import observe_batch
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import articles, store
from vertex.core.models import Site
from vertex.core.services.jobs.requests import run_here

LAYOUTING = "layouting"
PHOTO, PLAIN = "with photo", "plain"
BODY = "<title>Rope {0}</title><h1>Rope {0}</h1><dl><dt>Price<dd>{0}.50<dt>Weight<dd>{0} kg</dl>{1}"


def observe(page: RawPage) -> tuple[str, bool]:
    return page.url.split("/")[3], b"<img" in page.body


def cluster_pages(
    _urls: Sequence[str], observations: Sequence[tuple[str, bool]], _inputs: ClusteringInputs
) -> Grouping:
    grouping = grouping_of([word for word, _ in observations])
    groups = []
    for group in grouping.groups:
        of_photo = [n for n in group.members if observations[n][1]]
        plain = [n for n in group.members if not observations[n][1]]
        layouts = [
            GroupLayout(PLAIN, plain, lacks=["a photo"]),
            GroupLayout(PHOTO, of_photo, ["a photo"]),
        ]
        groups.append(replace(group, layouts=layouts if of_photo and plain else ()))
    return Grouping(groups, (), "By the first word.", {})


def assign(_model: Model, observation: tuple[str, bool], _url: str) -> str | None:
    return observation[0]


def place(_model: Model, observation: tuple[str, bool], _url: str) -> Placed:
    return Placed(observation[0], PHOTO if observation[1] else PLAIN)


CLUSTERER = Clusterer(
    LAYOUTING,
    "Layouting",
    observe,
    cluster_pages,
    assign,
    sentence="Group pages by their first word and photo, for tests.",
    place_in_layout=place,
)


def register_layouting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the clusterer for a test."""
    monkeypatch.setitem(CLUSTERERS, LAYOUTING, CLUSTERER)
    # No child knows it.
    monkeypatch.setattr(observer_processes, "_ask", observe_batch)


def store_ropes(site: Site, plain: Sequence[int], with_photo: Sequence[int]) -> None:
    """Store product pages, of which some have a photo."""
    bodies = [(n, "") for n in plain] + [(n, "<img src=rope.png>") for n in with_photo]
    store(site, [(f"p/{n}", BODY.format(n, part).encode(), "text/html") for n, part in bodies])


def ropes(name: str = "shop") -> Site:
    """Return a clustered site: five plain ropes, three with a photo, three news of one layout."""
    site = site_of(name)
    store_ropes(site, range(5), range(5, 8))
    store(site, articles(range(3)))
    cluster_ropes(site)
    return site


def cluster_ropes(site: Site) -> None:
    run_here(clustering_request(site=site, algorithm=LAYOUTING))


def rope_cluster(site: Site) -> Cluster:
    """Return the cluster of the ropes, by one that has no photo."""
    page = Page.objects.get(site=site, url__endswith="/p/0")
    cluster = page.memberships.get(clustering__is_current=True).cluster
    assert cluster is not None
    return cluster


def words_in(cluster: Cluster) -> set[str]:
    """Return the last words of the addresses of a cluster's pages."""
    members = cluster.memberships.filter(clustering__is_current=True)
    return {url.rsplit("/", 1)[1] for url in members.values_list("page__url", flat=True)}
