"""The command `crawl_site`: lines out, notices apart, one line for an error."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from clustering.models import Page
from clustering.services.crawl import crawling
from tests.apps.clustering.fake_host import Answer, FakeHost, page
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import create_here

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

ROUTES = {
    "/": page("/a", "/gone", "/broken"),
    "/a": page(),
    "/gone": Answer(b"<p>gone", 404, {"Content-Type": "text/html"}),
}


def run(*arguments: str) -> list[dict[str, Any]]:
    out = io.StringIO()
    call_command("crawl_site", *arguments, stdout=out, stderr=io.StringIO())
    return [json.loads(line) for line in out.getvalue().splitlines()]


def site_of(host: FakeHost) -> Site:
    return Site.objects.create(name="alpine-shop", root_url=f"{host.url}/")


def test_each_page_is_a_line() -> None:
    with FakeHost(ROUTES | {"/broken": Answer(b"")}) as host:
        site_of(host)
        lines = run("alpine-shop", "--delay", "0")

    assert lines == [
        {"url": f"{host.url}/", "status": 200, "snapshot": "new"},
        {"url": f"{host.url}/a", "status": 200, "snapshot": "new"},
        {"url": f"{host.url}/gone", "status": 404, "snapshot": "new"},
    ]


def test_options_reach_the_crawl(tmp_path: Path) -> None:
    target = tmp_path / "lines.jsonl.gz"
    with FakeHost(ROUTES) as host:
        site_of(host)
        lines = run(
            "alpine-shop",
            "--entry",
            f"{host.url}/a",
            "--max-pages",
            "5",
            "--delay",
            "0.01",
            "--strategy",
            "breadth_first",
            "--output",
            str(target),
        )

    assert lines == []
    assert [
        json.loads(line)["url"] for line in gzip.decompress(target.read_bytes()).splitlines()
    ] == [f"{host.url}/a"]
    assert Job.objects.get().params == {
        "entry": f"{host.url}/a",
        "given_entry": f"{host.url}/a",
        "max_pages": 5,
        "delay": 0.01,
        "strategy": "breadth_first",
    }


@pytest.mark.parametrize("strategy", ["densest_first", "sparsest_first"])
def test_the_site_models_own_strategies_write_the_same_lines(strategy: str) -> None:
    with FakeHost(ROUTES) as host:
        site_of(host)
        lines = run("alpine-shop", "--delay", "0", "--strategy", strategy)

    assert {"url": f"{host.url}/", "status": 200, "snapshot": "new"} == lines[0]
    assert {f"{host.url}/a", f"{host.url}/gone"} & {line["url"] for line in lines}
    assert Job.objects.filter(result__stopped="empty").count() == 1


def test_a_site_that_is_not_there_is_an_error() -> None:
    with pytest.raises(CommandError, match="there is no site 'nowhere'"):
        run("nowhere")


def test_a_site_that_does_not_answer_is_an_error() -> None:
    with FakeHost({}) as host:
        site_of(host)
    with pytest.raises(CommandError, match=r"no page was stored.*does not take connections"):
        run("alpine-shop", "--delay", "0")


def test_an_interrupted_crawl_goes_on_with_all_its_lines() -> None:
    with FakeHost(ROUTES | {"/broken": page(text="b")}) as host:
        site = site_of(host)
        job = create_here(crawling.crawl_request(site=site, delay=0))

        def interrupt(_line: object) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            jobs.run_job(job.pk, crawling.crawl, report=interrupt)
        lines = run("alpine-shop", "--delay", "0")

    assert [line["url"] for line in lines] == [
        f"{host.url}{path}" for path in ("/", "/a", "/gone", "/broken")
    ]
    assert (Job.objects.count(), Job.objects.get().state) == (1, Job.State.DONE)
    assert host.paths.count("/") == 1


def test_a_crawl_that_was_to_do_something_else_is_not_gone_on_with() -> None:
    with FakeHost(ROUTES | {"/broken": page(text="b")}) as host:
        site = site_of(host)
        job = create_here(crawling.crawl_request(site=site, delay=0))

        def interrupt(_line: object) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            jobs.run_job(job.pk, crawling.crawl, report=interrupt)
        lines = run("alpine-shop", "--delay", "0", "--max-pages", "2")

    assert [line["snapshot"] for line in lines] == ["unchanged", "new"]
    assert Job.objects.count() == 2


def test_a_waiting_crawl_from_another_entry_is_not_taken_for_this_one() -> None:
    with FakeHost(ROUTES) as host:
        site = site_of(host)
        create_here(crawling.crawl_request(site=site, delay=0))
        with pytest.raises(CommandError, match="is already waiting"):
            run("alpine-shop", "--entry", f"{host.url}/a", "--delay", "0")
        assert host.asked == []
        assert run("alpine-shop", "--delay", "0") != []


def test_a_crawl_that_another_process_does_is_not_done_twice() -> None:
    with FakeHost(ROUTES) as host:
        site = site_of(host)
        held = jobs.claim_job(create_here(crawling.crawl_request(site=site)).pk)
        with pytest.raises(CommandError, match="already being done by another process"):
            run("alpine-shop")

    assert (host.asked, held.held.exists()) == ([], True)


def test_a_new_crawl_follows_one_that_was_finished() -> None:
    with FakeHost(ROUTES) as host:
        site_of(host)
        run("alpine-shop", "--delay", "0", "--max-pages", "1")
        lines = run("alpine-shop", "--delay", "0", "--max-pages", "2")

    assert [line["snapshot"] for line in lines] == ["unchanged", "new"]
    assert Job.objects.count() == 2
    assert Page.objects.filter(state=Page.State.STORED).count() == 2
