"""The addresses of a list are visited, and no others; what cannot be is told with its line."""

from __future__ import annotations

import io
import itertools
import json
import time
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from clustering.models import Page, Snapshot
from clustering.services.crawl import fetch_service
from clustering.services.crawl.address_lists import (
    VISIT_ADDRESSES,
    address_list_request,
    read_list,
    visit_addresses,
)
from clustering.services.crawl.crawl_results import CrawlLine
from clustering.services.crawl.fetch_service import FetchService
from tests.apps.clustering.api_cast import Caller, caller
from tests.apps.clustering.fake_host import FakeHost, page
from vertex.celery import app
from vertex.core.models import Job, Refusal, Role, Site, User
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import create_here, enqueue
from vertex.core.tasks import FETCHING_WORK

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

PATIENCE = 60.0
ROUTES = {f"/{n}": page("/never", text=str(n)) for n in range(60)}


def site_of(host: FakeHost, name: str = "alpine-shop") -> Site:
    return Site.objects.create(name=name, root_url=f"{host.url}/", crawl_delay=0.0)


def urls(host: FakeHost, n: int) -> list[str]:
    return [f"{host.url}/{number}" for number in range(n)]


def listed(folder: Path, *lines: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "list.txt"
    path.write_text("\n".join(lines))
    return path


def visit(site: Site, path: Path, report: jobs.Report = jobs.report_to_nobody) -> Job:
    job = create_here(address_list_request(site=site, source=path))
    return jobs.run_job(job.pk, visit_addresses, report=report)


def uploads_left(settings: Any) -> list[Path]:
    folder = settings.UPLOAD_DIR
    return [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []


@pytest.mark.both_databases
def test_a_list_is_visited_in_its_order_and_no_link_is_followed(tmp_path: Path) -> None:
    results: list[CrawlLine] = []
    with FakeHost(ROUTES) as host:
        path = listed(tmp_path, "# products", *(f"{host.url}/{n}" for n in (7, 3, 5, 3)), "", "  ")
        job = visit(site_of(host), path, results.append)

    assert (job.state, job.result) == (Job.State.DONE, {"stored": 3, "left": 0, "addresses": 4})
    assert [line.url for line in results] == [f"{host.url}/{n}" for n in (7, 3, 5)]
    assert sorted(host.paths) == ["/3", "/5", "/7"]
    assert path.exists()


def test_what_is_no_address_of_the_site_is_refused_with_its_line(tmp_path: Path) -> None:
    with FakeHost(ROUTES) as host:
        path = listed(
            tmp_path,
            f"{host.url}/1",
            "nonsense",
            "http://other.test/",
            "file:///etc/passwd",
            f"{host.url.upper().replace('HTTP', 'http')}/2",
        )
        path.write_bytes(path.read_bytes() + b"\n\xff\xfe\n")
        job = visit(site_of(host), path)

    assert job.state == Job.State.DONE
    assert dict(Refusal.objects.values_list("subject", "code")) == {
        "list.txt, line 2": "bad_url",
        "list.txt, line 3": "bad_url",
        "list.txt, line 4": "bad_url",
        "list.txt, line 6": "bad_line",
    }
    assert sorted(host.paths) == ["/1", "/2"]


def test_a_list_without_a_page_fails_and_says_why(tmp_path: Path) -> None:
    with FakeHost(ROUTES) as host:
        job = visit(site_of(host), listed(tmp_path, "http://other.test/"))

    assert job.state == Job.State.FAILED
    assert job.error == "none of 1 address(es) is of the site; see the refusals"


def test_an_empty_list_fails_and_says_so(tmp_path: Path) -> None:
    with FakeHost(ROUTES) as host:
        job = visit(site_of(host), listed(tmp_path, "# nothing yet"))

    assert (job.state, job.error) == (Job.State.FAILED, "there is no address in the list")


@pytest.mark.both_databases
def test_a_visit_that_was_cut_off_goes_on_with_what_is_left(tmp_path: Path) -> None:
    seen = itertools.count(1)

    def cut(_line: CrawlLine) -> None:
        if next(seen) == 5:
            raise RuntimeError("cut off")

    with FakeHost(ROUTES) as host:
        site = site_of(host)
        path = listed(tmp_path, *(f"{host.url}/{n}" for n in range(60)))
        job = visit(site, path, cut)
        assert job.state == Job.State.DUE
        Job.objects.update(due_at=job.created_at)
        job = jobs.run_job(job.pk, visit_addresses)

    assert (job.state, job.n_done) == (Job.State.DONE, 60)
    assert Snapshot.objects.count() == 60
    visited = list(Page.objects.order_by("id").values_list("url", flat=True))
    assert visited == urls(host, 60)


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_a_list_whose_visit_takes_long_holds_up_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch_service, "MAX_THREADS", 1)
    service = FetchService({VISIT_ADDRESSES.task: read_list})
    with FakeHost(ROUTES) as slow_host, FakeHost(ROUTES) as host, service.engine:
        jobs_of_sites = [
            enqueue(address_list_request(site=site, source=path, delay=delay))
            for site, path, delay in (
                (site_of(slow_host, "slow"), listed(tmp_path / "slow", *urls(slow_host, 9)), 3600),
                (site_of(host), listed(tmp_path / "quick", *urls(host, 9)), 0),
            )
        ]
        slow, quick = (Job.objects.filter(pk=job.pk) for job in jobs_of_sites)
        ends_at = time.monotonic() + PATIENCE
        while not quick.get().is_finished and time.monotonic() < ends_at:
            service.go_on()

        assert quick.get().result == {"stored": 9, "left": 0, "addresses": 9}
        assert slow.get().state == Job.State.RUNNING
        assert sorted(host.paths) == [f"/{n}" for n in range(9)], "no link is followed"


def test_an_address_comes_out_as_it_was_handed_in(tmp_path: Path) -> None:
    results: list[CrawlLine] = []
    with FakeHost(ROUTES) as host:
        written = f"{host.url}/1#part"
        visit(site_of(host), listed(tmp_path, written), results.append)

    assert [line.url for line in results] == [written]


def test_the_command_writes_a_line_for_each_page(tmp_path: Path) -> None:
    out = io.StringIO()
    with FakeHost(ROUTES) as host:
        site_of(host)
        path = listed(tmp_path, f"{host.url}/1", f"{host.url}/2")
        call_command("visit_addresses", "alpine-shop", str(path), stdout=out, stderr=io.StringIO())

    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert lines == [{"url": f"{host.url}/{n}", "status": 200, "snapshot": "new"} for n in (1, 2)]


def test_the_command_names_a_file_that_is_not_there() -> None:
    Site.objects.create(name="alpine-shop", root_url="http://alpine.test/")
    with pytest.raises(CommandError, match=r"missing\.txt"):
        call_command("visit_addresses", "alpine-shop", "missing.txt")


@pytest.fixture
def ada() -> Caller:
    return caller("ada", Role.ADMINISTRATOR)


def test_addresses_come_by_the_api(ada: Caller, settings: Any) -> None:
    with FakeHost(ROUTES) as host:
        site_of(host)
        body = {"addresses": [f"{host.url}/1", f"{host.url}/2"], "delay": 0}
        response = ada.post("sites/alpine-shop/address_lists/", body)
        assert response.status_code == 202
        assert ada.post("sites/alpine-shop/address_lists/", body).status_code == 409
        assert len(uploads_left(settings)) == 1
        job = jobs.run_job(response.json()["id"], visit_addresses)

    assert (job.state, sorted(host.paths)) == (Job.State.DONE, ["/1", "/2"])
    assert uploads_left(settings) == []


@pytest.mark.parametrize("body", [{}, {"addresses": []}, {"addresses": ["  "]}, {"addresses": 7}])
def test_a_call_without_addresses_is_refused(ada: Caller, body: dict[str, Any]) -> None:
    Site.objects.create(name="alpine-shop", root_url="http://alpine.test/")

    assert ada.post("sites/alpine-shop/address_lists/", body).status_code == 400
    assert not Job.objects.exists()


@pytest.fixture
def operator(client: Client) -> Client:
    user = User.objects.create_user("olga", password="a long enough password")
    site = Site.objects.create(name="alpine-shop", root_url="http://alpine.test/")
    user.memberships.create(site=site, role=Role.OPERATOR)
    client.force_login(user)
    return client


@pytest.mark.parametrize(
    "entered",
    [
        {"addresses": "http://alpine.test/1\r\nhttp://alpine.test/2"},
        {"file": SimpleUploadedFile("list.txt", b"http://alpine.test/1\n")},
    ],
)
def test_a_form_takes_pasted_addresses_or_a_file(operator: Client, entered: dict[str, Any]) -> None:
    answer = operator.post(reverse("visit_addresses", args=["alpine-shop"]), entered, follow=True)

    job = Job.objects.get()
    assert answer.redirect_chain[-1][0] == reverse("job", args=[job.pk])
    assert Path(job.params["source"]).read_bytes().startswith(b"http://alpine.test/1\n")


@pytest.mark.parametrize(
    ("entered", "message"),
    [
        ({}, "one of the two"),
        ({"addresses": " \n "}, "one of the two"),
        ({"addresses": "x", "delay": "-1"}, "greater than or equal to 0"),
        (
            {"addresses": "x", "file": SimpleUploadedFile("list.txt", b"http://alpine.test/1\n")},
            "one of the two",
        ),
        ({"addresses": "http://alpine.test/\n" * 10_001}, "too many to paste"),
    ],
)
def test_a_form_says_what_is_wrong(operator: Client, entered: dict[str, Any], message: str) -> None:
    answer = operator.post(reverse("visit_addresses", args=["alpine-shop"]), entered)

    assert answer.status_code == 400
    assert message in answer.content.decode()
    assert not Job.objects.exists()


def test_the_process_that_fetches_knows_the_work() -> None:
    app.loader.import_default_modules()

    assert VISIT_ADDRESSES.task in FETCHING_WORK
