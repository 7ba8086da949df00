"""Clusterings and clusters through the API."""

from __future__ import annotations

from typing import Any

import pytest

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.models import Clustering, Page
from tests.apps.clustering.api_cast import Caller, caller
from tests.apps.clustering.demo_sites import cluster, shop
from vertex.core.models import Job, Role, Site

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Caller:
    return caller("ada", Role.ADMINISTRATOR)


@pytest.fixture
def site() -> Site:
    return shop()


def results(ada: Caller, path: str) -> list[dict[str, Any]]:
    answer = ada.get(path)
    assert 200 == answer.status_code, answer.content
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def test_the_algorithms_are_listed_with_what_they_need(ada: Caller, site: Site) -> None:
    rows = results(ada, "sites/shop/algorithms/")

    assert list(CLUSTERERS) == [row["name"] for row in rows]
    assert all(row["sentence"].endswith(".") and row["title"] for row in rows)
    assert {"keyclus": ["clicks"], "uxclust": ["links"]}.items() <= {
        row["name"]: row["needs"] for row in rows
    }.items()
    assert "partial(func" not in str(rows)


def test_a_clustering_is_started_as_a_job(ada: Caller, site: Site) -> None:
    answer = ada.post(
        "sites/shop/clusterings/", {"algorithm": "shingles", "n_sample": 5, "compare": True}
    )

    assert 202 == answer.status_code
    params = {"algorithm": "shingles", "n_sample": 5, "compare": True}
    assert params | {"parameters": {"shingle_length": 10}} == Job.objects.get().params
    assert 409 == ada.post("sites/shop/clusterings/", {}).status_code


def test_parameters_are_chosen_by_their_names(ada: Caller, site: Site) -> None:
    body = {"algorithm": "keyclus", "parameters": {"k": 2, "splits_tabs": False}}
    assert 202 == ada.post("sites/shop/clusterings/", body).status_code
    job = Job.objects.get().params["parameters"]

    assert (2, False, 0.97) == (job["k"], job["splits_tabs"], job["occurrence_threshold"])


def test_a_bad_parameter_says_what_may_be_chosen(ada: Caller, site: Site) -> None:
    body = {"algorithm": "shingles", "parameters": {"shingle_length": "3"}}
    answer = ada.post("sites/shop/clusterings/", body)

    assert 400 == answer.status_code
    assert "shingle_length must be a whole number from 1 to 100" in answer.content.decode()


def test_the_algorithms_are_listed_with_their_parameters(ada: Caller, site: Site) -> None:
    rows = {row["name"]: row["parameters"] for row in results(ada, "sites/shop/algorithms/")}

    assert ("shingle_length", 10, 1, 100) == tuple(
        rows["shingles"][0][key] for key in ("name", "default", "least", "most")
    )
    assert [] == rows["auto"]


def test_a_clustering_shows_its_parameters(ada: Caller, site: Site) -> None:
    clustering = cluster(site, algorithm="shingles", parameters={"shingle_length": 3})

    assert {"shingle_length": 3} == ada.get(f"sites/shop/clusterings/{clustering.pk}/").json()[
        "parameters"
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"algorithm": "magic"},
        {"n_sample": 0},
        {"compare": "yes"},
        {"colour": 1},
        {"parameters": {"k": 1}},
        {"parameters": 3},
    ],
)
def test_what_cannot_be_started_is_refused(ada: Caller, site: Site, body: dict[str, Any]) -> None:
    assert 400 == ada.post("sites/shop/clusterings/", body).status_code
    assert not Job.objects.exists()


def test_clusterings_are_listed_shown_made_current_and_dropped(ada: Caller, site: Site) -> None:
    first, beside = cluster(site), cluster(site, algorithm="common_paths", compare=True)

    rows = results(ada, "sites/shop/clusterings/")
    assert [(beside.pk, False), (first.pk, True)] == [
        (row["id"], row["is_current"]) for row in rows
    ]
    assert (12, 0) == (rows[0]["n_pages"], rows[0]["n_unassigned"])
    assert "model" not in rows[0]
    assert rows[0] == ada.get(f"sites/shop/clusterings/{beside.pk}/").json()
    assert ada.post(f"sites/shop/clusterings/{beside.pk}/make-current/").json()["is_current"]
    assert 400 == ada.delete(f"sites/shop/clusterings/{beside.pk}/").status_code
    assert 200 == ada.delete(f"sites/shop/clusterings/{first.pk}/").status_code
    assert [beside] == list(Clustering.objects.all())
    assert 404 == ada.get(f"sites/shop/clusterings/{first.pk}/").status_code


def test_clusters_are_listed_with_their_figures(ada: Caller, site: Site) -> None:
    cluster(site)
    first, second = results(ada, "sites/shop/clusters/")
    answer = ada.get("sites/shop/clusters/?limit=1").json()

    assert (6, 6, 5) == (first["n_pages"], second["n_pages"], len(first["examples"]))
    assert [first] == answer["results"]
    assert [second] == results(ada, answer["next"])
    assert first == ada.get(f"sites/shop/clusters/{first['name']}/").json()
    assert 404 == ada.get("sites/shop/clusters/none-such/").status_code


def test_the_pages_of_a_cluster_come_in_pages(ada: Caller, site: Site) -> None:
    cluster(site)
    name = results(ada, "sites/shop/clusters/")[0]["name"]
    answer = ada.get(f"sites/shop/clusters/{name}/pages/?limit=4").json()
    rows = answer["results"] + results(ada, answer["next"])

    assert 6 == len({row["page"] for row in rows})
    assert {(name, 0.0)} == {(row["found"], row["distance"]) for row in rows}
    assert Page.objects.get(pk=rows[0]["page"]).url == rows[0]["url"]


def test_a_title_is_given(ada: Caller, site: Site) -> None:
    cluster(site)
    name = results(ada, "sites/shop/clusters/")[0]["name"]
    answer = ada.patch(f"sites/shop/clusters/{name}/", {"title": "Ropes"})

    assert (200, "Ropes", name) == (
        answer.status_code,
        answer.json()["title"],
        answer.json()["name"],
    )
    assert "Ropes" == ada.get(f"sites/shop/clusters/{name}/").json()["title"]
    assert 400 == ada.patch(f"sites/shop/clusters/{name}/", {"title": " "}).status_code


def test_who_may_only_look_changes_nothing(site: Site) -> None:
    clustering = cluster(site)
    eve, stranger = caller("eve", Role.VIEWER, site=site), caller("sam")
    name = results(eve, "sites/shop/clusters/")[0]["name"]

    assert 403 == eve.post("sites/shop/clusterings/", {}).status_code
    assert 403 == eve.delete(f"sites/shop/clusterings/{clustering.pk}/").status_code
    assert 403 == eve.patch(f"sites/shop/clusters/{name}/", {"title": "Mine"}).status_code
    assert 404 == stranger.get("sites/shop/clusters/").status_code
