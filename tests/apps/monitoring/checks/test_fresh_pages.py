"""Newer pages, from an archive and from the site itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.conf import LazySettings

from clustering.fetching.guard import networks
from clustering.models import Host, SiteFetching
from clustering.services.crawl.errands import open_errands
from clustering.services.sites.site_fetching import change_fetching
from monitoring.services.checks.fresh_pages import (
    FreshPage,
    errand_for,
    page_of,
    pages_of_source,
)
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.fake_host import Answer, FakeHost, page
from tests.apps.clustering.members_club import LOG_IN, Club
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import JobRun, claim_job, create_job

pytestmark = pytest.mark.django_db


def run_at(site: Site) -> JobRun:
    """Return a claimed job of a site."""
    return claim_job(
        create_job(task="tests.fetch", queue=Job.Queue.CHECK, title="Fetch", site=site).pk
    )


def fetch(site: Site, *urls: str) -> list[FreshPage | str]:
    """Return what a job gets that has these addresses fetched, one after the other."""
    with open_errands(run_at(site)) as errands:
        return [page_of(next(errands.do([errand_for(url, tries=2)]))) for url in urls]


def nothing() -> None:
    """Renew no lease."""


def test_of_several_versions_the_newest_counts(tmp_path: Path) -> None:
    site = site_of()
    lines = []
    for file, day in (("old", "01"), ("new", "03"), ("middle", "02")):
        (tmp_path / f"{file}.html").write_text(f"<html><p>{file}</p></html>")
        line = {"url": f"{site.root_url}p/1", "file": f"{file}.html"}
        lines.append(json.dumps(line | {"fetched_at": f"2024-10-{day}T00:00:00Z"}))
    (tmp_path / "manifest.jsonl").write_text(
        "\n".join([*lines, "no json", '{"url": "x:y", "file": "old.html"}'])
    )
    pages = pages_of_source(tmp_path / "manifest.jsonl", site, renew=nothing)

    assert {f"{site.root_url}p/1"} == set(pages)
    assert b"new" in pages[f"{site.root_url}p/1"].body


def test_only_what_is_wanted_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<html><p>a</p></html>")
    (tmp_path / "b.html").write_text("<html><p>b</p></html>")
    site = site_of()
    wanted = {f"{site.root_url}a.html"}

    assert wanted == set(pages_of_source(tmp_path, site, wanted, renew=nothing))
    assert 2 == len(pages_of_source(tmp_path, site, renew=nothing))


class TestNetwork:
    def test_pages_are_fetched_with_their_status_and_robots_are_obeyed(
        self, settings: LazySettings
    ) -> None:
        settings.ALLOWED_NETWORKS = networks(["127.0.0.0/8"])
        robots = Answer(
            b"User-agent: *\nDisallow: /private", headers={"Content-Type": "text/plain"}
        )
        with FakeHost(
            {"/robots.txt": robots, "/a": page(text="a"), "/private": page(text="x")}
        ) as host:
            site = site_of(crawl_delay=0.0)
            urls = [f"{host.url}/a", f"{host.url}/gone", f"{host.url}/private"]
            results = fetch(site, *urls)

        assert [200, 404, "robots"] == [
            result.status if isinstance(result, FreshPage) else result for result in results
        ]
        assert "/private" not in {request.path for request in host.asked}
        row = Host.objects.get(name=host.url)
        assert (2, {"404": 1, "robots": 1}) == (row.n_answers, row.problems)
        assert row.n_bytes >= len(page(text="a").body)

    def test_a_private_address_is_not_asked(self, settings: LazySettings) -> None:
        settings.ALLOWED_NETWORKS = []
        site = site_of(crawl_delay=0.0)
        with FakeHost({"/a": page(text="a")}) as host:
            answers = fetch(site, f"{host.url}/a")

        assert ["address"] == answers
        assert not host.asked

    def test_pages_for_members_are_fetched_by_whoever_is_logged_in(
        self, settings: LazySettings
    ) -> None:
        settings.ALLOWED_NETWORKS = networks(["127.0.0.0/8"])
        with Club("a", "b") as club:
            site = Site.objects.create(name="club", root_url=f"{club.url}/", crawl_delay=0.0)
            change_fetching(site=site, actor=None, log_in_url=f"{club.url}/login", **LOG_IN)
            [first] = fetch(site, f"{club.url}/a")
            club.sessions.clear()  # as if it had expired
            with open_errands(run_at(site)) as errands:
                second = page_of(next(errands.do([errand_for(f"{club.url}/b", tries=2)])))
                club.sessions.clear()
                third = page_of(next(errands.do([errand_for(f"{club.url}/a", tries=2)])))
            club.closes_for_good = True
            SiteFetching.objects.update(session="")
            [fourth] = fetch(site, f"{club.url}/a")

        assert isinstance(first, FreshPage)
        assert isinstance(second, FreshPage)
        assert (b"a Log out" in first.body, b"b Log out" in second.body) == (True, True)
        assert (third, fourth) == ("logged_out", "log_in")
        assert club.n_logins == 2
        assert "without “Log out”" in SiteFetching.objects.get().log_in_problem
