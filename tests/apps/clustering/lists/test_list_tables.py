"""Lists as tables, and crawls of a list with its pages and details."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from clustering.models import Page
from clustering.services.crawl.list_crawling import crawl_list, list_crawl_request
from clustering.services.lists.list_tables import tables_of_snapshot
from tests.algorithms.clustering.tables.test_page_tables import N_OF_PAGE, N_PAGES, list_page
from tests.apps.clustering.fake_host import Answer, FakeHost
from tests.apps.core.test_commands import call
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import create_here, enqueue

HTML = {"Content-Type": "text/html"}


def test_the_command_writes_a_line_for_each_record(tmp_path: Path) -> None:
    (tmp_path / "list.html").write_bytes(list_page(0))
    (tmp_path / "none.html").write_bytes(b"<h1>Nothing</h1>")
    lines, _ = call("list_table", tmp_path, "--base-url", "https://shop.example")

    assert [*range(N_OF_PAGE), None] == [line.get("index") for line in lines]
    assert "https://shop.example/p/0" == lines[0]["detail"]
    assert ({}, "no list") == (lines[-1]["record"], lines[-1]["reason"])


@pytest.fixture
def host() -> Iterator[FakeHost]:
    routes = {f"/list?page={n + 1}": Answer(list_page(n), headers=HTML) for n in range(N_PAGES)}
    routes |= {
        f"/p/{k}": Answer(b"<h1>Thing</h1>", headers=HTML) for k in range(N_PAGES * N_OF_PAGE)
    }
    routes |= {"/list": Answer(list_page(0), headers=HTML), "/help": Answer(b"help", headers=HTML)}
    with FakeHost(routes) as serving:
        yield serving


def crawled(host: FakeHost, **options: Any) -> tuple[Job, set[str]]:
    site, _ = Site.objects.get_or_create(name="shop", root_url=f"{host.url}/")
    job = create_here(list_crawl_request(site=site, url=f"{host.url}/list", delay=0, **options))
    job = jobs.run_job(job.pk, crawl_list)
    stored = Page.objects.filter(site=site, state=Page.State.STORED).values_list("url", flat=True)
    return job, {url.removeprefix(host.url) for url in stored}


@pytest.mark.django_db
@pytest.mark.usefixtures("loopback")
class TestCrawling:
    def test_a_list_comes_with_all_its_pages_and_details(self, host: FakeHost) -> None:
        job, stored = crawled(host)

        assert Job.State.DONE == job.state, job.error
        assert {"/list", "/list?page=2", "/list?page=3"} | {f"/p/{k}" for k in range(24)} == stored
        assert job.result is not None
        assert [3, 24, 24] == [job.result[name] for name in ("lists", "records", "details")]

    def test_details_and_pages_can_be_left_out(self, host: FakeHost) -> None:
        job, stored = crawled(host, follows_pages=False, follows_details=False)

        assert {"/list"} == stored
        assert job.result is not None
        page = Page.objects.select_related("latest_snapshot").get(pk=job.result["page"])
        assert page.latest_snapshot is not None
        assert N_OF_PAGE == len(tables_of_snapshot(page.latest_snapshot)[0].rows())

    def test_no_more_pages_than_asked_are_fetched(self, host: FakeHost) -> None:
        _, stored = crawled(host, max_pages=5)

        assert 5 == len(stored)

    def test_a_job_done_again_asks_for_nothing_twice(self, host: FakeHost) -> None:
        job, _ = crawled(host)
        n_asked = len(host.paths)
        Job.objects.filter(pk=job.pk).update(state=Job.State.DUE, due_at=timezone.now())
        again = jobs.run_job(job.pk, crawl_list)

        assert (Job.State.DONE, n_asked) == (again.state, len(host.paths))

    @pytest.mark.parametrize(
        ("url", "more", "problem"),
        [
            ("https://elsewhere.example/list", {}, "does not belong"),
            ("ftp://x/", {}, "ftp"),
            ("https://shop.example/list", {"max_pages": 0}, "at least 1"),
        ],
    )
    def test_what_cannot_be_crawled_is_refused(
        self, url: str, more: dict[str, Any], problem: str
    ) -> None:
        site = Site.objects.create(name="shop", root_url="https://shop.example/")
        with pytest.raises(ValidationError, match=problem):
            enqueue(list_crawl_request(site=site, url=url, **more))
