"""A newcomer runs the demo; an editor crawls one of its sites and finds every reachable page."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.core.management import call_command

from clustering.dom.addresses import normalise_url
from clustering.models import Page
from tests.installation import own_database
from vertex.core.models import Refusal, Site
from vertex.core.storage import page_store
from vertex.demo import sites
from vertex.demo.sites import DemoSite
from vertex.demo.sites.server import DemoServer, free_ports, is_served
from vertex.demo.sites.walking import reachable


def expected_pages(site: DemoSite, root: str) -> dict[str, tuple[str, int | None]]:
    """Return state and status of every address that can be reached, as a crawl should note them."""
    return {normalise_url(root + path): expected_of(site, path) for path in reachable(site)}


def expected_of(site: DemoSite, path: str) -> tuple[str, int | None]:
    if path.startswith(site.forbidden):
        return Page.State.REFUSED, None
    if path in site.redirects:
        return Page.State.REDIRECTED, 301
    page = site.page_at(path)
    return Page.State.STORED, page.status if page else 404


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("loopback")
@pytest.mark.parametrize("name", sites.NAMES)
def test_a_crawl_finds_every_page_that_a_visitor_can_reach(name: str, tmp_path: Path) -> None:
    site = sites.load(name)
    result = tmp_path / "told.jsonl"
    with DemoServer(site) as server:
        call_command("add_site", name, url=server.url + "/")
        call_command("crawl_site", name, delay=0, output=str(result))
        expected = expected_pages(site, server.url)

    pages = Page.objects.filter(site__name=name)
    assert expected == {page.url: (page.state, page.status) for page in pages}
    stored = pages.filter(state=Page.State.STORED).select_related("latest_snapshot")
    for page in stored:
        parts = urlsplit(page.url)
        truth = site.page_at(parts.path + ("?" + parts.query if parts.query else ""))
        assert page.latest_snapshot is not None
        if truth is not None:
            assert truth.body == page_store().read(page.latest_snapshot.body)
    assert stored.count() == len(result.read_text().splitlines())
    refused = set(
        Refusal.objects.filter(site__name=name, code="robots").values_list("subject", flat=True)
    )
    assert {url for url, (state, _) in expected.items() if state == Page.State.REFUSED} == refused


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("loopback")
def test_a_redesigned_site_keeps_its_pages_and_gets_new_snapshots() -> None:
    with DemoServer(sites.load("the-courier")) as server:
        call_command("add_site", "the-courier", url=server.url + "/")
        call_command("crawl_site", "the-courier", delay=0, output=os.devnull)
        server.site = sites.load("the-courier", 2)
        call_command("crawl_site", "the-courier", delay=0, output=os.devnull)

    pages = Page.objects.filter(site=Site.objects.get())
    before, after = sites.load("the-courier", 1), sites.load("the-courier", 2)
    n_snapshots = {urlsplit(page.url).path: page.snapshots.count() for page in pages}
    both = [path for path in set(before.pages) & set(after.pages) if path in n_snapshots]
    kinds = {(before.pages[path].type == "recipe", n_snapshots[path]) for path in both}
    assert kinds == {(True, 1), (False, 2)}


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment of an empty installation; `test_up` shows that `up` migrates one."""
    inherited = {
        name: text
        for name, text in os.environ.items()
        if not name.startswith(("VERTEX_", "DATABASE_URL"))
    }
    var = tmp_path_factory.mktemp("newcomer") / "var"
    own_database(var, "")
    return inherited | {"VERTEX_VAR": str(var), "VERTEX_DEMO_PORT": str(free_ports(4))}


@pytest.fixture(scope="module")
def first_demo(newcomer: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Return how the demo ended on the installation that was empty."""
    return run(newcomer, "demo", "--max-pages", "60")


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(
        command,
        cwd=settings.BASE_DIR,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.slow
def test_one_command_shows_everything_and_a_second_time_too(
    newcomer: dict[str, str], first_demo: subprocess.CompletedProcess[str]
) -> None:
    first = first_demo
    second = run(newcomer, "demo", "--max-pages", "60")

    assert (0, "") == (first.returncode, first.stderr)
    assert (0, "") == (second.returncode, second.stderr)
    assert "232 pages stored" in first.stdout
    assert "4 rules published" in first.stdout
    assert "0 people are new" in second.stdout
    assert [4] * 2 == [
        second.stdout.count(word) for word in ("clustered before", "extracted before")
    ]
    logins = Path(newcomer["VERTEX_VAR"], "demo-logins.txt").read_text().splitlines()[1:]
    assert all(
        line.split()[1] in first.stdout and line.split()[1] in second.stdout for line in logins
    )


@pytest.mark.slow
@pytest.mark.usefixtures("first_demo")
def test_the_sites_can_be_crawled_again_while_they_are_served(newcomer: dict[str, str]) -> None:
    crawl = ["crawl_site", "alpine-shop", "--max-pages", "3", "--delay", "0"]
    with serving(newcomer) as server:
        refused = run(newcomer, *crawl)
        crawled = run(newcomer | {"VERTEX_ALLOWED_NETWORKS": "127.0.0.0/8"}, *crawl)
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0

    assert refused.returncode == 1
    assert "VERTEX_ALLOWED_NETWORKS" in refused.stderr
    lines = [json.loads(line) for line in crawled.stdout.splitlines()]
    assert [(200, "unchanged")] * 3 == [(line["status"], line["snapshot"]) for line in lines]


@contextmanager
def serving(environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Serve the sites from a process of their own, as `manage.py up` does."""
    command = [sys.executable, "manage.py", "demo", "--serve"]
    server = subprocess.Popen(
        command, cwd=settings.BASE_DIR, env=environment, stdout=subprocess.DEVNULL
    )
    try:
        for number, name in enumerate(sites.NAMES):
            wait_until_served(name, int(environment["VERTEX_DEMO_PORT"]) + number)
        yield server
    finally:
        server.kill()
        server.wait()


def wait_until_served(name: str, port: int) -> None:
    until = time.monotonic() + 180
    while not is_served(name, port):
        assert time.monotonic() < until, f"{name} is not served"
        time.sleep(0.1)
