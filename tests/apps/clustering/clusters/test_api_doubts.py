"""Programs read doubts, answer them and take answers back."""

from __future__ import annotations

from typing import Any

import pytest

from clustering.models import ClusterAnswer
from tests.apps.clustering.api_cast import Caller, caller
from tests.apps.clustering.doubting import (
    DOUBTING,
    WHY,
    cluster_again,
    doubtful_site,
    register_doubting,
)
from vertex.core.models import Job, Role, Scope, Site

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_doubting")]
DOUBTS, ANSWERS = "sites/shop/doubts/", "sites/shop/doubt-answers/"


@pytest.fixture
def _doubting(monkeypatch: pytest.MonkeyPatch) -> None:
    register_doubting(monkeypatch)


@pytest.fixture
def site() -> Site:
    return doubtful_site()


@pytest.fixture
def edda(site: Site) -> Caller:
    return caller("edda", Role.EDITOR, site=site)


def doubts(who: Caller) -> list[dict[str, Any]]:
    answer = who.get(DOUBTS).json()
    assert answer["next"] is None
    results: list[dict[str, Any]] = answer["results"]
    return results


def test_doubts_are_listed_as_the_command_writes_them(edda: Caller, site: Site) -> None:
    first, second = doubts(edda)

    assert (0.42, False, 3, 3, WHY) == tuple(
        first[key] for key in ("probability", "joined", "n_left", "n_right", "why")
    )
    assert {f"{site.root_url}books/{n}" for n in range(3)} == set(first["left"])
    assert first["doubt"] != second["doubt"]


def test_a_doubt_is_settled_undone_and_redone(edda: Caller, site: Site) -> None:
    name = doubts(edda)[0]["doubt"]
    made = edda.post(ANSWERS, {"doubt": name, "is_same": True})
    assert 201 == made.status_code
    answer, job = made.json()["answer"], made.json()["job"]
    assert (name, True, True, "edda", DOUBTING, None) == tuple(
        answer[key] for key in ("doubt", "is_same", "holds", "given_by", "algorithm", "undone_at")
    )
    assert ("clustering.cluster_site", []) == (job["task"], made.json()["overruled"])
    assert name not in [doubt["doubt"] for doubt in doubts(edda)]
    assert [answer] == edda.get(ANSWERS).json()["results"]

    undone = edda.post(f"{ANSWERS}{answer['id']}/undo/")
    assert (200, False) == (undone.status_code, undone.json()["answer"]["holds"])
    assert undone.json()["answer"]["undone_at"] is not None
    assert name in [doubt["doubt"] for doubt in doubts(edda)]
    assert 400 == edda.post(f"{ANSWERS}{answer['id']}/undo/").status_code
    assert answer == edda.post(f"{ANSWERS}{answer['id']}/redo/").json()["answer"]


def test_an_answer_that_is_followed_already_starts_no_second_job(edda: Caller, site: Site) -> None:
    name = doubts(edda)[0]["doubt"]
    job = edda.post(ANSWERS, {"doubt": name, "is_same": True}).json()["job"]
    cluster_again(site)
    answer = ClusterAnswer.objects.get()
    again = edda.post(f"{ANSWERS}{answer.pk}/undo/").json()["job"]

    assert job["id"] != again["id"]
    assert 1 == Job.objects.unfinished().filter(task="clustering.cluster_site").count()


def test_errors_say_what_to_do(edda: Caller) -> None:
    name = doubts(edda)[0]["doubt"]
    unknown = edda.post(ANSWERS, {"doubt": "0123", "is_same": True})
    assert (400, True) == (unknown.status_code, "cluster_doubts shop" in unknown.content.decode())
    edda.post(ANSWERS, {"doubt": name, "is_same": True})
    twice = edda.post(ANSWERS, {"doubt": name, "is_same": False})
    assert (400, True) == (twice.status_code, "is settled: edda" in twice.content.decode())
    assert 400 == edda.post(ANSWERS, {"doubt": name, "is_same": "yes"}).status_code
    assert 404 == edda.post(f"{ANSWERS}999/undo/").status_code


def test_viewers_read_and_do_not_answer(site: Site) -> None:
    vera = caller("vera", Role.VIEWER, site=site)
    reader = caller("rosa", Role.EDITOR, site=site, scopes=[Scope.PAGES_READ])
    body = {"doubt": doubts(vera)[0]["doubt"], "is_same": True}

    assert [403, 403] == [who.post(ANSWERS, body).status_code for who in (vera, reader)]
    assert 404 == caller("nobody").get(DOUBTS).status_code
    assert not ClusterAnswer.objects.exists()
