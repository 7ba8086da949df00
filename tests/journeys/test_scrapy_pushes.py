"""A real Scrapy project pushes its pages: killed in the middle and run again, it loses none."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from clustering.models import Link, Page, Snapshot
from rules.bundle import push_pages
from tests.apps.clustering.api_cast import caller
from tests.installation import wait_until
from vertex.core.models import Refusal, Role, Site

SCRAPY = shutil.which("scrapy")
N_PAGES = 300
SPIDER = """
import scrapy

class ShopSpider(scrapy.Spider):
    name = "shop"
    start_urls = ["{root}"]

    def parse(self, response):
        yield from response.follow_all(css="a", callback=self.parse)
"""
SETTINGS = """
SPIDER_MIDDLEWARES = {"push_pages.PushPages": 10}
DOWNLOAD_DELAY = 0
CONCURRENT_REQUESTS_PER_DOMAIN = 4
"""

pytestmark = pytest.mark.skipif(
    SCRAPY is None, reason="SCRAPY NOT FOUND. There is no scrapy on the PATH: pip install scrapy"
)


class Shop(BaseHTTPRequestHandler):
    """Pages of which each leads to ten others, one picture, and an error."""

    def do_GET(self) -> None:
        name = self.path.strip("/") or "0"
        status, kind, body = 404, "text/html", b"<title>Not here</title>"
        if name == "picture":
            status, kind, body = 200, "image/png", b"\x89PNG"
        elif name.isdigit() and int(name) < N_PAGES:
            number = int(name)
            children = range(10 * number + 1, min(10 * number + 11, N_PAGES))
            links = "".join(f"<li><a href=/{child}>Page {child}</a>" for child in children)
            status, body = 200, f"<title>{number}</title><ul>{links}</ul>".encode()
            if number == 0:
                body += b"<a href=/picture>See</a><a href=/gone>Gone</a>"
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def root() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Shop) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


def project_in(folder: Path, root: str) -> Path:
    """Make a Scrapy project with a spider and the line that this is about."""
    assert SCRAPY is not None
    subprocess.run([SCRAPY, "startproject", "shop"], cwd=folder, check=True, capture_output=True)
    project = folder / "shop"
    (project / "shop" / "spiders" / "shop.py").write_text(SPIDER.format(root=root))
    with (project / "shop" / "settings.py").open("a") as settings:
        settings.write(SETTINGS)
    assert push_pages.__file__ is not None
    shutil.copy(push_pages.__file__, project)
    return project


def spider(project: Path, environ: dict[str, str]) -> subprocess.Popen[bytes]:
    assert SCRAPY is not None
    with (project / "log").open("ab") as log:
        return subprocess.Popen([SCRAPY, "crawl", "shop"], cwd=project, env=environ, stderr=log)


def n_stored() -> int:
    return Page.objects.filter(state=Page.State.STORED).count()


@pytest.mark.django_db(transaction=True)
def test_a_project_that_is_killed_and_run_again_loses_and_doubles_nothing(
    live_server: LiveServer, root: str, tmp_path: Path
) -> None:
    Site.objects.create(name="shop", root_url=root)
    project = project_in(tmp_path, root)
    environ = {
        "PATH": os.environ["PATH"],
        "VERTEX_URL": live_server.url,
        "VERTEX_SITE": "shop",
        "VERTEX_TOKEN": caller("ada", Role.OPERATOR).key,
        "NO_PROXY": "*",
    }
    first = spider(project, environ)
    wait_until(lambda: n_stored() > 0, "the first pages")
    first.send_signal(signal.SIGKILL)
    first.wait()

    assert 0 == spider(project, environ).wait()
    log = (project / "log").read_text()
    assert n_stored() == N_PAGES + 1, log[-3000:]
    assert Snapshot.objects.count() == N_PAGES + 1
    assert Link.objects.count() == N_PAGES + 1, "299 to pages, to the picture and to what is gone"
    assert [404] == list(Page.objects.exclude(status=200).values_list("status", flat=True))
    depths = dict(Page.objects.values_list("url", "depth"))
    assert [0, 1, 2, 3] == [depths[f"{root}{name}"] for name in ("", "1", "11", "111")]
    assert not Refusal.objects.exists()
    assert "'vertex/not_html': 1" in log
    assert "'vertex/left': 0" in log
    assert [] == list((project / ".scrapy" / "vertex-shop").glob("*.json"))
