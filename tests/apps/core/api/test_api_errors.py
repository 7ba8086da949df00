"""Every error of the API has one shape, whoever made it."""

from typing import Any

import pytest
from django.test import Client

from clustering.api.sites import sites
from tests.apps.clustering.api_cast import API, Caller, caller, site_of
from vertex.core.models import Role, Site

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Caller:
    return caller("ada", Role.ADMINISTRATOR)


def error_of(response: Any) -> dict[str, Any]:
    assert response["Content-Type"] == "application/json"
    assert {"error"} == set(response.json())
    error: dict[str, Any] = response.json()["error"]
    assert (
        {"code", "message", "request_id"}
        <= set(error)
        <= {"code", "message", "request_id", "fields"}
    )
    assert response["X-Request-ID"] == error["request_id"] != ""
    return error


@pytest.mark.parametrize(
    "path",
    ["/api/v1/nothing/", "/api/v2/sites/", "/api/", f"{API}/jobs/{10**25}/", f"{API}/pages/0x1/"],
)
def test_an_unknown_address_is_404_for_known_and_unknown_callers(ada: Caller, path: str) -> None:
    assert "not_found" == error_of(ada.get(path))["code"]
    assert 404 == Client().get(path).status_code
    assert "not_found" == error_of(Client().get(path))["code"]


def test_an_unknown_address_of_the_browser_is_no_json() -> None:
    assert "json" not in Client().get("/nothing/at/all/")["Content-Type"]


def test_writing_to_an_address_without_its_slash_is_not_redirected(ada: Caller) -> None:
    response = ada.post(f"{API}/sites", {"name": "lost", "root_url": "https://lost.example/"})

    assert 404 == response.status_code
    assert "slash" in error_of(response)["message"]


def test_reading_an_address_without_its_slash_is_redirected(ada: Caller) -> None:
    assert f"{API}/sites/" == ada.get(f"{API}/sites")["Location"]


def test_a_method_that_is_not_taken_is_405_and_names_those_that_are(ada: Caller) -> None:
    response = ada.put("sites/", {})

    assert 405 == response.status_code
    assert "method_not_allowed" == error_of(response)["code"]
    assert {"GET", "POST", "HEAD"} <= set(response["Allow"].split(", "))


def test_a_media_type_that_is_not_offered_is_406(ada: Caller) -> None:
    response = ada.get("sites/", headers={"Accept": "text/csv"})

    assert (406, "not_acceptable") == (response.status_code, error_of(response)["code"])


def test_a_body_of_another_media_type_is_415(ada: Caller) -> None:
    response = ada.post("sites/", "name=x", content_type="application/x-www-form-urlencoded")

    assert (415, "unsupported_media_type") == (response.status_code, error_of(response)["code"])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"{'name': 1}",
        b'{"name": NaN}',
        b'{"name": "\\ud800"}',
        b'{"name": "\xff"}',
        b"[" * 100_000,
        b"\xef\xbb\xbf{}",
        b"null",
        b"[]",
        b'"text"',
        b"7",
    ],
    ids=lambda body: repr(body[:12]),
)
def test_a_body_that_is_no_json_object_is_400(ada: Caller, body: bytes) -> None:
    response = ada.post("sites/", body)

    assert (400, "invalid") == (response.status_code, error_of(response)["code"])


def test_a_body_of_more_than_a_megabyte_is_413(ada: Caller) -> None:
    response = ada.post("sites/", b'{"name": "' + b"x" * 1024 * 1024 + b'"}')

    assert (413, "too_large") == (response.status_code, error_of(response)["code"])


def test_unknown_fields_are_named_and_nothing_is_done(ada: Caller) -> None:
    body = {"name": "shop", "root_url": "https://shop.example/", "colour": "red", "n_pages": 7}
    response = ada.post("sites/", body)

    assert 400 == response.status_code
    assert {"colour", "n_pages"} == set(error_of(response)["fields"])
    assert "Unknown field" in error_of(response)["fields"]["colour"][0]
    assert not Site.objects.exists()
    del body["colour"], body["n_pages"]
    assert 201 == ada.post("sites/", body).status_code


def test_unknown_query_parameters_are_named(ada: Caller) -> None:
    site_of()
    response = ada.get("sites/?page=2")

    assert 400 == response.status_code
    assert {"page": ["Unknown query parameter. Known are: limit, cursor, search."]} == (
        error_of(response)["fields"]
    )
    assert 400 == ada.get("sites/alpine-shop/?verbose=1").status_code
    assert 400 == ada.delete("sites/alpine-shop/?really=1").status_code
    assert Site.objects.get().deletion_requested_at is None


def test_a_query_parameter_given_twice_is_refused(ada: Caller) -> None:
    assert {"limit": ["Given more than once."]} == error_of(ada.get("sites/?limit=1&limit=2"))[
        "fields"
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", 7),
        ("name", None),
        ("name", ["a"]),
        ("name", "nul\x00"),
        ("name", "ends-with-newline\n"),
        ("title", True),
        ("crawl_delay", "1"),
        ("crawl_delay", -1),
        ("crawl_delay", 10**400),
        ("obey_robots", "yes"),
        ("obey_robots", 1),
        ("snapshots_kept", 10**30),
        ("snapshots_kept", 1.5),
        ("snapshots_kept", True),
        ("match_by", "magic"),
        ("extra_hosts", "one.example"),
        ("extra_hosts", [7]),
        ("extra_hosts", [{"a": "b"}]),
        ("root_url", "ftp://shop.example/"),
        ("root_url", "https://user:secret@shop.example/"),
        ("root_url", "https://" + "x" * 3000),
    ],
)
def test_a_wrong_value_is_400_under_its_name(ada: Caller, field: str, value: Any) -> None:
    import json

    body = {"name": "shop", "root_url": "https://shop.example/"} | {field: value}
    response = ada.post("sites/", json.dumps(body))

    assert 400 == response.status_code
    assert any(
        name.startswith(field) for name in error_of(response).get("fields", {"body": 0})
    ) or ("not JSON" in error_of(response)["message"])


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=1001",
        "limit=x",
        "limit=" + "9" * 5000,
        "limit=%00",
        "cursor=%00",
        "cursor=x",
        "site=%00",
        "site=%ED%A0%80%00",
        "state=unknown",
        "status=99999999999999999999",
        "url=%00",
        "url=nothing",
        "url=http://[::1",
        "changed_since=yesterday",
        "changed_since=0000-00-00T00:00:00Z",
        "visited_since=9999-12-31T23:59:59-23:59",
    ],
)
def test_hostile_query_values_are_400(ada: Caller, query: str) -> None:
    assert 400 == ada.get(f"pages/?{query}").status_code


def test_an_unforeseen_error_is_500_without_its_reason(
    ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(*_: object, **__: object) -> None:
        raise RuntimeError("the password is swordfish")

    monkeypatch.setattr(sites, "page_of", explode)
    response = ada.get("sites/")

    assert (500, "server_error") == (response.status_code, error_of(response)["code"])
    assert b"swordfish" not in response.content


def test_a_host_that_is_not_ours_is_400() -> None:
    response = Client().get(f"{API}/sites/", headers={"Host": "evil.example"})

    assert (400, "invalid") == (response.status_code, error_of(response)["code"])
