"""Layouts live in a cluster: stored with it, followed by arrivals, split off by people."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from clustering.models import Cluster, ClusterChange, Clustering, ClusterLayout, PageMembership
from clustering.services.clusters.arrivals import assign_arrivals
from clustering.services.clusters.cluster_changes import redo_change, undo_change
from clustering.services.clusters.clustering_store import delete_clusterings
from clustering.services.clusters.layouts import ShownLayout, layouts_by_cluster, split_off_layout
from tests.apps.clustering.api_cast import caller
from tests.apps.clustering.layouting import (
    PHOTO,
    PLAIN,
    cluster_ropes,
    register_layouting,
    rope_cluster,
    ropes,
    store_ropes,
    words_in,
)
from tests.apps.core.test_commands import call, fail
from vertex.core.models import Job, Role, Site

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.both_databases,
    pytest.mark.usefixtures("_layouting"),
]


@pytest.fixture
def _layouting(monkeypatch: pytest.MonkeyPatch) -> None:
    register_layouting(monkeypatch)


@pytest.fixture
def site() -> Site:
    return ropes()


def layouts_of(site: Site) -> list[ShownLayout]:
    current = Clustering.objects.get(site=site, is_current=True)
    return layouts_by_cluster(current).get(rope_cluster(site).pk, [])


def split_photos(site: Site) -> tuple[ClusterChange, Cluster]:
    """Split the ropes with a photo off; return the change and their cluster."""
    (photo,) = [shown.layout for shown in layouts_of(site) if shown.layout.name == PHOTO]
    change = split_off_layout(cluster=rope_cluster(site), layout=photo.pk, actor=None)
    return change, Cluster.objects.get(is_hand_made=True)


class TestStored:
    def test_layouts_are_kept_with_what_they_have_and_an_example(self, site: Site) -> None:
        plain, photo = layouts_of(site)

        assert [(plain.layout.name, plain.n_pages), (photo.layout.name, photo.n_pages)] == [
            (PLAIN, 5),
            (PHOTO, 3),
        ]
        assert (plain.layout.has, photo.layout.has) == ([], ["a photo"])
        assert (plain.layout.lacks, photo.layout.lacks) == (["a photo"], [])
        assert photo.layout.example is not None
        assert photo.layout.example.url.rsplit("/", 1)[1] in {"5", "6", "7"}

    def test_a_cluster_whose_pages_all_look_alike_has_none(self, site: Site) -> None:
        current = Clustering.objects.get(site=site)

        assert set(layouts_by_cluster(current)) == {rope_cluster(site).pk}
        assert not ClusterLayout.objects.exclude(cluster=rope_cluster(site)).exists()

    def test_pages_that_come_later_find_their_layout(self, site: Site) -> None:
        store_ropes(site, [20], [21, 22])
        assign_arrivals(site=site)

        assert [shown.n_pages for shown in layouts_of(site)] == [6, 5]

    def test_a_clustering_is_deleted_with_its_layouts(self, site: Site) -> None:
        delete_clusterings([Clustering.objects.get(site=site).pk])

        assert not ClusterLayout.objects.exists()

    def test_a_deleted_layout_leaves_its_pages(self, site: Site) -> None:
        n_pages = PageMembership.objects.count()
        ClusterLayout.objects.all().delete()

        assert PageMembership.objects.filter(layout=None).count() == n_pages


class TestSplitOff:
    def test_its_pages_become_a_cluster_of_their_own(self, site: Site) -> None:
        _, part = split_photos(site)

        assert words_in(part) == {"5", "6", "7"}
        assert words_in(rope_cluster(site)) == {"0", "1", "2", "3", "4"}
        assert part.title.endswith("with a photo")
        assert layouts_of(site) == []

    def test_its_pages_are_drawn_by_one_job(self, site: Site) -> None:
        split_photos(site)
        drawing = Job.objects.filter(task="clustering.draw_thumbnails", site=site)
        assert 1 == drawing.count()

        cluster_ropes(site)
        undo_change(change=ClusterChange.objects.get(), actor=None)
        split_off_layout(
            cluster=rope_cluster(site), layout=layouts_of(site)[0].layout.pk, actor=None
        )
        assert 1 == drawing.count()

    def test_every_later_clustering_repeats_it(self, site: Site) -> None:
        _, part = split_photos(site)
        store_ropes(site, [20], [21])
        cluster_ropes(site)

        assert words_in(part) == {"5", "6", "7", "21"}
        assert "20" in words_in(rope_cluster(site))

    def test_pages_that_come_later_follow_their_layout(self, site: Site) -> None:
        _, part = split_photos(site)
        store_ropes(site, [20], [21])
        assign_arrivals(site=site)

        assert words_in(part) == {"5", "6", "7", "21"}

    def test_it_can_be_undone_and_redone(self, site: Site) -> None:
        change, part = split_photos(site)

        undo_change(change=change, actor=None)
        assert len(words_in(rope_cluster(site))) == 8
        assert len(layouts_of(site)) == 2

        redo_change(change=change, actor=None)
        assert words_in(part) == {"5", "6", "7"}

    def test_a_layout_of_another_cluster_is_refused(self, site: Site) -> None:
        news = Cluster.objects.exclude(pk=rope_cluster(site).pk).get()
        photo = layouts_of(site)[1].layout

        with pytest.raises(ValidationError, match="no such layout"):
            split_off_layout(cluster=news, layout=photo.pk, actor=None)
        assert not ClusterChange.objects.exists()


class TestSplitLayoutCommand:
    def test_the_pages_that_moved_are_written_and_undo_moves_them_back(self, site: Site) -> None:
        name = rope_cluster(site).name
        lines, notices = call("split_layout", "shop", name, PHOTO)
        part = Cluster.objects.get(is_hand_made=True)

        assert {(f"{site.root_url}p/{n}", part.name) for n in (5, 6, 7)} == {
            (line["url"], line["cluster"]) for line in lines
        }
        assert "3 pages moved" in notices

        lines, _ = call("split_layout", "shop", name, "--undo")
        assert {name} == {line["cluster"] for line in lines}
        assert len(words_in(rope_cluster(site))) == 8
        assert "nothing can be taken back" in fail("split_layout", "shop", name, "--undo")

    def test_what_is_not_there_is_told_with_what_is(self, site: Site) -> None:
        name = rope_cluster(site).name

        assert f"it has: {PLAIN}, {PHOTO}" in fail("split_layout", "shop", name, "with map")
        assert "no cluster 'nowhere'" in fail("split_layout", "shop", "nowhere", PHOTO)
        assert not ClusterChange.objects.exists()


def test_the_api_splits_a_layout_off_and_undoes_it(site: Site) -> None:
    edda = caller("edda", Role.EDITOR, site=site)
    name = rope_cluster(site).name
    changes = "sites/shop/cluster-changes/"
    split = edda.post(changes, {"kind": "split_off", "cluster": name, "layout": PHOTO})

    assert (201, "split") == (split.status_code, split.json()["change"]["kind"])
    assert words_in(rope_cluster(site)) == {"0", "1", "2", "3", "4"}
    assert 400 == edda.post(changes, {"kind": "split_off", "cluster": name}).status_code
    again = edda.post(changes, {"kind": "split_off", "cluster": name, "layout": PHOTO})
    assert (400, True) == (again.status_code, "has no layout" in again.json()["error"]["message"])

    edda.post(f"{changes}{split.json()['change']['id']}/undo/")
    assert len(words_in(rope_cluster(site))) == 8
