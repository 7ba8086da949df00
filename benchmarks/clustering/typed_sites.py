"""Sites whose pages have known types: real ones from a folder of data, and the demo sites."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from clustering.algorithms.grouping import Click, ClusteringInputs, RawPage, SiteLink
from clustering.algorithms.published.derived_log import derive_clicks
from clustering.dom.links import find_links
from vertex.demo import sites

BASE_URL = re.compile(rb'<base href="([^"]*)"')
BASE_SEARCHED = 2_000  # bytes


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
        return [
            SiteLink(page.url, link.xpath, link.url, link.text)
            for page in self.pages
            if (tree := RawPage(page.url, page.body, page.content_type).tree) is not None
            for link in find_links(tree, page.url)
            if link.url in self.type_by_url
        ]

    def evidence(self, *, derives_log: bool = False, seed: int = 0) -> ClusteringInputs:
        """Return what the site offers beside its pages; a log from anchor texts where asked for one."""
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
        return read(data / folder)
    title, edition = name.rsplit(" ", 1)
    return _demo(title, edition)


def _typed(pages: list[RawPage], types: list[str]) -> TypedSite:
    return TypedSite(pages, {page.url: name for page, name in zip(pages, types, strict=True)}, [])


def _listed(folder: Path) -> TypedSite:
    """Read a folder whose `pages.tsv` names the type of each page."""
    rows = [line.split("\t")[:2] for line in (folder / "pages.tsv").read_text().splitlines()[1:]]
    found = [(path, type_) for path, type_ in rows if (folder / path).is_file()]
    return _typed(
        [
            RawPage(f"https://site.example/{path}", (folder / path).read_bytes())
            for path, _ in found
        ],
        [type_ for _, type_ in found],
    )


def _in_folders(folder: Path) -> TypedSite:
    """Read a folder whose first level names the types."""
    paths = sorted(folder.rglob("*.html"))
    names = [path.relative_to(folder).as_posix() for path in paths]
    pages = [
        RawPage(f"https://site.example/{name.replace('index.html', '')}", path.read_bytes())
        for name, path in zip(names, paths, strict=True)
    ]
    return _typed(pages, [name.split("/")[0] if "/" in name else "home" for name in names])


def _by_prefix(folder: Path) -> TypedSite:
    """Read a folder whose file names begin with the type."""
    paths = sorted(folder.glob("*.html"))
    pages = [RawPage(f"https://site.example/{path.name}", path.read_bytes()) for path in paths]
    return _typed(pages, [path.name.split(" - ")[0] for path in paths])


def _mixed(folder: Path) -> TypedSite:
    """Read pages of several sites as if they were one; each site is a type."""
    paths = sorted(folder.rglob("*.htm"))
    pages = []
    for path in paths:
        body = path.read_bytes()
        base = BASE_URL.search(body, 0, BASE_SEARCHED)
        pages.append(
            RawPage(base[1].decode() if base else f"https://site.example/{path.name}", body)
        )
    return _typed(pages, [path.parent.name for path in paths])


def _demo(name: str, edition: str) -> TypedSite:
    site = sites.load(name, edition)
    shown = list(site.pages.values())
    pages = [RawPage(site.default_url + page.path, page.body, page.content_type) for page in shown]
    clicks = [
        Click(query.query, site.default_url + query.path, query.clicks) for query in site.queries
    ]
    return TypedSite(pages, {site.default_url + page.path: page.type for page in shown}, clicks)


REAL: dict[str, tuple[str, Callable[[Path], TypedSite]]] = {
    "networkx": ("networkx_docs/1.3", _listed),
    "futbol": ("futbol_winprob", _in_folders),
    "dplyr 2019-06": ("dplyr_pkgdown/snap_2019-06-01", _listed),
    "dplyr 2022-02": ("dplyr_pkgdown/snap_2022-02-05", _listed),
    "dplyr 2022-03": ("dplyr_pkgdown/snap_2022-03-01", _listed),
    "stackoverflow": ("stackoverflow_pageclustering", _by_prefix),
    "swde mix": ("swde", _mixed),
}
