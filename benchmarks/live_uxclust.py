"""What UXClust finds of a site crawled breadth first, beside what the site model asks for."""

from __future__ import annotations

from collections import deque
from pathlib import Path

from lxml.html import HtmlElement

from benchmarks.report import line_chart, markdown_table
from benchmarks.site_model import reference_schemas
from clustering.algorithms.grouping import ClusteringInputs, SiteLink
from clustering.algorithms.measures import compare, schema_quality
from clustering.algorithms.published.page_classes import find_collections
from clustering.algorithms.published.uxclust import cluster_pages
from clustering.dom.links import find_links
from clustering.dom.page import parse_page
from clustering.fetching.client import Client, Fetcher
from clustering.fetching.guard import Guard, networks
from vertex.demo import sites
from vertex.demo.sites.server import DemoServer

TITLE = "UXClust against a live crawl"
SHARES = (0.1, 0.2, 0.4, 0.7, 1.0)  # of the site, fetched, at which the pages are grouped
EXPLAINED = """\
The demo sites are served by HTTP and crawled breadth first from their home pages. At each share of
the site the pages are grouped by the XPath of their first inbound link, without positions; pages
that are linked and not fetched yet are grouped as well, as UXClust needs no page but its samples.
Adjusted Rand counts the pages that are linked by then. The site model fetches 9 to 14 % of the same
sites, see its section."""


class Crawl:
    """A site as a crawl knows it so far."""

    def __init__(self, site: sites.DemoSite, root: str) -> None:
        self.site, self.root = site, root
        self.queue = deque([f"{root}/"])
        self.known = {f"{root}/"}
        self.links: list[SiteLink] = []
        self.trees: dict[str, HtmlElement] = {}
        self.types: dict[str, str] = {}  # of the linked pages

    def fetch_next(self, fetcher: Fetcher) -> None:
        """Fetch the page that waits longest and note its links."""
        url = self.queue.popleft()
        answer = fetcher.fetch(url)
        tree = parse_page(answer.body, answer.content_type).tree
        if tree is None or not answer.content_type.startswith("text/html"):
            return
        self.trees[url] = tree
        for link in find_links(tree, url):
            self._note(SiteLink(url, link.xpath, link.url, link.text))

    def _note(self, link: SiteLink) -> None:
        path = link.target.removeprefix(self.root)
        page = self.site.page_at(path) if link.target.startswith(self.root) else None
        if page is None or path.startswith(self.site.forbidden):
            return
        self.links.append(link)
        self.types[link.target] = page.type
        if link.target not in self.known:
            self.known.add(link.target)
            self.queue.append(link.target)

    def judge(self, reference: list[set[str]]) -> tuple[float, float, int]:
        """Return adjusted Rand, Q and the number of clusters."""
        urls = sorted(self.types)
        evidence = ClusteringInputs(links=self.links, read=self.trees.get)
        grouping = cluster_pages(urls, [None] * len(urls), evidence, has_positions=False)
        labels = dict(zip(urls, grouping.labels(len(urls)), strict=True))
        schemas = [
            [
                set(find_collections(self.trees[urls[n]], urls[n]))
                for n in group.members
                if urls[n] in self.trees
            ]
            for group in grouping.groups
        ]
        quality = schema_quality(reference, [pages for pages in schemas if pages])[2]
        return compare(labels, self.types).adjusted_rand, quality, len(grouping.groups)


def run(_data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    rows: list[list[object]] = []
    drawn: dict[str, list[float]] = {}
    for name in sites.NAMES:
        site = sites.load(name)
        for share, (rand, quality, n_clusters) in zip(SHARES, crawled(site), strict=True):
            rows.append(
                [f"{name}, {share:.0%} fetched", f"{rand:.2f}", f"{quality:.2f}", n_clusters]
            )
            drawn.setdefault(name, []).append(quality)
    head = ["site, share", "adjusted Rand", "Q", "clusters"]
    shares = [f"{share:.0%}" for share in SHARES]
    return "\n\n".join(
        [
            EXPLAINED,
            markdown_table(head, rows),
            line_chart("Q against the share fetched", shares, drawn),
        ]
    )


def crawled(site: sites.DemoSite) -> list[tuple[float, float, int]]:
    """Crawl a site and judge the groups at each share of its pages."""
    reference, judged = reference_schemas(site), []
    with (
        DemoServer(site) as server,
        Fetcher(Client("Vertex/benchmark", Guard(networks(("127.0.0.0/8",))))) as fetcher,
    ):
        crawl = Crawl(site, server.url)
        for share in SHARES:
            while crawl.queue and (share == 1 or len(crawl.trees) < share * len(site.pages)):
                crawl.fetch_next(fetcher)
            judged.append(crawl.judge(reference))
    return judged
