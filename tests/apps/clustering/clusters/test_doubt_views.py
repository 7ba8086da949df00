"""The card “Are these one?”: what it shows, who may answer, what comes next."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from clustering.models import ClusterAnswer, Page
from clustering.services.clusters.doubts import store_answer, unsettled_doubts
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import cluster, store
from tests.apps.clustering.doubting import (
    DOUBTING,
    cluster_again,
    doubtful_site,
    register_doubting,
)
from vertex.core.models import Job, Membership, Role, Site, User

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_doubting")]


@pytest.fixture
def _doubting(monkeypatch: pytest.MonkeyPatch) -> None:
    register_doubting(monkeypatch)


@pytest.fixture
def site() -> Site:
    return doubtful_site()


def visitor(role: Role) -> Client:
    user = User.objects.create_user(role.value)
    Membership.objects.create(user=user, role=role)
    client = Client()
    client.force_login(user)
    return client


def text_of(response: Any) -> str:
    return " ".join(response.content.decode().split())


def names(site: Site) -> list[str]:
    return [doubt.doubt for doubt in unsettled_doubts(site)]


def shown_on(client: Client, address: str) -> str:
    """Return the doubt whose buttons a page shows; blank for none."""
    form = re.search(r"/doubts/([0-9a-f]+)/settle/", client.get(address).content.decode())
    return form[1] if form else ""


@pytest.mark.parametrize("page", ["site", "clusters", "doubts"])
def test_the_first_doubt_stands_on_each_page(site: Site, page: str) -> None:
    address = reverse(page, args=["shop"])
    text = text_of(visitor(Role.EDITOR).get(address))

    assert "Are these one?" in text
    assert "<strong>42 %</strong> that these two are one; they are kept apart now." in text
    assert "one of 2 decisions most worth a look" in text
    assert "The same fields." in text.partition("For one")[2].partition("Against")[0]
    assert "Other addresses." in text.partition("Against")[2]
    assert "<strong>3 pages</strong>" in text
    assert 'title="Rope 0"' in text
    assert ('data-key="s"' in text, 'data-key="d"' in text) == (True, True)
    assert names(site)[0] == shown_on(visitor(Role.REVIEWER), address)


def test_a_viewer_looks_and_does_not_decide(site: Site) -> None:
    viewer = visitor(Role.VIEWER)
    text = text_of(viewer.get(reverse("doubts", args=["shop"])))

    assert "An editor decides." in text
    assert 'data-key="s"' not in text
    settle = reverse("settle_doubt", args=["shop", names(site)[0]])
    assert 403 == viewer.post(settle, {"answer": "same"}).status_code
    assert not ClusterAnswer.objects.exists()


def test_after_an_answer_the_next_doubt_comes_with_an_undo(site: Site) -> None:
    first, second = names(site)
    editor = visitor(Role.EDITOR)
    here = reverse("clusters", args=["shop"])
    settle = reverse("settle_doubt", args=["shop", first])
    response = editor.post(settle, {"answer": "same", "next": here}, follow=True)

    text = text_of(response)
    assert [(here, 302)] == response.redirect_chain
    assert "Kept: these two are one. The clusters follow in a moment." in text
    answer = ClusterAnswer.objects.get()
    assert (True, "editor") == (answer.is_same, str(answer.given_by))
    undo = reverse("undo_answer", args=["shop", answer.pk])
    assert f'action="{undo}"' in text
    doubts = text_of(editor.get(reverse("doubts", args=["shop"])))
    assert "The site is clustered again by the answers." in doubts
    assert second == shown_on(editor, here)
    back = text_of(editor.post(undo, {"next": here}, follow=True))
    assert "The answer “same” is undone." in back
    assert first == shown_on(editor, here)
    redo = reverse("redo_answer", args=["shop", answer.pk])
    assert "is in force again" in text_of(editor.post(redo, {"next": here}, follow=True))


def test_later_leads_to_the_next_and_in_the_end_to_the_beginning(site: Site) -> None:
    first, second = names(site)
    editor = visitor(Role.EDITOR)
    here = reverse("doubts", args=["shop"])

    assert f'href="{here}?past={first}#doubts"' in text_of(editor.get(here))
    assert second == shown_on(editor, f"{here}?past={first}")
    text = text_of(editor.get(f"{here}?past={second}"))
    assert "You put off the rest" in text
    assert "2 doubts still wait for an answer" in text
    assert first == shown_on(editor, f"{here}?past=unknown")


def test_no_other_doubt_takes_the_place_of_the_one_at_hand(site: Site) -> None:
    first, second = names(site)
    here = reverse("doubts", args=["shop"])
    editor = visitor(Role.EDITOR)
    assert second == shown_on(editor, f"{here}?at={second}")
    store_answer(site=site, doubt=first, is_same=False, actor=None)
    cluster_again(site)

    text = text_of(editor.get(f"{here}?at={first}"))
    assert "This one is decided" in text
    assert 'data-key="s"' not in text
    assert second == shown_on(editor, here)


def test_a_refusal_says_why_and_changes_nothing(site: Site) -> None:
    name = names(site)[0]
    editor = visitor(Role.EDITOR)
    settle = reverse("settle_doubt", args=["shop", name])

    assert "Choose whether" in text_of(editor.post(settle, {"answer": "maybe"}, follow=True))
    store(site, [("books/new", b"<html><body><h1>New</h1></body></html>", "text/html")])
    cluster(site, algorithm=DOUBTING)
    text = text_of(editor.post(settle, {"answer": "same"}, follow=True))
    assert f"The doubt {name} belongs to an earlier clustering of shop" in text
    assert not ClusterAnswer.objects.exists()


def test_an_answer_that_overrules_another_one_says_so(site: Site) -> None:
    answer = store_answer(site=site, doubt=names(site)[0], is_same=True, actor=None).answer
    ClusterAnswer.objects.filter(pk=answer.pk).update(doubt="another")
    settle = reverse("settle_doubt", args=["shop", names(site)[0]])
    editor = visitor(Role.EDITOR)
    text = text_of(editor.post(settle, {"answer": "different"}, follow=True))

    assert "It overrules 1 earlier answer that says otherwise." in text
    changes = text_of(editor.get(reverse("cluster_changes", args=["shop"])))
    assert ("Overruled" in changes, "In force" in changes) == (True, True)


def test_both_sets_can_be_opened(site: Site) -> None:
    viewer = visitor(Role.VIEWER)
    address = reverse("doubt", args=["shop", names(site)[0]])
    assert f'href="{address}"' in text_of(viewer.get(reverse("doubts", args=["shop"])))
    text = text_of(viewer.get(address))

    for page in Page.objects.filter(url__contains="/books/"):
        assert f'href="{reverse("page", args=["shop", page.pk])}"' in text
    assert 404 == viewer.get(reverse("doubt", args=["shop", "unknown"])).status_code


def test_where_the_clusters_lag_behind_a_button_starts_the_job(site: Site) -> None:
    store_answer(site=site, doubt=names(site)[0], is_same=True, actor=None)
    editor = visitor(Role.EDITOR)
    here = reverse("doubts", args=["shop"])
    assert "The clusters do not follow all answers yet." in text_of(editor.get(here))
    follow = reverse("follow_answers", args=["shop"])
    assert "the job is on its way" in text_of(editor.post(follow, {"next": here}, follow=True))

    assert Job.objects.unfinished().filter(task="clustering.cluster_site").exists()
    cluster_again(site)
    assert "do not follow" not in text_of(editor.get(here))
    assert "follow all answers" in text_of(editor.post(follow, {"next": here}, follow=True))


def test_when_all_is_settled_nothing_is_close_to_even(site: Site) -> None:
    viewer = visitor(Role.VIEWER)
    for name in names(site):
        store_answer(site=site, doubt=name, is_same=False, actor=None)
    cluster_again(site)

    text = text_of(viewer.get(reverse("doubts", args=["shop"])))
    assert "Nothing here needs a look." in text
    assert "2 answers of people are kept" in text
    assert "Nothing here needs a look." in text_of(viewer.get(reverse("site", args=["shop"])))


def test_an_algorithm_without_doubts_shows_no_card(site: Site) -> None:
    cluster(site, algorithm="common_paths")
    viewer = visitor(Role.VIEWER)

    assert 'id="doubts"' not in text_of(viewer.get(reverse("clusters", args=["shop"])))
    text = text_of(viewer.get(reverse("doubts", args=["shop"])))
    assert "has no doubts. The default, auto, says where it has any." in text


def test_a_site_without_clusters_has_no_doubts_yet() -> None:
    site_of("bare")
    text = text_of(visitor(Role.VIEWER).get(reverse("doubts", args=["bare"])))
    assert "The pages are not grouped yet" in text
