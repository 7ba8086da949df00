"""Sites whose pages have known types, with the types that may as rightly be joined."""

from __future__ import annotations

import itertools
import json
import re
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import xxhash

from clustering.algorithms.grouping import RawPage
from clustering.algorithms.measures import Measures, compare
from vertex.demo import sites

DRAWERS = frozenset({"other", "home"})  # what stands there has no type of its own
MIN_PAGES_OF_TYPE = 2
MAX_PAGES = 220
MIN_SAMPLED_OF_TYPE = 12

_BASE_URL = re.compile(r"base URL:\s*(\S+)")
_BASE_ELEMENT = re.compile(rb'<base href="([^"]*)"')


@dataclass(frozen=True)
class LabelledPage:
    page: RawPage
    type: str
    wider: str = ""  # a type to which this one may as rightly be joined


@dataclass(frozen=True)
class LabelledSite:
    """Pages of a site with their types."""

    name: str
    family: str  # sites of one family are left out together
    kind: str  # real, generated, demo, single (of one template) or mix
    pages: Sequence[LabelledPage]

    def score(self, groups: Sequence[int]) -> Measures:
        """Return the measures of a grouping under the joining of types that agrees best."""
        return max(
            (self._measure(groups, types) for types in self._joinings()),
            key=lambda measures: measures.adjusted_rand,
        )

    def best_types(self, groups: Sequence[int]) -> list[str]:
        """Return the type of each page under the joining that agrees best with a grouping."""
        return max(self._joinings(), key=lambda types: self._measure(groups, types).adjusted_rand)

    def _joinings(self) -> Iterator[list[str]]:
        """Yield the type of each page, with some of the wider types in place of narrow ones."""
        wider = sorted({page.wider for page in self.pages} - {""})
        for n in range(len(wider) + 1):
            for joined in itertools.combinations(wider, n):
                yield [page.wider if page.wider in joined else page.type for page in self.pages]

    def _measure(self, groups: Sequence[int], types: Sequence[str]) -> Measures:
        counts = Counter(page.type for page in self.pages)
        judged = [
            number
            for number, page in enumerate(self.pages)
            if page.type not in DRAWERS and counts[page.type] >= MIN_PAGES_OF_TYPE
        ]
        return compare(
            {str(number): str(groups[number]) for number in judged},
            {str(number): types[number] for number in judged},
        )


def cut(pages: Sequence[LabelledPage], n: int = MAX_PAGES) -> list[LabelledPage]:
    """Return about n pages, those of small types first, always the same ones."""
    if len(pages) <= n:
        return list(pages)
    by_type: dict[str, list[LabelledPage]] = {}
    for page in sorted(pages, key=_order):
        by_type.setdefault(page.type, []).append(page)
    first = [page for group in by_type.values() for page in group[:MIN_SAMPLED_OF_TYPE]]
    rest = [page for group in by_type.values() for page in group[MIN_SAMPLED_OF_TYPE:]]
    rest.sort(key=_order)
    kept = {page.page.url for page in [*first, *rest[: max(n - len(first), 0)]]}
    return [page for page in pages if page.page.url in kept]


def _order(page: LabelledPage) -> int:
    return xxhash.xxh64_intdigest(page.page.url.encode("utf-8", "surrogatepass"))


def load_sites(data: Path) -> Iterator[LabelledSite]:
    """Yield all labelled sites but those kept for a last look."""
    yield from whole_sites(data)
    yield from generated_sites(data)
    yield from swde_sites(data)
    yield from demo_sites()


def whole_sites(data: Path) -> Iterator[LabelledSite]:
    """Yield the real sites of several types."""
    yield _listed("networkx", "networkx", data / "networkx_docs/1.3", has_wider=False)
    for snapshot in sorted((data / "dplyr_pkgdown").iterdir()):
        if (snapshot / "pages.tsv").is_file():
            name = "dplyr " + snapshot.name.removeprefix("snap_")[:7]
            yield _listed(name, "dplyr", snapshot, has_wider=False)
    yield _in_folders("futbol", data / "futbol_winprob")
    yield _by_prefix("stackoverflow", data / "stackoverflow_pageclustering")
    for folder in sorted((data / "more_sites").iterdir()):
        yield _listed(folder.name, folder.name, folder)
    for folder in sorted(_unpacked(data / "more_sites_2.tar.xz").iterdir()):
        yield _listed(folder.name, folder.name, folder)


def last_look(data: Path) -> Iterator[LabelledSite]:
    """Yield the sites that nothing is chosen by."""
    for folder in sorted((data / "last_look").iterdir()):
        if (folder / "pages.tsv").is_file():
            yield _listed(folder.name, folder.name, folder)


def generated_sites(data: Path) -> Iterator[LabelledSite]:
    """Yield the generated sites in the three versions that have templates of their own."""
    for folder in sorted((data / "generated").iterdir()):
        for version in ("v0", "v3", "v4"):
            rows = [
                json.loads(line)
                for line in (folder / version / "manifest.jsonl").read_text("utf-8").splitlines()
            ]
            pages = [
                LabelledPage(
                    RawPage(row["url"], (folder / version / row["file"]).read_bytes()), row["type"]
                )
                for row in rows
            ]
            yield LabelledSite(f"{folder.name} {version}", folder.name, "generated", pages)


def swde_sites(data: Path) -> Iterator[LabelledSite]:
    """Yield the sites of one template, and for each vertical a mix of them."""
    for vertical in sorted((data / "swde").iterdir()):
        if vertical.name == "groundtruth" or not vertical.is_dir():
            continue
        mixed = []
        for folder in sorted(vertical.iterdir()):
            pages = [_swde_page(path, folder.name) for path in sorted(folder.rglob("*.htm"))]
            if pages:
                yield LabelledSite(folder.name, vertical.name, "single", pages)
                mixed += pages[:40]
        yield LabelledSite(f"{vertical.name} mix", vertical.name, "mix", mixed)


def demo_sites() -> Iterator[LabelledSite]:
    """Yield the demo sites, whose near-twins are of one type: one rule serves both."""
    for name in sites.NAMES:
        for edition in ("1", "2"):
            site = sites.load(name, edition)
            pages = [
                LabelledPage(
                    RawPage(site.default_url + page.path, page.body, page.content_type),
                    page.cluster_type,
                )
                for page in site.pages.values()
            ]
            yield LabelledSite(f"{name} {edition}", name, "demo", pages)


def _swde_page(path: Path, site: str) -> LabelledPage:
    body = path.read_bytes()
    base = _BASE_ELEMENT.search(body, 0, 2_000)
    url = base[1].decode("utf-8", "replace") if base else f"https://site.example/{path.name}"
    return LabelledPage(RawPage(url, body), site)


@cache
def _unpacked(archive: Path) -> Path:
    folder = Path(tempfile.mkdtemp())
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder


def _listed(name: str, family: str, folder: Path, *, has_wider: bool = True) -> LabelledSite:
    """Read a folder whose `pages.tsv` names the type of each page."""
    about = folder / "ABOUT.md"
    base = _BASE_URL.search(about.read_text("utf-8")) if about.is_file() else None
    root = base[1] if base else "https://site.example/"
    rows = [line.split("\t") for line in (folder / "pages.tsv").read_text("utf-8").splitlines()[1:]]
    pages = []
    for row in rows:
        path = folder / row[0]
        if path.is_file():
            wider = row[2] if has_wider and len(row) > 2 else ""
            pages.append(LabelledPage(RawPage(root + row[0], path.read_bytes()), row[1], wider))
    return LabelledSite(name, family, "real", pages)


def _in_folders(name: str, folder: Path) -> LabelledSite:
    """Read a folder whose first level names the types."""
    pages = []
    for path in sorted(folder.rglob("*.html")):
        place = path.relative_to(folder).as_posix()
        url = f"https://site.example/{place.replace('index.html', '')}"
        type_ = place.split("/")[0] if "/" in place else "home"
        pages.append(LabelledPage(RawPage(url, path.read_bytes()), type_))
    return LabelledSite(name, name, "real", pages)


def _by_prefix(name: str, folder: Path) -> LabelledSite:
    """Read a folder whose file names begin with the type."""
    return LabelledSite(
        name,
        name,
        "real",
        [
            LabelledPage(
                RawPage(f"https://site.example/{path.name}", path.read_bytes()),
                path.name.split(" - ")[0],
            )
            for path in sorted(folder.glob("*.html"))
        ],
    )
