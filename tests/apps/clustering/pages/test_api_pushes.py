"""Pages that another crawler pushes through the API."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from typing import Any

import orjson
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from clustering.api.pages import pushes
from clustering.models import Link, Page, Snapshot
from clustering.services.pages import pushed_pages
from tests.apps.clustering.api_cast import Caller, caller, site_of
from vertex.core.models import Refusal, Role, Scope, Site
from vertex.core.storage import page_store

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

BODY = b"<!doctype html><title>Boots</title><ul><li><a href=/p/2>Rope</a></ul><p>89.00 EUR"
ROUTE = "sites/shop/pushed_pages/"
BOMB = gzip.compress(bytes(40 * 2**20), compresslevel=1)  # 40 MB once it is unpacked


@pytest.fixture
def ada() -> Caller:
    return caller("ada", Role.OPERATOR)


@pytest.fixture(autouse=True)
def shop() -> Site:
    return site_of("shop")


def page(path: str = "p/1", body: bytes | str = BODY, **more: Any) -> dict[str, Any]:
    return {
        "url": f"https://shop.example/{path}",
        "body": body if isinstance(body, str) else base64.b64encode(body).decode(),
        "headers": {"Content-Type": "text/html; charset=utf-8", "ETag": '"v1"'},
    } | more


def outcomes(response: Any) -> list[tuple[str, str]]:
    assert 200 == response.status_code, response.content
    return [(line["snapshot"], line.get("code", "")) for line in response.json()["results"]]


def test_a_pushed_page_is_stored_as_a_crawl_stores_it(ada: Caller) -> None:
    response = ada.post(
        ROUTE,
        {"pages": [page("p/1?a=b c", status=404, fetched_at="2025-03-01T10:00:00+01:00", depth=3)]},
    )

    assert [("new", "")] == outcomes(response)
    line = response.json()["results"][0]
    stored = Page.objects.select_related("latest_snapshot").get(pk=line["page"])
    snapshot = stored.latest_snapshot
    assert snapshot is not None
    assert ("https://shop.example/p/1?a=b c", "https://shop.example/p/1?a=b%20c") == (
        line["url"],
        line["normalized_url"],
    )
    assert (stored.given_url, stored.url) == (line["url"], line["normalized_url"])
    assert ("stored", 404, 3) == (stored.state, stored.status, stored.depth)
    assert BODY == page_store().read(snapshot.body)
    assert ("text/html; charset=utf-8", "utf-8", '"v1"') == (
        snapshot.content_type,
        snapshot.encoding,
        snapshot.etag,
    )
    assert "2025-03-01T09:00:00+00:00" == snapshot.fetched_at.isoformat()
    assert [("/html/body/ul/li/a", "https://shop.example/p/2")] == list(
        Link.objects.values_list("xpath", "url")
    )


def test_the_same_batch_again_changes_nothing(ada: Caller) -> None:
    batch = {"pages": [page(), page("p/2", b"<p>two"), page("p/3", status=503)]}
    first, second = ada.post(ROUTE, batch), ada.post(ROUTE, batch)

    assert [("new", ""), ("new", ""), ("failed", "status")] == outcomes(first)
    assert [("unchanged", ""), ("unchanged", ""), ("failed", "status")] == outcomes(second)
    assert {"new": 0, "unchanged": 2, "failed": 1} == {
        word: second.json()[word] for word in ("new", "unchanged", "failed")
    }
    assert (2, 2, 1) == (Page.objects.count(), Snapshot.objects.count(), Refusal.objects.count())


def test_new_bytes_are_a_new_snapshot_and_twice_in_a_batch_counts_in_order(ada: Caller) -> None:
    response = ada.post(ROUTE, {"pages": [page(), page(), page(body=b"<p>other")]})

    assert [("new", ""), ("unchanged", ""), ("new", "")] == outcomes(response)
    assert (1, 2) == (Page.objects.count(), Snapshot.objects.count())


def test_a_redirected_page_is_stored_where_redirects_led(ada: Caller) -> None:
    ada.post(ROUTE, {"pages": [page("old", final_url="https://shop.example/new")]})

    assert {
        ("https://shop.example/old", "redirected"),
        ("https://shop.example/new", "stored"),
    } == set(Page.objects.values_list("url", "state"))


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        (page(url="https://elsewhere.example/"), "other_site"),
        (page(final_url="https://elsewhere.example/"), "other_site"),
        (page(url="javascript:alert(1)"), "bad_address"),
        (page(url="https://shop.example/\0"), "bad_address"),
        (page(url=7), "bad_line"),
        (page(body="not base64"), "bad_line"),
        ({"url": "https://shop.example/p/1"}, "bad_line"),
        (page(status=301), "redirect"),
        (page(status=429), "status"),
        (page(status=204), "not_html"),
        (page(status="200"), "bad_line"),
        (page(headers={"Content-Type": "image/png"}), "not_html"),
        (page(headers=["Content-Type"]), "bad_line"),
        (page(headers={"Content-Encoding": "gzip"}, body="YWJj"), "encoding"),
        (page(fetched_at="yesterday"), "bad_line"),
        (page(depth=-1), "bad_line"),
        (page(colour="red"), "bad_line"),
        (page(file="p1"), "missing_file"),
        ("https://shop.example/p/1", "bad_line"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_a_page_that_is_not_taken_says_why_and_holds_up_no_other(
    ada: Caller, entry: Any, code: str
) -> None:
    batch = {"pages": [page("before"), entry, page("after")]}
    response = ada.post(ROUTE, batch)

    assert [("new", ""), ("failed", code), ("new", "")] == outcomes(response)
    reason = response.json()["results"][1]["reason"]
    assert [(code, reason)] == list(Refusal.objects.values_list("code", "reason"))


def test_a_page_that_is_taken_later_is_refused_no_more(ada: Caller) -> None:
    ada.post(ROUTE, {"pages": [page(status=503)]})
    assert 1 == Refusal.objects.count()
    ada.post(ROUTE, {"pages": [page()]})

    assert not Refusal.objects.exists()


def test_bytes_that_are_still_packed_are_unpacked(ada: Caller) -> None:
    packed = page(body=gzip.compress(BODY))
    packed["headers"]["Content-Encoding"] = "gzip"
    ada.post(ROUTE, {"pages": [packed]})

    assert BODY == page_store().read(Snapshot.objects.get().body)


def test_a_batch_may_be_packed(ada: Caller) -> None:
    batch = gzip.compress(orjson.dumps({"pages": [page()]}))
    response = ada.post(ROUTE, batch, headers={"Content-Encoding": "gzip"})

    assert [("new", "")] == outcomes(response)


@pytest.mark.parametrize(
    ("body", "encoding", "status"),
    [
        (BOMB, "gzip", 413),
        (gzip.compress(BOMB), "gzip", 400),
        (b"no gzip", "gzip", 400),
        (gzip.compress(b"{}")[:-4], "gzip", 400),
        (zlib.compress(b"{}"), "deflate", 415),
        (b'{"pages": []}', "", 400),
        (b'{"pages": "all"}', "", 400),
        (b'{"pages": ' + b"[" * 200_000, "", 400),
        (orjson.dumps({"pages": [page()] * 101}), "", 400),
        (orjson.dumps({"pages": [page()], "more": 1}), "", 400),
        (b"[]", "", 400),
    ],
    ids=range(11),
)
def test_a_batch_that_is_none_is_refused_whole(
    ada: Caller, body: bytes, encoding: str, status: int
) -> None:
    response = ada.post(ROUTE, body, headers={"Content-Encoding": encoding} if encoding else {})

    assert status == response.status_code, response.content
    assert not Page.objects.exists()


def test_a_batch_that_is_too_large_is_not_read(
    ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pushes.PushedPages, "max_megabytes", 0)

    assert 413 == ada.post(ROUTE, {"pages": [page()]}).status_code


def test_small_bombs_do_not_add_up(ada: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pushed_pages, "MAX_PUSHED_BYTES", 2 * len(BODY))
    packed: dict[str, Any] = {
        "headers": {"Content-Encoding": "gzip"},
        "body": base64.b64encode(gzip.compress(BODY)).decode(),
    }
    response = ada.post(ROUTE, {"pages": [page(f"p/{n}", **packed) for n in range(4)]})

    assert [("new", "")] * 2 + [("failed", "too_large")] * 2 == outcomes(response)


def test_bytes_may_come_as_files_of_a_form(ada: Caller) -> None:
    entries = [
        {"url": "https://shop.example/p/1", "file": "first"},
        {"url": "https://shop.example/p/2", "file": "second"},
        {"url": "https://shop.example/p/3", "file": ["first"]},
    ]
    form = {"pages": json.dumps(entries), "first": SimpleUploadedFile("1.html", BODY)}
    response = ada.upload(ROUTE, form)

    assert [("new", ""), *[("failed", "missing_file")] * 2] == outcomes(response)
    assert BODY == page_store().read(Snapshot.objects.get().body)
    assert 400 == ada.upload(ROUTE, {"first": SimpleUploadedFile("1.html", BODY)}).status_code
    assert 400 == ada.upload(ROUTE, form | {"colour": "red"}).status_code


def test_a_token_that_only_reads_pushes_nothing() -> None:
    reader = caller("eve", Role.OPERATOR, scopes=Scope.reading())
    viewer = caller("vic", Role.EDITOR)

    assert [403, 403] == [
        who.post(ROUTE, {"pages": [page()]}).status_code for who in (reader, viewer)
    ]
    assert not Page.objects.exists()
