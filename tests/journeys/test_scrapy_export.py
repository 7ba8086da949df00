"""The exported project in a real Scrapy, and its page class under web-poet's own tests.

Both run in an environment of their own that has Scrapy, web-poet and what `vertex-rules` needs, but
nothing of the product: the built package lies beside.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import orjson
import pytest

from rules.bundle.build_backend import build_wheel
from rules.services.learning.learning import learn_rule
from rules.services.records.exporting import export_rules
from rules.services.records.extracting import stored_lines
from rules.services.review.publishing import publish_rule
from tests.apps.rules.shop_cast import extract, list_page, listing
from vertex.core.models import Site

SCRAPY = shutil.which("scrapy")
NEEDED = "google-re2 idna lxml orjson pytest scrapy web-poet webencodings xxhash"
IMPORTS = "import idna, lxml, orjson, pytest, re2, scrapy, web_poet, webencodings, xxhash"
N_LISTS = 8
ROBOTS = b"User-agent: *\nDisallow: /private/\n"
PRIVATE_PATHS = [f"/private/{number}" for number in range(1, 4)]
SLOW_SECONDS = 0.3  # that robots.txt is on its way


class ListSite(ThreadingHTTPServer):
    """Lists that the first page leads to, some of them disallowed; it remembers each request."""

    asked_paths: list[str]

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"


class ListHandler(BaseHTTPRequestHandler):
    server: ListSite

    def do_GET(self) -> None:
        self.server.asked_paths.append(self.path)
        number = self.path.rpartition("/")[2]
        body = b"<title>Lists</title>"
        if self.path == "/robots.txt":
            time.sleep(SLOW_SECONDS)
            body = ROBOTS
        elif number:
            body = list_page(int(number)).encode()
        else:
            paths = [*PRIVATE_PATHS, *(f"/list/{number}" for number in range(1, N_LISTS + 1))]
            body += "".join(f"<a href={path}>{path}</a>" for path in paths).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@dataclass(frozen=True)
class Outside:
    """An environment without the product, but for the package `vertex-rules`."""

    python: Path
    package: Path

    def run(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(self.package), "NO_PROXY": "*"}
        return subprocess.run(
            [str(self.python), "-m", *arguments],
            cwd=folder,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )

    def records(self, folder: Path, *settings: str) -> list[dict[str, Any]]:
        """Crawl by the spider of a project, and return its items."""
        output = folder / "records.jsonl"
        options = [word for setting in ("DOWNLOAD_DELAY=0", *settings) for word in ("-s", setting)]
        ended = self.run(folder, "scrapy", "crawl", "shop", "-O", str(output), *options)
        assert 0 == ended.returncode, ended.stderr[-3000:]
        return in_order(orjson.loads(line) for line in output.read_bytes().splitlines())


def in_order(lines: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(lines, key=lambda line: (line["url"], line["index"]))


@pytest.fixture
def outside(tmp_path: Path) -> Outside:
    if SCRAPY is None:
        pytest.skip(f"SCRAPY NOT FOUND. There is no scrapy on the PATH: pip install {NEEDED}")
    python = Path(SCRAPY).with_name("python")
    imported = subprocess.run([python, "-c", IMPORTS], capture_output=True, text=True, check=False)
    if imported.returncode:
        pytest.skip(f"{imported.stderr.splitlines()[-1]}. Beside scrapy: pip install {NEEDED}")
    wheel = tmp_path / build_wheel(str(tmp_path))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "package")
    return Outside(python, tmp_path / "package")


@pytest.fixture
def lists() -> Iterator[ListSite]:
    with ListSite(("127.0.0.1", 0), ListHandler) as server:
        server.asked_paths = []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def site(lists: ListSite) -> Site:
    """Return the site with a published rule and the records of its stored pages."""
    site = listing(N_LISTS, site=Site.objects.create(name="shop", root_url=lists.root))
    publish_rule(rule=learn_rule(cluster=site.clusters.get()))
    extract(site)
    return site


@pytest.fixture
def project(site: Site, tmp_path: Path) -> Path:
    export_rules(site=site, folder=tmp_path / "export", form="scrapy")
    return tmp_path / "export"


@pytest.mark.django_db
def test_the_project_yields_every_record_of_a_host_with_a_port(
    outside: Outside, project: Path, site: Site, lists: ListSite
) -> None:
    expected = in_order({**line, "nodes": {}} for line in stored_lines(site))
    records = outside.records(project)

    assert 3 * N_LISTS == len(expected)
    assert expected == [{**line, "nodes": {}} for line in records]
    assert set(PRIVATE_PATHS).isdisjoint(lists.asked_paths)


@pytest.mark.django_db
def test_the_spider_waits_for_robots_in_a_project_that_somebody_has(
    outside: Outside, project: Path, lists: ListSite, tmp_path: Path
) -> None:
    outside.run(tmp_path, "scrapy", "startproject", "own")
    own = tmp_path / "own"
    for path in (project / "bundle.json", *project.glob("*.xsl")):
        shutil.copy(path, own / "own" / "spiders")
    spider = (project / "spider.py").read_text()
    start_urls = [lists.root + path.lstrip("/") for path in ("/list/1", *PRIVATE_PATHS)]
    (own / "own" / "spiders" / "spider.py").write_text(
        spider.replace(f"start_urls = ['{lists.root}']", f"start_urls = {start_urls}")
    )

    assert 3 == len(outside.records(own))
    assert ["/robots.txt", "/list/1"] == lists.asked_paths
    outside.records(own, "ROBOTSTXT_OBEY=False")
    assert set(PRIVATE_PATHS) < set(lists.asked_paths)


@pytest.mark.django_db
def test_its_page_passes_the_tests_of_web_poet(outside: Outside, project: Path) -> None:
    passed = outside.run(project, "pytest", "-q", "fixtures")
    assert 0 == passed.returncode, passed.stdout[-3000:]
    assert "passed" in passed.stdout

    expected = next(project.glob("fixtures/*/test-1/output.json"))
    expected.write_bytes(expected.read_bytes().replace(b"Item 11", b"Item 99"))
    failed = outside.run(project, "pytest", "-q", "fixtures")
    assert 0 != failed.returncode
