"""The kind of each cluster: found with the clustering, given by people, written by a command."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from clustering.models import Cluster, ClusterFigures
from clustering.services.clusters.cluster_changes import move_to_new_cluster
from clustering.services.clusters.kinds import (
    is_worth_annotating,
    kind_of,
    set_annotating,
    set_kind,
)
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import store
from tests.apps.clustering.layouting import (
    PHOTO,
    cluster_ropes,
    register_layouting,
    rope_cluster,
    ropes,
    words_in,
)
from vertex.core.models import AuditEntry, Site

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_layouting")]

GONE = b"<title>Shop</title><h1>Page not found</h1>"


@pytest.fixture
def _layouting(monkeypatch: pytest.MonkeyPatch) -> None:
    register_layouting(monkeypatch)


@pytest.fixture
def site() -> Site:
    return ropes()


def figures_of(cluster: Cluster) -> ClusterFigures:
    return ClusterFigures.objects.get(cluster=cluster, clustering__is_current=True)


def kind_lines(site: Site) -> list[dict[str, Any]]:
    output = io.StringIO()
    call_command("cluster_kinds", site.name, stdout=output)
    return [json.loads(line) for line in output.getvalue().splitlines()]


def test_the_kind_is_stored_with_the_figures(site: Site) -> None:
    kind = kind_of(figures_of(rope_cluster(site)))

    assert (kind.kind, kind.is_own) == ("detail", False)
    assert kind.certainty is not None
    assert 0.5 <= kind.certainty <= 1


def test_pages_that_are_not_there_are_no_detail_pages() -> None:
    site = site_of("gone")
    store(site, [(f"x/{n}", GONE, "text/html") for n in range(3)])
    cluster_ropes(site)
    figures = ClusterFigures.objects.get(clustering__site=site)

    assert figures.kind == "error"
    assert not is_worth_annotating(figures)


def test_a_persons_kind_holds_over_clusterings_and_can_be_taken_back(site: Site) -> None:
    cluster = rope_cluster(site)
    assert set_kind(cluster=cluster, kind="list", actor=None) == ""
    cluster_ropes(site)

    kind = kind_of(figures_of(cluster))
    assert (kind.kind, kind.certainty, kind.is_own) == ("list", 1.0, True)
    assert AuditEntry.objects.filter(action="cluster.kind_set").exists()

    assert set_kind(cluster=cluster, kind="", actor=None) == "list"
    assert kind_of(figures_of(cluster)).kind == "detail"


def test_a_word_that_is_no_kind_is_refused(site: Site) -> None:
    with pytest.raises(ValidationError, match="'thing' is no kind; use one of detail, list"):
        set_kind(cluster=rope_cluster(site), kind="thing", actor=None)


def test_what_a_person_says_of_annotating_comes_before_the_kind(site: Site) -> None:
    cluster = rope_cluster(site)
    assert is_worth_annotating(figures_of(cluster))

    set_annotating(cluster=cluster, annotating="dismissed", actor=None)
    cluster_ropes(site)
    assert not is_worth_annotating(figures_of(cluster))

    set_kind(cluster=cluster, kind="error", actor=None)
    set_annotating(cluster=cluster, annotating="wanted", actor=None)
    assert is_worth_annotating(figures_of(cluster))

    set_annotating(cluster=cluster, annotating="", actor=None)
    assert not is_worth_annotating(figures_of(cluster))


def test_a_cluster_made_by_hand_gets_a_kind_by_its_pages(site: Site) -> None:
    pages = list(rope_cluster(site).memberships.values_list("page", flat=True))[:4]
    move_to_new_cluster(site=site, pages=pages, title="Some", actor=None)
    some = Cluster.objects.get(title="Some")

    assert len(words_in(some)) == 4
    assert figures_of(some).kind == "detail"


def test_the_command_writes_kinds_and_layouts(site: Site) -> None:
    first, second = kind_lines(site)

    assert first["cluster"] == rope_cluster(site).name
    assert list(first) == ["cluster", "title", "kind", "certainty", "n_pages", "layouts"]
    assert (first["kind"], first["n_pages"]) == ("detail", 8)
    assert first["layouts"][1] == {"name": PHOTO, "n_pages": 3, "has": ["a photo"]}
    assert second["layouts"] == []


def test_the_command_names_the_way_out_where_nothing_is_clustered() -> None:
    site = site_of("new")
    with pytest.raises(CommandError, match=r"cluster it with: manage\.py cluster_site new"):
        call_command("cluster_kinds", site.name)
