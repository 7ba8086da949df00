import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from clustering.api.pages import incoming
from clustering.models import Page, SearchClick
from clustering.services.pages import archives, importing, search_log
from tests.apps.clustering.api_cast import Caller, caller, site_of
from vertex.core.models import Job, Role, Site
from vertex.core.services.jobs import jobs

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Caller:
    return caller("ada", Role.ADMINISTRATOR)


@pytest.fixture
def shop() -> Site:
    return site_of("shop")


def zipped(**files: bytes) -> SimpleUploadedFile:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, body in files.items():
            archive.writestr(name.replace("__", "."), body)
    return SimpleUploadedFile("pages.zip", stream.getvalue())


def uploads_left(settings: Any) -> list[Path]:
    return (
        [path for path in settings.UPLOAD_DIR.rglob("*") if path.is_file()]
        if settings.UPLOAD_DIR.exists()
        else []
    )


def test_a_crawl_is_a_job_with_what_was_asked_for(ada: Caller, shop: Site) -> None:
    body = {"entry": "https://shop.example/start", "max_pages": 7, "delay": 0}
    response = ada.post("sites/shop/crawls/", body)

    assert 202 == response.status_code
    assert ("shop", "due", "fetch") == tuple(
        response.json()[key] for key in ("site", "state", "queue")
    )
    params = Job.objects.get(pk=response.json()["id"]).params
    assert ("https://shop.example/start", 7, 0) == (
        params["entry"],
        params["max_pages"],
        params["delay"],
    )


def test_a_second_crawl_of_the_site_is_a_conflict(ada: Caller, shop: Site) -> None:
    assert 202 == ada.post("sites/shop/crawls/", {}).status_code
    assert 409 == ada.post("sites/shop/crawls/", {}).status_code


@pytest.mark.parametrize(
    "body",
    [
        {"entry": "https://elsewhere.example/"},
        {"entry": "file:///etc/passwd"},
        {"max_pages": 0},
        {"max_pages": 10**20},
        {"delay": -1},
        {"delay": 1e300},
        {"strategy": "random"},
        {"speed": "warp"},
    ],
)
def test_a_crawl_that_cannot_be_done_is_refused(
    ada: Caller, shop: Site, body: dict[str, Any]
) -> None:
    assert 400 == ada.post("sites/shop/crawls/", body).status_code
    assert not Job.objects.exists()


def test_an_uploaded_zip_is_imported_by_a_job(ada: Caller, shop: Site, settings: Any) -> None:
    response = ada.upload(
        "sites/shop/imports/", {"file": zipped(a__html=b"<html><p>one</p></html>")}
    )

    assert 202 == response.status_code
    assert 1 == len(uploads_left(settings))
    jobs.run_job(response.json()["id"], importing.import_pages)
    assert [("https://shop.example/a.html", "stored")] == list(
        Page.objects.values_list("url", "state")
    )


def test_a_base_address_may_come_with_the_upload(ada: Caller, shop: Site) -> None:
    upload = {
        "file": zipped(a__html=b"<html><p>one</p></html>"),
        "base_url": "https://shop.example/deep/",
    }
    response = ada.upload("sites/shop/imports/", upload)

    jobs.run_job(response.json()["id"], importing.import_pages)
    assert ["https://shop.example/deep/a.html"] == list(Page.objects.values_list("url", flat=True))


def test_a_search_log_is_read_by_a_job(ada: Caller, shop: Site) -> None:
    log = SimpleUploadedFile("log.tsv", b"red shoes\thttps://shop.example/p/1\t12\n")
    response = ada.upload("sites/shop/search_logs/", {"file": log})

    assert 202 == response.status_code
    jobs.run_job(response.json()["id"], search_log.import_search_log)
    assert [("red shoes", 12)] == list(SearchClick.objects.values_list("query", "clicks"))


@pytest.mark.parametrize(
    ("upload", "field"),
    [
        ({}, "file"),
        ({"file": "no file"}, "file"),
        ({"file": SimpleUploadedFile("a.zip", b"")}, "file"),
        ({"file": SimpleUploadedFile("a.zip", b"PK"), "colour": "red"}, "colour"),
        ({"file": SimpleUploadedFile("a.zip", b"PK"), "base_url": "nonsense"}, "base_url"),
    ],
)
def test_an_upload_that_cannot_be_used_leaves_nothing(
    ada: Caller, shop: Site, settings: Any, upload: dict[str, Any], field: str
) -> None:
    response = ada.upload("sites/shop/imports/", upload)

    assert 400 == response.status_code
    assert field in response.json()["error"]["fields"]
    assert [] == uploads_left(settings)
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    "body", [b"", b"--x\r\n", b"not multipart at all", b"--x\r\nContent-Disposition: \xff\r\n\r\n"]
)
def test_a_broken_form_is_400(ada: Caller, shop: Site, body: bytes) -> None:
    response = ada.post("sites/shop/imports/", body, content_type="multipart/form-data; boundary=x")

    assert 400 == response.status_code


def test_json_is_no_upload(ada: Caller, shop: Site) -> None:
    assert 415 == ada.post("sites/shop/imports/", {"file": "x"}).status_code


def test_an_upload_that_is_too_large_is_refused_before_it_is_read(
    ada: Caller, shop: Site, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incoming.Imports, "max_megabytes", 0)
    response = ada.upload("sites/shop/imports/", {"file": zipped(a__html=b"x")})

    assert (413, "too_large") == (response.status_code, response.json()["error"]["code"])
    assert [] == uploads_left(settings)


def test_a_file_beyond_the_limit_leaves_nothing(ada: Caller, shop: Site, settings: Any) -> None:
    settings.MAX_UPLOAD_MB = 0
    response = ada.upload("sites/shop/imports/", {"file": zipped(a__html=b"x")})

    assert 413 == response.status_code
    assert [] == uploads_left(settings)


def test_a_zip_of_too_many_entries_is_refused_before_a_manifest_is_put_into_it(
    ada: Caller, shop: Site, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def upload() -> Any:
        manifest = SimpleUploadedFile(
            "pages.jsonl", b'{"url": "https://shop.example/a", "file": "a.html"}'
        )
        files = {"file": zipped(a__html=b"<p>one</p>", b__html=b"<p>two</p>"), "manifest": manifest}
        return ada.upload("sites/shop/imports/", files)

    assert 202 == upload().status_code
    monkeypatch.setattr(archives, "MAX_ENTRIES", 1)
    refused = upload()

    assert 400 == refused.status_code
    assert "more than 1 entries" in refused.content.decode()
    assert 1 == len(uploads_left(settings))


def test_names_of_uploads_lead_nowhere_else(ada: Caller, shop: Site, settings: Any) -> None:
    file = zipped(a__html=b"<p>one</p>")
    file.name = "../../../../tmp/evil.zip"

    assert 202 == ada.upload("sites/shop/imports/", {"file": file}).status_code
    assert all(path.is_relative_to(settings.UPLOAD_DIR) for path in uploads_left(settings))
    assert 1 == len(uploads_left(settings))
