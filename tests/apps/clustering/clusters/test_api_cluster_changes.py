"""Programs change clusters, take changes back, give verdicts and fetch the truth file."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from clustering.models import Cluster, ClusterChange, ClusterReview
from tests.apps.clustering.api_cast import Caller, caller
from tests.apps.clustering.cluster_cast import Shop, pages_by_cluster, shop_of
from vertex.core.models import Job, Role

pytestmark = pytest.mark.django_db

CHANGES = "sites/shop/cluster-changes/"
FOUND = {"books": "abcd", "news": "xy"}


@pytest.fixture
def shop() -> Shop:
    return shop_of(FOUND)


@pytest.fixture
def edda(shop: Shop) -> Caller:
    return caller("edda", Role.EDITOR, site=shop.site)


def shown(shop: Shop) -> dict[str, str]:
    return pages_by_cluster(shop, shop.clustering)


def test_pages_are_moved_undone_and_redone(shop: Shop, edda: Caller) -> None:
    answer = edda.post(CHANGES, {"kind": "move", "pages": shop.pks("ab"), "to": "news"})
    assert 201 == answer.status_code
    change = answer.json()["change"]
    assert ("news", None) == (answer.json()["cluster"], answer.json()["job"])
    assert ("move", "news", None, 2, "edda", None) == tuple(
        change[name] for name in ("kind", "cluster", "into", "n_pages", "made_by", "undone_at")
    )
    assert {"books": "cd", "news": "abxy"} == shown(shop)

    undone = edda.post(f"{CHANGES}{change['id']}/undo/")
    assert (200, True) == (undone.status_code, undone.json()["undone_at"] is not None)
    assert FOUND == shown(shop)
    assert 400 == edda.post(f"{CHANGES}{change['id']}/undo/").status_code
    assert change == edda.post(f"{CHANGES}{change['id']}/redo/").json()
    assert {"books": "cd", "news": "abxy"} == shown(shop)


def test_a_new_cluster_a_merge_and_a_title(shop: Shop, edda: Caller) -> None:
    answer = edda.post(CHANGES, {"kind": "move", "pages": shop.pks("a"), "title": "Old books"})
    assert "old-books" == answer.json()["cluster"]
    merged = edda.post(CHANGES, {"kind": "merge", "cluster": "news", "into": "books"})
    assert (1, 2) == (len(shown(shop)["old-books"]), merged.json()["change"]["n_pages"])
    renamed = edda.post(CHANGES, {"kind": "rename", "cluster": "books", "title": "All books"})
    assert (201, None, None) == (
        renamed.status_code,
        renamed.json()["change"],
        renamed.json()["job"],
    )
    assert "All books" == Cluster.objects.get(name="books").title
    assert {"books": "bcdxy", "old-books": "a"} == shown(shop)


def test_a_split_is_a_job_and_one_at_a_time(shop: Shop, edda: Caller) -> None:
    answer = edda.post(CHANGES, {"kind": "split", "cluster": "books"})
    assert (201, "clustering.split_cluster") == (answer.status_code, answer.json()["job"]["task"])
    assert Job.State.DUE == Job.objects.get(pk=answer.json()["job"]["id"]).state
    assert 409 == edda.post(CHANGES, {"kind": "split", "cluster": "books"}).status_code


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"kind"}),
        ({"kind": "paint"}, {"kind"}),
        ({"kind": "move", "pages": [1]}, {"to"}),
        ({"kind": "move", "pages": [1], "to": "news", "title": "x"}, {"to"}),
        ({"kind": "move", "to": "news"}, {"pages"}),
        ({"kind": "move", "pages": ["1"], "to": "news"}, {"pages"}),
        ({"kind": "move", "pages": [2**63], "to": "news"}, {"pages.0"}),
        ({"kind": "move", "pages": [2**62], "to": "news"}, {"body"}),
        ({"kind": "move", "pages": [1], "to": "nowhere"}, {"to"}),
        ({"kind": "merge", "cluster": "books"}, {"into"}),
        ({"kind": "merge", "cluster": "books", "into": "books"}, {"body"}),
        ({"kind": "split", "cluster": "books", "title": "x"}, {"title"}),
        ({"kind": "rename", "cluster": "../x", "title": "x"}, {"cluster"}),
        ({"kind": "rename", "cluster": "books", "title": " "}, {"title"}),
    ],
)
def test_what_makes_no_sense_is_refused(
    shop: Shop, edda: Caller, body: Any, fields: set[str]
) -> None:
    response = edda.post(CHANGES, body)

    assert 400 == response.status_code
    assert fields == set(response.json()["error"]["fields"])
    assert FOUND == shown(shop)
    assert not ClusterChange.objects.exists()


def test_changes_are_listed_the_newest_first_in_pages(shop: Shop, edda: Caller) -> None:
    for letter in "abc":
        edda.post(CHANGES, {"kind": "move", "pages": shop.pks(letter), "to": "news"})
    first = edda.get(f"{CHANGES}?limit=2").json()
    second = edda.get(first["next"]).json()
    ids = [row["id"] for row in first["results"] + second["results"]]

    assert sorted(ids, reverse=True) == ids
    assert (3, None) == (len(ids), second["next"])


def test_clusters_and_changes_of_other_sites_are_not_found(shop: Shop, edda: Caller) -> None:
    other = shop_of({"elsewhere": "pq"}, name="other")
    change = ClusterChange.objects.create(
        site=other.site, kind="move", cluster=other.clusters["elsewhere"]
    )

    assert 404 == edda.post(f"{CHANGES}{change.pk}/undo/").status_code
    assert 404 == edda.get("sites/shop/clusters/elsewhere/review/").status_code
    assert 404 == edda.get("sites/other/cluster-changes/").status_code
    assert {"to"} == set(
        edda.post(CHANGES, {"kind": "move", "pages": shop.pks("a"), "to": "elsewhere"}).json()[
            "error"
        ]["fields"]
    )


def test_a_cluster_is_reviewed_judged_and_downloaded(shop: Shop, edda: Caller) -> None:
    address = "sites/shop/clusters/books/"
    review = edda.get(f"{address}review/?seed=7").json()
    assert {"random", "strangest"} == set(review)
    assert set(shop.pks("abcd")) == {page["id"] for page in review["random"]}
    assert {"id", "url", "normalized_url", "distance"} == set(review["strangest"][0])

    body = {
        "verdict": "one_type",
        "pages": shop.pks("abc"),
        "strangers": shop.pks("c"),
        "comment": "fine",
    }
    given = edda.post(f"{address}verdicts/", body)
    assert 201 == given.status_code
    assert body == {name: given.json()[name] for name in body}
    assert [given.json()] == edda.get(f"{address}verdicts/").json()["results"]

    download = edda.get("sites/shop/truth/")
    lines = [orjson.loads(line) for line in b"".join(download.streaming_content).splitlines()]
    assert ("application/x-ndjson", True) == (download["Content-Type"], download.streaming)
    assert [{"url": f"https://shop.example/{page}", "type": "books"} for page in "abd"] == lines


def test_a_verdict_on_pages_elsewhere_is_refused(shop: Shop, edda: Caller) -> None:
    response = edda.post(
        "sites/shop/clusters/books/verdicts/", {"verdict": "one_type", "pages": shop.pks("x")}
    )
    assert 400 == response.status_code
    assert "not in books any more" in response.json()["error"]["message"]
    assert not ClusterReview.objects.exists()


def test_viewers_see_and_change_nothing(shop: Shop) -> None:
    viewer = caller("vera", Role.VIEWER, site=shop.site)

    assert 200 == viewer.get(CHANGES).status_code
    assert 200 == viewer.get("sites/shop/truth/").status_code
    moved = viewer.post(CHANGES, {"kind": "move", "pages": shop.pks("a"), "to": "news"})
    assert 403 == moved.status_code
    assert FOUND == shown(shop)
