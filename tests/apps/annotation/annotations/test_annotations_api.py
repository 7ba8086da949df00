"""Samples and annotations in the API."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Annotation, Sample
from annotation.services.annotations.annotated_values import AnnotatedValue
from annotation.services.annotations.annotating import annotate
from annotation.services.files import importing
from annotation.services.samples import sampling
from clustering.models import Page
from tests.apps.annotation.cast import attribute, cluster_of, product_page, said, shop
from tests.apps.clustering.api_cast import Caller, caller, site_of
from vertex.core.models import Job, Role, Scope, Site
from vertex.core.services.jobs.jobs import run_job

pytestmark = pytest.mark.django_db

LINE = {"url": "https://shop.example/p/1", "attribute": "name", "text": "Runner"}


@pytest.fixture
def site() -> Site:
    return shop()


@pytest.fixture
def pages(site: Site) -> list[Page]:
    return [product_page(site, f"p/{n}") for n in range(3)]


@pytest.fixture
def ada(site: Site) -> Caller:
    return caller("ada", Role.EDITOR, site=site)


def mark(page: Page, name: str = "name") -> None:
    snapshot = page.latest_snapshot
    assert snapshot is not None
    annotate(snapshot=snapshot, attribute=attribute(name), marks=[AnnotatedValue()], actor=None)


def listed(caller: Caller, address: str) -> list[dict[str, Any]]:
    answer = caller.get(address)
    assert 200 == answer.status_code, answer.json()
    rows: list[dict[str, Any]] = answer.json()["results"]
    return rows


class TestSamples:
    def test_are_drawn_by_a_job_and_listed(
        self, site: Site, pages: list[Page], ada: Caller
    ) -> None:
        cluster_of(site, "product", pages)
        answer = ada.post("sites/shop/samples/", {"size": 2})
        run_job(answer.json()["id"], sampling.draw_samples)

        assert 202 == answer.status_code
        rows = listed(ada, "samples/?site=shop&cluster=product")
        assert [("product", 1), ("product", 2)] == [(row["cluster"], row["rank"]) for row in rows]
        assert {"url", "gain", "scheme", "snapshot", "drawn_at"} <= set(rows[0])

    def test_of_other_sites_are_not_seen(self, site: Site, pages: list[Page]) -> None:
        cluster = cluster_of(site, "product", pages)
        snapshot = pages[0].snapshots.get()
        Sample.objects.create(
            cluster=cluster, page=pages[0], snapshot=snapshot, rank=1, gain=0, scheme="greedy"
        )
        eve = caller("eve", Role.VIEWER, site=site_of("other"))

        assert [] == listed(eve, "samples/")
        assert 1 == len(listed(caller("bob", Role.VIEWER, site=site), "samples/"))

    def test_what_cannot_be_drawn_is_said(self, ada: Caller) -> None:
        answer = ada.post("sites/shop/samples/", {})

        assert 400 == answer.status_code
        assert "no clusters yet" in answer.json()["error"]["message"]

    def test_a_viewer_draws_nothing(self, site: Site) -> None:
        assert (
            403 == caller("bob", Role.VIEWER, site=site).post("sites/shop/samples/", {}).status_code
        )


class TestAnnotations:
    def test_are_uploaded_and_listed(self, site: Site, pages: list[Page], ada: Caller) -> None:
        file = SimpleUploadedFile("annotations.jsonl", orjson.dumps(LINE))
        answer = ada.upload("sites/shop/annotations/", {"file": file})
        run_job(answer.json()["id"], importing.import_annotations)

        assert 202 == answer.status_code
        (row,) = listed(ada, "annotations/?site=shop")
        assert ("product", "name", "value", "Runner") == (
            row["vertical"],
            row["attribute"],
            row["kind"],
            row["text"],
        )
        assert ("/html/body/h1/text()[1]", "ada", "file", 1, []) == (
            row["xpath"],
            row["author"],
            row["source"],
            row["revision"],
            row["record"],
        )
        assert 1 == len(said(pages[1], "name"))
        assert Job.State.DONE == Job.objects.get().state

    def test_are_filtered(self, pages: list[Page], ada: Caller) -> None:
        for page in pages:
            mark(page)
        mark(pages[0], "price")

        assert 4 == len(listed(ada, "annotations/"))
        assert 3 == len(listed(ada, "annotations/?attribute=name"))
        assert 2 == len(listed(ada, "annotations/?url=https://shop.example/p/0"))
        assert 0 == len(listed(ada, "annotations/?kind=value"))
        assert 400 == ada.get("annotations/?url=ftp://x").status_code

    def test_history_shows_what_was_replaced(self, pages: list[Page], ada: Caller) -> None:
        mark(pages[0])
        mark(pages[0])

        assert [2] == [row["revision"] for row in listed(ada, "annotations/")]
        assert [1, 2] == [row["revision"] for row in listed(ada, "annotations/?history=true")]

    def test_come_in_pages(self, pages: list[Page], ada: Caller) -> None:
        for page in pages:
            mark(page)
        first = ada.get("annotations/?limit=2").json()

        assert 1 == len(ada.get(first["next"]).json()["results"])

    def test_of_other_sites_are_not_seen(self, pages: list[Page]) -> None:
        mark(pages[0])

        assert [] == listed(caller("eve", Role.VIEWER, site=site_of("other")), "annotations/")
        assert 1 == Annotation.objects.count()

    def test_need_the_scope(self, site: Site) -> None:
        bob = caller("bob", Role.EDITOR, site=site, scopes=[Scope.PAGES_READ])

        assert [403, 403] == [
            bob.get("annotations/").status_code,
            bob.upload("sites/shop/annotations/", {}).status_code,
        ]
