"""Sites whose pages have known types: real ones from a folder of data, and the demo sites."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.labelled_sites import (
    LabelledPage,
    listed_pages,
    pages_by_prefix,
    pages_in_folders,
    swde_pages,
)
from clustering.algorithms.grouping import Click, ClusteringInputs, RawPage, SiteLink
from clustering.algorithms.published.derived_log import derive_clicks
from clustering.dom.links import find_links
from vertex.demo import sites


@dataclass(frozen=True)
class TypedSite:
    """The pages of a site with their types, and its search log if it has one."""

    pages: list[RawPage]
    type_by_url: dict[str, str]
    clicks: list[Click]

    @property
    def urls(self) -> list[str]:
        return [page.url for page in self.pages]

    def links(self) -> list[SiteLink]:
        """Return the links between the site's own pages, page by page."""
        links: list[SiteLink] = []
        for page in self.pages:
            tree = RawPage(page.url, page.body, page.content_type).tree
            if tree is None:
                continue
            links += [
                SiteLink(page.url, link.xpath, link.url, link.text)
                for link in find_links(tree, page.url)
                if link.url in self.type_by_url
            ]
        return links

    def evidence(self, *, derives_log: bool = False, seed: int = 0) -> ClusteringInputs:
        """Return what the site offers beside its pages; if asked, with a log from anchor texts."""
        links, by_url = self.links(), {page.url: page for page in self.pages}
        return ClusteringInputs(
            links=links,
            clicks=derive_clicks(links) if derives_log else self.clicks,
            has_derived_clicks=derives_log,
            read=lambda url: RawPage(url, by_url[url].body, by_url[url].content_type).tree,
            seed=seed,
        )


def names(data: Path | None) -> list[str]:
    """Return the names of the sites that can be loaded."""
    real = [
        name for name, (folder, _) in REAL.items() if data is not None and (data / folder).is_dir()
    ]
    return real + [f"{name} {edition}" for name in sites.NAMES for edition in ("1", "2")]


def absent(data: Path | None) -> list[str]:
    """Return the names of the real sites that are not in the folder."""
    return [name for name in REAL if name not in names(data)]


def load(name: str, data: Path | None) -> TypedSite:
    """Read a site by its name."""
    if name in REAL and data is not None:
        folder, read = REAL[name]
        return _typed(read(data / folder))
    title, edition = name.rsplit(" ", 1)
    return _demo(title, edition)


def _typed(labelled: Sequence[LabelledPage]) -> TypedSite:
    pages = [each.page for each in labelled]
    return TypedSite(pages, {each.page.url: each.type for each in labelled}, [])


def _demo(name: str, edition: str) -> TypedSite:
    site = sites.load(name, edition)
    shown = list(site.pages.values())
    pages = [RawPage(site.default_url + page.path, page.body, page.content_type) for page in shown]
    clicks = [
        Click(query.query, site.default_url + query.path, query.clicks) for query in site.queries
    ]
    return TypedSite(pages, {site.default_url + page.path: page.type for page in shown}, clicks)


REAL: dict[str, tuple[str, Callable[[Path], list[LabelledPage]]]] = {
    "networkx": ("networkx_docs/1.3", listed_pages),
    "futbol": ("futbol_winprob", pages_in_folders),
    "dplyr 2019-06": ("dplyr_pkgdown/snap_2019-06-01", listed_pages),
    "dplyr 2022-02": ("dplyr_pkgdown/snap_2022-02-05", listed_pages),
    "dplyr 2022-03": ("dplyr_pkgdown/snap_2022-03-01", listed_pages),
    "stackoverflow": ("stackoverflow_pageclustering", pages_by_prefix),
    "swde mix": ("swde", swde_pages),
}
