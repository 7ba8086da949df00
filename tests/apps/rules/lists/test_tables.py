"""A pasted address: the site it joins, the table that is shown, the files that leave."""

from __future__ import annotations

import csv
import io
import json
import socket
from typing import Any

import pyarrow.parquet
import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from clustering.models import Page
from clustering.services.crawl.list_crawling import crawl_list
from rules.services.lists.pasted_lists import NotAllowed, site_at, start_table
from rules.services.lists.shown_tables import shown_tables
from rules.services.lists.table_exports import table_parts
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import store
from tests.apps.clustering.fake_host import Answer, FakeHost
from tests.apps.rules.list_cast import N_RECORDS, latest, list_page, stored_list
from vertex.core.models import Job, Role, Site, User
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.people import people

pytestmark = pytest.mark.django_db
HTML = {"Content-Type": "text/html"}


@pytest.fixture
def public_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each name a public address."""

    def answer(_host: str, port: int, **_: object) -> list[object]:
        return [
            (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("93.184.216.34", port))
        ]

    monkeypatch.setattr("clustering.fetching.guard.socket.getaddrinfo", answer)


def user_with(role: Role | None, site: Site | None = None) -> User:
    return people.create_user(username="ada", role=role, site=site, actor=None)


def client_of(role: Role, site: Site | None = None) -> Client:
    client = Client()
    client.force_login(user_with(role, site))
    return client


@pytest.mark.both_databases
class TestSiteOfAnAddress:
    @pytest.mark.parametrize(
        "address",
        ["https://www.shop.example/list", "https://shop.example/a", "https://img.example/x"],
    )
    def test_is_the_one_whose_hosts_cover_it(self, address: str) -> None:
        site = Site.objects.create(
            name="shop", root_url="https://shop.example/", extra_hosts=["img.example"]
        )
        Site.objects.create(name="other", root_url="https://other.example/")

        assert site == site_at(address, user_with(Role.OPERATOR, site))

    def test_is_refused_to_who_may_not_fetch_there(self) -> None:
        site = Site.objects.create(name="shop", root_url="https://shop.example/")
        with pytest.raises(NotAllowed, match=r"shop\.example needs the role operator at its site"):
            site_at("https://shop.example/list", user_with(Role.EDITOR, site))

    def test_is_new_only_for_operators_of_all_sites(self) -> None:
        site = Site.objects.create(name="shop", root_url="https://shop.example/")
        with pytest.raises(NotAllowed, match="for all sites"):
            site_at("https://elsewhere.example/list", user_with(Role.OPERATOR, site))

    def test_what_is_no_address_adds_no_site(self) -> None:
        with pytest.raises(ValidationError):
            start_table(url="ftp://x/", name="x", actor=user_with(Role.OPERATOR))

        assert not Site.objects.exists()


class TestPasting:
    @pytest.mark.usefixtures("public_names")
    def test_an_unknown_host_becomes_a_site_and_its_page_a_job(self) -> None:
        client = client_of(Role.OPERATOR)
        answer = client.post(reverse("new_table"), {"url": "https://www.shop.example/list?x=1"})

        job = Job.objects.get()
        assert answer["Location"] == reverse("table_job", args=["shop.example", job.pk])
        assert ("https://www.shop.example/list?x=1", 1) == (
            job.params["entry"],
            job.params["max_pages"],
        )

    @pytest.mark.parametrize(
        ("address", "reason"),
        [("notaurl", "notaurl has no address"), ("10.1.2.3/list", "10.1.2.3 is private")],
    )
    def test_a_host_without_an_address_leaves_no_site(
        self, monkeypatch: pytest.MonkeyPatch, address: str, reason: str
    ) -> None:
        def is_unknown(*_: object, **__: object) -> list[object]:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

        monkeypatch.setattr("clustering.fetching.guard.socket.getaddrinfo", is_unknown)
        answer = client_of(Role.OPERATOR).post(reverse("new_table"), {"url": address})

        assert 400 == answer.status_code
        assert reason in answer.content.decode()
        assert not Site.objects.exists()
        assert not Job.objects.exists()

    def test_what_is_wrong_stands_at_the_field(self) -> None:
        answer = client_of(Role.OPERATOR).post(reverse("new_table"), {"url": "http://a b/"})

        assert 400 == answer.status_code
        assert b"id_url_error" in answer.content
        assert not Job.objects.exists()

    @pytest.mark.usefixtures("loopback")
    def test_the_page_that_came_is_shown_at_once(self) -> None:
        client = client_of(Role.OPERATOR)
        with FakeHost({"/list": Answer(list_page(), headers=HTML)}) as host:
            client.post(reverse("new_table"), {"url": f"{host.url}/list"})
            job = run_job(Job.objects.get().pk, crawl_list)
        assert Job.State.DONE == job.state, job.error
        assert job.site is not None

        progress = reverse("table_job", args=[job.site.name, job.pk])
        page = Page.objects.get(state=Page.State.STORED)
        table = reverse("page_table", args=[job.site.name, page.pk])
        assert table == client.get(progress)["Location"]
        assert table == client.get(progress, headers={"HX-Request": "true"})["HX-Redirect"]
        assert f"{N_RECORDS}</strong> records" in client.get(table).content.decode()

    @pytest.mark.usefixtures("loopback")
    def test_a_page_that_did_not_come_says_why_and_what_to_do(self) -> None:
        client = client_of(Role.OPERATOR)
        with FakeHost(
            {"/list": Answer(b"%PDF-1", headers={"Content-Type": "application/pdf"})}
        ) as host:
            client.post(reverse("new_table"), {"url": f"{host.url}/list"})
            job = run_job(Job.objects.get().pk, crawl_list)
        assert job.site is not None
        seen = client.get(reverse("table_job", args=[job.site.name, job.pk])).content.decode()

        assert "The page did not come" in seen
        assert "application/pdf" in seen
        assert "Change the address" in seen

    @pytest.mark.usefixtures("loopback")
    def test_an_error_page_says_that_it_is_one(self) -> None:
        client = client_of(Role.OPERATOR)
        with FakeHost({"/list": Answer(b"<h1>Gone</h1>", status=404, headers=HTML)}) as host:
            client.post(reverse("new_table"), {"url": f"{host.url}/list"})
            job = run_job(Job.objects.get().pk, crawl_list)
        assert job.site is not None
        progress = reverse("table_job", args=[job.site.name, job.pk])

        assert "The server answered 404" in client.get(progress, follow=True).content.decode()


class TestTable:
    @pytest.fixture
    def page(self) -> Page:
        return stored_list()

    def seen(self, page: Page, role: Role = Role.OPERATOR) -> str:
        return client_of(role).get(reverse("page_table", args=["shop", page.pk])).content.decode()

    def test_links_are_whole_and_lead_nowhere_else(self, page: Page) -> None:
        table = shown_tables(page.latest_snapshot)[0]  # type: ignore[arg-type]  # it is stored

        assert (
            f"{page.site.root_url}p/0"
            in table.columns[table.names.index(table.detail_column)].values[0]
        )
        assert 'rel="noopener noreferrer"' in self.seen(page)

    def test_who_only_looks_gets_no_buttons(self, page: Page) -> None:
        seen = self.seen(page, Role.VIEWER)

        assert "Accept as a rule" not in seen
        assert "Crawl this list" not in seen
        assert "Download" in seen

    def test_a_script_in_an_address_is_no_link(self) -> None:
        site = site_of("shop")
        store(site, [("list", list_page().replace(b"href=/p/", b"href=javascript:p"), "text/html")])

        assert 'href="javascript' not in self.seen(latest(site, "list"))

    def test_a_page_without_records_says_what_to_do(self) -> None:
        site = site_of("shop")
        store(site, [("one", b"<h1>One thing</h1>", "text/html")])
        seen = self.seen(latest(site, "one"))

        assert "No records found" in seen
        assert "Try another address" in seen

    def test_the_whole_list_is_crawled_within_its_limit(self, page: Page) -> None:
        client = client_of(Role.OPERATOR)
        address = reverse("crawl_list", args=["shop", page.pk])
        client.post(address, {"follows_pages": "on", "max_pages": "7", "list": "1"})

        params = Job.objects.get(task="clustering.crawl_list").params
        assert (True, False, 7, page.url) == tuple(
            params[name] for name in ("follows_pages", "follows_details", "max_pages", "entry")
        )

    def test_nothing_to_follow_is_no_crawl(self, page: Page) -> None:
        client_of(Role.OPERATOR).post(
            reverse("crawl_list", args=["shop", page.pk]), {"max_pages": "7"}
        )

        assert not Job.objects.filter(task="clustering.crawl_list").exists()


class TestDownload:
    @pytest.fixture
    def page(self) -> Page:
        return stored_list()

    def file(self, page: Page, form: str) -> bytes:
        table = shown_tables(page.latest_snapshot)[0]  # type: ignore[arg-type]  # it is stored
        return b"".join(table_parts(table, page.url, form))

    def test_each_form_has_the_same_records(self, page: Page) -> None:
        lines = [json.loads(line)["record"] for line in self.file(page, "jsonl").splitlines()]
        rows = [
            {name: value for name, value in row.items() if value}
            for row in csv.DictReader(io.StringIO(self.file(page, "csv").decode()))
        ]
        packed: list[Any] = pyarrow.parquet.read_table(
            io.BytesIO(self.file(page, "parquet"))
        ).to_pylist()

        assert N_RECORDS == len(lines)
        assert lines == rows
        assert lines == [{name: value for name, value in row.items() if value} for row in packed]

    def test_no_spreadsheet_runs_a_cell(self) -> None:
        site = site_of("shop")
        store(site, [("list", list_page().replace(b">The thing", b">=1+The thing"), "text/html")])

        assert b"'=1+The thing 0" in self.file(latest(site, "list"), "csv")

    def test_a_file_is_named_after_its_site(self, page: Page) -> None:
        address = reverse("download_table", args=["shop", page.pk]) + "?format=csv"
        answer = client_of(Role.VIEWER).get(address)

        assert f'filename="shop-list-{page.pk}.csv"' in answer["Content-Disposition"]
        assert N_RECORDS + 1 == len(b"".join(answer.streaming_content).splitlines())  # type: ignore[attr-defined]
