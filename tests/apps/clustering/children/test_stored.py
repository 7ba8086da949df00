"""A page that ends the processes that read it is marked, says so, and is left out from then on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

import vertex.running.page_requests  # noqa: F401 - before the class that it extends is replaced
from annotation.services.page.stored_pages import PageUnfit, read_page
from clustering.dom.frame import outlines
from clustering.models import Snapshot
from clustering.services.children import limits, stored
from clustering.services.children.limits import CallStopped, LimitedChild, end_idle_children
from clustering.services.children.stored import PageTooHeavy, call_on_page
from clustering.services.pages import pages
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.children import burdens
from tests.apps.clustering.demo_sites import store
from tests.apps.rules.learning.test_rule_views import client_of
from vertex.core.models import Role

pytestmark = pytest.mark.django_db
HEAVY = b"<p>heavy</p>" * 20


@pytest.fixture
def snapshots(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Snapshot]]:
    """Two pages of the same bytes and another one, and children of one second."""
    end_idle_children()
    monkeypatch.setattr(limits, "LimitedChild", lambda: LimitedChild(cpu_seconds=1))
    site = site_of("shop")
    store(
        site,
        [("a", HEAVY, "text/html"), ("b", HEAVY, "text/html"), ("c", b"<p>light", "text/html")],
    )
    yield list(Snapshot.objects.order_by("page__url").select_related("page__site"))
    end_idle_children()


def test_it_gets_the_bytes_of_the_page(snapshots: list[Snapshot]) -> None:
    assert [len(HEAVY), "text/html"] == call_on_page(snapshots[0], burdens.length)[:2]
    assert call_on_page(snapshots[0], outlines.draw_outline).startswith("<svg")


def test_a_page_that_ends_two_children_is_marked_wherever_it_stands(
    snapshots: list[Snapshot], monkeypatch: pytest.MonkeyPatch
) -> None:
    viewer = client_of(Role.EDITOR)
    address = reverse("page_frame", args=[snapshots[0].page.site.name, snapshots[0].pk])
    assert "heavy" in viewer.get(address).content.decode()
    with pytest.raises(PageTooHeavy, match="more than 1 seconds"):
        call_on_page(snapshots[0], burdens.heavy)

    problems = list(Snapshot.objects.order_by("page__url").values_list("problem", flat=True))
    assert ["too_heavy", "too_heavy", ""] == problems
    calls: list[object] = []
    monkeypatch.setattr(stored, "call_limited", lambda *args, **_: calls.append(args))
    for snapshot in Snapshot.objects.filter(problem="too_heavy"):
        with pytest.raises(PageTooHeavy, match="left out"):
            call_on_page(snapshot, outlines.draw_outline)
        with pytest.raises(PageUnfit, match="too heavy to read"):
            read_page(snapshot)
    assert [] == calls
    shown = viewer.get(address).content.decode()
    assert "cannot be shown: reading it took too much" in shown
    assert "Too heavy to read" in page_of(viewer, snapshots[0])
    call_on_page(snapshots[2], outlines.draw_outline)
    assert 1 == len(calls)


def test_a_busy_machine_marks_nothing(
    snapshots: list[Snapshot], monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: Any, **__: Any) -> None:
        raise limits.ChildrenBusy

    monkeypatch.setattr(stored, "call_limited", busy)
    with pytest.raises(limits.ChildrenBusy):
        call_on_page(snapshots[0], outlines.draw_outline)
    assert not Snapshot.objects.exclude(problem="").exists()
    monkeypatch.undo()
    monkeypatch.setattr(stored, "call_limited", stopped)
    with pytest.raises(PageTooHeavy):
        call_on_page(snapshots[0], outlines.draw_outline)


def stopped(*_: Any, **__: Any) -> None:
    raise CallStopped("it takes too much")


def page_of(viewer: Client, snapshot: Snapshot) -> str:
    site = snapshot.page.site.name
    return viewer.get(reverse("page", args=[site, snapshot.page_id])).content.decode()


def test_a_page_that_is_too_heavy_is_not_taken_and_the_others_of_its_batch_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    end_idle_children()
    monkeypatch.setattr(limits, "LimitedChild", lambda: LimitedChild(cpu_seconds=1))
    monkeypatch.setattr(pages, "read_links", burdens.read_links_unless_heavy)
    site = site_of("shop")
    light = b"<p>light <a href=/x>x</a>"
    store(site, [("a", light, ""), ("b", b"<p>heavy", ""), ("c", b"<p>odd", ""), ("d", light, "")])

    stored_pages = {page.url.rpartition("/")[2]: page for page in site.pages.all()}
    assert {"a": "stored", "b": "failed", "c": "failed", "d": "stored"} == {
        name: page.state for name, page in stored_pages.items()
    }
    assert "reading it was stopped twice: it takes more than 1 seconds" in stored_pages["b"].reason
    assert "LookupError: no such thing" == stored_pages["c"].reason
    assert 1 == stored_pages["d"].links.count()
    end_idle_children()
