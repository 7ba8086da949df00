"""A crawl as plain as possible: page after page, breadth first, without network or database.

It says what a crawl of any number of sites, connections and processes must come to. And sites made
by chance that have what crawls meet.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import urljoin, urlsplit

from clustering.algorithms.published.page_classes import PageLinks, read_collections
from clustering.dom.addresses import normalise_url
from clustering.dom.page import parse_page
from tests.apps.clustering.fake_host import NOT_FOUND, Answer, FakeHost
from vertex.demo.sites import DemoSite
from vertex.demo.sites.server import answer

ERROR: Final = 400  # the first status of an error


class Brought(NamedTuple):
    """What a host answers."""

    status: int
    content_type: str
    body: bytes
    location: str = ""


class PageFacts(NamedTuple):
    """What became of an address."""

    url: str
    depth: int
    state: str
    status: int | None = None
    redirects_to: str | None = None


class LinkOnPage(NamedTuple):
    xpath: str
    url: str


class FirstLink(NamedTuple):
    """The link by which a page was found first."""

    source: str
    xpath: str


@dataclass
class SequentialCrawl:
    """All pages of a site in the order of their discovery."""

    root_url: str
    ask: Callable[[str], Brought]
    forbidden: tuple[str, ...] = ()  # the paths that robots.txt disallows begin so
    pages: list[PageFacts] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    links: dict[str, list[LinkOnPage]] = field(default_factory=dict)  # of stored pages

    def run(self) -> SequentialCrawl:
        """Visit all pages that links and redirects lead to from the root."""
        waiting = deque([(self.root_url, 0)])
        known = {self.root_url}
        while waiting:
            url, depth = waiting.popleft()
            for found, found_depth in self._visit(url, depth):
                if self._belongs_here(found) and found not in known:
                    known.add(found)
                    waiting.append((found, found_depth))
        return self

    def first_links(self) -> dict[str, FirstLink]:
        """Return the first link to each stored page.

        A link to an address that redirects counts for the page where the redirects end.
        """
        end_by_url = {page.url: page.redirects_to for page in self.pages if page.redirects_to}
        first: dict[str, FirstLink] = {}
        for source, links in self.links.items():
            for link in links:
                target = end_by_url.get(link.url, link.url)
                if target in self.links and target not in {source, self.root_url}:
                    first.setdefault(target, FirstLink(source, link.xpath))
        return first

    def _visit(self, url: str, depth: int) -> list[tuple[str, int]]:
        """Ask for a page; return the addresses that it leads to, with their depths."""
        if self.is_forbidden(url):
            self.pages.append(PageFacts(url, depth, "refused"))
            return []
        self.asked.append(url)
        brought = self.ask(url)
        if brought.location:
            location = normalise_url(urljoin(url, brought.location))
            self.pages.append(PageFacts(url, depth, "redirected", brought.status, location))
            return [(location, depth + 1 if depth else 0)]
        if not brought.content_type.startswith("text/html"):
            self.pages.append(PageFacts(url, depth, "skipped", brought.status))
            return []
        self.pages.append(PageFacts(url, depth, "stored", brought.status))
        self.links[url] = links_of(brought, url)
        if brought.status >= ERROR:
            return []
        return [(link.url, depth + 1) for link in self.links[url]]

    def is_forbidden(self, url: str) -> bool:
        """Return whether robots.txt disallows an address."""
        return urlsplit(url).path.startswith(self.forbidden)

    def _belongs_here(self, url: str) -> bool:
        return urlsplit(url).netloc == urlsplit(self.root_url).netloc


@dataclass
class SequentialVisits:
    """The visits of an exploration, made at once one after the other."""

    crawl: SequentialCrawl
    came_to: dict[str, None] = field(default_factory=dict)  # addresses, in their order

    def visit(self, url: str) -> PageLinks | None:
        """Return the links of the page that comes for an address, None where none comes."""
        self.came_to.setdefault(url)
        if self.crawl.is_forbidden(url):
            return None
        brought = self.crawl.ask(url)
        if brought.location:
            return self.visit(normalise_url(urljoin(url, brought.location)))
        read = read_collections(brought.body, brought.content_type, url)
        if not brought.content_type.startswith("text/html") or read is None:
            return None
        _, collections = read
        if brought.status >= ERROR:  # its links are seen, but not followed
            return PageLinks(url, dict.fromkeys(collections, ()))
        return PageLinks(url, collections)


def crawl_of_demo(demo: DemoSite, url: str) -> SequentialCrawl:
    """Return the crawl of a demo site that is served at an address."""

    def ask(asked: str) -> Brought:
        status, headers, body = answer(demo, asked.removeprefix(url), url)
        return Brought(status, headers["Content-Type"], body, headers.get("Location", ""))

    return SequentialCrawl(f"{url}/", ask, demo.forbidden)


def crawl_of_host(host: FakeHost, forbidden: tuple[str, ...] = ()) -> SequentialCrawl:
    """Return the crawl of a host that answers without looking at who asks."""

    def ask(asked: str) -> Brought:
        route = host.routes.get(asked.removeprefix(host.url), NOT_FOUND)
        assert isinstance(route, Answer)
        content_type = route.headers.get("Content-Type", "")
        return Brought(route.status, content_type, route.body, route.headers.get("Location", ""))

    return SequentialCrawl(f"{host.url}/", ask, forbidden)


def links_of(brought: Brought, url: str) -> list[LinkOnPage]:
    """Return the links of a page, as lxml and the standard library see them."""
    tree = parse_page(brought.body, brought.content_type).tree
    assert tree is not None
    base = urljoin(url, next(iter(tree.xpath("//base/@href")), ""))
    links = []
    for element in tree.xpath("//a[@href] | //area[@href]"):
        target = urljoin(base, element.get("href"))
        if target.startswith(("http:", "https:")) and not element.get("href").startswith("#"):
            path = element.getroottree().getpath(element)
            links.append(LinkOnPage(path, normalise_url(target)))
    return links


# Sites made by chance

ROBOTS: Final = Answer(b"User-agent: *\nDisallow: /private/")
FORBIDDEN: Final = ("/private/",)
HTML: Final = {"Content-Type": "text/html; charset=utf-8"}


def made_site(seed: int, n_pages: int) -> dict[str, Any]:
    """Return the routes of a site: pages in folders, with what crawls meet on the way."""
    chance = random.Random(seed)
    paths = ["/", *(f"/{_folder(chance)}page-{number}" for number in range(1, n_pages))]
    others = {
        "/robots.txt": ROBOTS,
        "/private/a": made_page(chance, "/private/a", paths),
        "/file": Answer(b"%PDF", headers={"Content-Type": "application/pdf"}),
        "/gone": Answer(b"<p>gone <a href=/beyond>beyond</a>", 404, HTML),
        "/beyond": made_page(chance, "/beyond", paths),
        "/old": Answer(status=301, headers={"Location": chance.choice(paths[1:])}),
        "/older": Answer(status=302, headers={"Location": "old"}),
    }
    linked = [*paths, *(path for path in others if path not in {"/robots.txt", "/beyond"})]
    return {path: made_page(chance, path, linked) for path in paths} | others


def made_page(chance: random.Random, path: str, linked: list[str]) -> Answer:
    """Return a page of a chain through all pages, with some links to any, written in any way."""
    place = linked.index(path) if path in linked else 0
    targets = [linked[(place + 1) % len(linked)], *chance.choices(linked, k=chance.randrange(1, 9))]
    items = "".join(f"<li><b>{_words(chance)}</b>{_written(chance, each)}" for each in targets)
    more = (
        "<a href='#top'>top</a><a href='mailto:x@y.example'>mail</a><a "
        "href='http://other.example/'>out</a>"
    )
    section = "<div>" * chance.randrange(3) + f"<ul>{items}</ul>{more}"
    return Answer(f"<!doctype html><title>{path}</title><body>{section}".encode(), headers=HTML)


def _folder(chance: random.Random) -> str:
    return chance.choice(["", "a/", "a/b/", "c/"])


def _words(chance: random.Random) -> str:
    return " ".join(chance.choices(["rope", "tent", "boots", "lamp"], k=3))


def _written(chance: random.Random, path: str) -> str:
    """Return a link as people write it; the address means the same in each way."""
    ways = [path, f"{path}#part", f"/x/..{path}", f" {path}\n", path.replace("page", "p%61ge")]
    return f'<a href="{chance.choice(ways)}">{_words(chance)}</a>'
