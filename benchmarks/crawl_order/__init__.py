"""Whether crawls side by side in one process find what a crawl of one page at a time finds.

All editions of the demo sites and, with `--data`, all generated sites but those that are out of
order are crawled at once. Each is compared with a plain crawl that reads the same pages from
memory; the links of generated pages also with those that were written into them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.crawl_cost.ground import ROOT, installation, manage
from benchmarks.report import markdown_table
from tests.apps.clustering.crawl.sequential_crawl import (
    SequentialCrawl,
    crawl_of_demo,
    crawl_of_host,
)
from tests.apps.clustering.fake_host import Answer, FakeHost
from vertex.demo import sites
from vertex.demo.sites.server import DemoServer

TITLE = "Order of crawls"
VERSIONS: Final = (
    "v0",
    "v1",
    "v2",
    "v3",
    "v4",
    "v5",
)  # the next one is a site that is out of order
BASE_URL: Final = "http://127.0.0.1:8700"  # at which the generated sites were written
HEADS: Final = (
    "crawled at once in one process",
    "sites",
    "pages",
    "links",
    "pages that differ",
    "links that differ",
    "first links that differ",
    "links unlike what was written",
)

Rows = list[list[Any]]


@dataclass(frozen=True)
class Served:
    """A site that is served, and what a crawl of it must come to."""

    expected: SequentialCrawl
    written: dict[str, Rows] = field(default_factory=dict)  # the links of pages: XPath and address


@dataclass(frozen=True)
class Crawled:
    """What a crawl came to, as rows."""

    pages: Rows
    links: dict[str, Rows]
    first_links: dict[str, list[str]]


def run(data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    with ExitStack() as stack:
        demo = [
            stack.enter_context(demo_site(name, edition))
            for name in sites.NAMES
            for edition in sites.EDITIONS
        ]
        folders = sorted((data / "generated").iterdir()) if data else []
        generated = [
            stack.enter_context(generated_site(folder / version))
            for folder in folders
            for version in VERSIONS
        ]
        crawled = crawled_at_once([*demo, *generated])
    rows = [row_of("demo sites in all editions", demo, crawled[: len(demo)])]
    if generated:
        rows.append(row_of("generated sites in six versions", generated, crawled[len(demo) :]))
    return markdown_table(list(HEADS), rows)


@contextmanager
def demo_site(name: str, edition: str) -> Iterator[Served]:
    demo = sites.load(name, edition)
    with DemoServer(demo) as server:
        yield Served(crawl_of_demo(demo, server.url))


@contextmanager
def generated_site(folder: Path) -> Iterator[Served]:
    """Serve a site with the bytes that were written; only its address is another one."""
    with FakeHost({}) as host:
        written: dict[str, Rows] = {}
        for line in (folder / "manifest.jsonl").read_text("utf-8").splitlines():
            entry = json.loads(line.replace(BASE_URL, host.url))
            body = (folder / entry["file"]).read_bytes()
            host.routes[entry["url"].removeprefix(host.url)] = Answer(
                body.replace(BASE_URL.encode(), host.url.encode()),
                entry["status"],
                {"Content-Type": entry.get("content_type") or "text/html"},
            )
            written[entry["url"]] = [[link["xpath"], link["url"]] for link in entry["links"]]
        yield Served(crawl_of_host(host), written)


# Crawling


def crawled_at_once(served: Sequence[Served]) -> list[Crawled]:
    """Crawl all sites in one process; return what it came to, by site."""
    roots = [each.expected.root_url for each in served]
    with installation() as environ:
        manage(ROOT, environ, "shell", "-v0", "-c", NEW_CRAWLS.format(roots))
        command = [sys.executable, "manage.py", "fetch"]
        with subprocess.Popen(command, cwd=ROOT, env=environ) as process:
            while manage(ROOT, environ, "shell", "-v0", "-c", COUNTING_UNFINISHED).strip() != "0":
                time.sleep(1.0)
            process.terminate()
        printed = manage(ROOT, environ, "shell", "-v0", "-c", PRINTING)
    return [Crawled(**json.loads(line)) for line in printed.splitlines()]


NEW_CRAWLS = """
from clustering.services.crawl.crawling import crawl_request
from vertex.core.models import Site
from vertex.core.services.jobs.requests import enqueue
for number, url in enumerate({}):
    site = Site.objects.create(name=f"site-{{number}}", root_url=url, crawl_delay=0)
    enqueue(crawl_request(site=site))
"""
COUNTING_UNFINISHED = """
from vertex.core.models import Job
print(Job.objects.unfinished().count())
"""
PRINTING = """
import json
from clustering.models import Link, Page
from clustering.services.clusters.clustering_inputs import first_links
from vertex.core.models import Site
for site in Site.objects.order_by("pk"):
    pages = Page.objects.filter(site=site).order_by("pk")
    links = {url: [] for url in pages.filter(state="stored").values_list("url", flat=True)}
    rows = Link.objects.filter(page__site=site).order_by("page", "position")
    for url, xpath, target in rows.values_list("page__url", "xpath", "url"):
        links[url].append([xpath, target])
    columns = ("url", "depth", "state", "status", "redirects_to__url")
    first = {url: [link.source, link.xpath] for url, link in first_links(site, list(links)).items()}
    rows = list(pages.values_list(*columns))
    print(json.dumps({"pages": rows, "links": links, "first_links": first}))
"""


# Comparing


def row_of(name: str, served: Sequence[Served], crawled: Sequence[Crawled]) -> list[object]:
    """Return how much there was, and how much differs."""
    pairs = list(zip(served, crawled, strict=True))
    return [
        name,
        len(served),
        sum(len(each.pages) for _, each in pairs),
        sum(len(links) for _, each in pairs for links in each.links.values()),
        *map(sum, zip(*(differences(*pair) for pair in pairs), strict=True)),
    ]


def differences(served: Served, crawled: Crawled) -> list[int]:
    """Count a site's pages, links, first links and written links that are not as they should be."""
    expected = served.expected.run()
    pages = [list(each) for each in expected.pages]
    links = {url: [list(link) for link in of_page] for url, of_page in expected.links.items()}
    first_links = {url: list(link) for url, link in expected.first_links().items()}
    written = {url: served.written[url] for url in served.written.keys() & crawled.links.keys()}
    return [
        n_other(enumerate(pages), enumerate(crawled.pages)),
        n_other(links.items(), crawled.links.items()),
        n_other(first_links.items(), crawled.first_links.items()),
        n_other(written.items(), ((url, crawled.links[url]) for url in written)),
    ]


def n_other(expected: Any, found: Any) -> int:
    """Count the keys of key-value pairs whose value differs or is missing on one side."""
    expected, found = dict(expected), dict(found)
    return sum(expected.get(key) != found.get(key) for key in expected.keys() | found.keys())
