"""Sites whose pages have known types, and the kinds of these types as a person labelled them."""

from __future__ import annotations

import csv
import json
import re
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import xxhash

from clustering.algorithms.grouping import RawPage
from clustering.algorithms.kinds.kind_features import ClusterFacts
from clustering.algorithms.kinds.page_facts import read_facts

TRUTH = Path(__file__).resolve().parent.parent / "clustering" / "page_kinds.tsv"
DRAWERS = frozenset({"other", "home"})  # types that hold what has no type of its own
N_READ = 20  # pages of a type, as many as a clustering reads
VERSIONS = ("v0", "v3", "v4", "v6")  # of the generated sites: three designs, and an outage

_BASE_URL = re.compile(r"base URL:\s*(\S+)")
_BASE_ELEMENT = re.compile(rb'<base href="([^"]*)"')
_BASE_SEARCHED = 2_000  # bytes


@dataclass(frozen=True)
class TypedPage:
    page: RawPage
    type: str
    status: int = 200


@dataclass(frozen=True)
class LabelledCluster:
    """The pages of one type."""

    type: str
    kinds: frozenset[str]  # any of which is right
    facts: ClusterFacts

    @property
    def is_scored(self) -> bool:
        return self.type not in DRAWERS


@dataclass(frozen=True)
class LabelledSite:
    """A site, or one version of it."""

    name: str
    family: str  # sites of one family are left out together
    clusters: Sequence[LabelledCluster]


def load_sites(data: Path) -> Iterator[LabelledSite]:
    """Yield all sites of the truth whose pages are in the folder."""
    truth = _read_truth()
    with tempfile.TemporaryDirectory() as unpacked:
        for name, family, pages in _typed_sites(data, Path(unpacked)):
            yield LabelledSite(name, family, list(_clusters(pages, truth[name])))


def _read_truth() -> dict[str, dict[str, frozenset[str]]]:
    kinds: dict[str, dict[str, frozenset[str]]] = {}
    with TRUTH.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            kinds.setdefault(row["site"], {})[row["type"]] = frozenset(row["kind"].split("|"))
    return kinds


def _clusters(
    pages: Sequence[TypedPage], kinds: Mapping[str, frozenset[str]]
) -> Iterator[LabelledCluster]:
    pages_by_type: dict[str, list[TypedPage]] = {}
    for page in pages:
        pages_by_type.setdefault(page.type, []).append(page)
    for name, typed in sorted(pages_by_type.items()):
        read = sorted(typed, key=lambda page: xxhash.xxh64_intdigest(page.page.url.encode()))
        facts = ClusterFacts(
            # A copy of the page, so that no tree stays in memory.
            [
                read_facts(
                    RawPage(page.page.url, page.page.body, page.page.content_type), page.status
                )
                for page in read[:N_READ]
            ],
            [page.page.url for page in typed],
        )
        yield LabelledCluster(name, kinds[name], facts)


def _typed_sites(data: Path, unpacked: Path) -> Iterator[tuple[str, str, list[TypedPage]]]:
    """Yield each site's name, family and pages."""
    yield "networkx_docs", "networkx_docs", _listed(data / "networkx_docs/1.3")
    for snapshot in sorted((data / "dplyr_pkgdown").iterdir()):
        if (snapshot / "pages.tsv").is_file():
            yield "dplyr", "dplyr", _listed(snapshot)
    yield "futbol_winprob", "futbol_winprob", _in_folders(data / "futbol_winprob")
    stack_overflow = "stackoverflow_pageclustering"
    yield stack_overflow, stack_overflow, _by_prefix(data / stack_overflow)
    with tarfile.open(data / "more_sites_2.tar.xz") as archive:
        archive.extractall(unpacked, filter="data")
    for folder in sorted([*(data / "more_sites").iterdir(), *unpacked.iterdir()]):
        if (folder / "pages.tsv").is_file():
            yield folder.name, folder.name, _listed(folder)
    for folder in sorted((data / "generated").iterdir()):
        for version in VERSIONS:
            yield folder.name, "generated", _generated(folder / version)
    for folder in sorted((data / "swde").glob("*/*")):
        pages = [_swde_page(path, folder.name) for path in sorted(folder.rglob("*.htm"))]
        if pages:
            yield "swde", folder.name, pages


def _listed(folder: Path) -> list[TypedPage]:
    """Read a folder whose `pages.tsv` names the type of each page."""
    about = folder / "ABOUT.md"
    base = _BASE_URL.search(about.read_text("utf-8")) if about.is_file() else None
    root = base[1] if base else "https://site.example/"
    rows = [line.split("\t") for line in (folder / "pages.tsv").read_text("utf-8").splitlines()[1:]]
    return [
        TypedPage(RawPage(root + path, (folder / path).read_bytes()), name)
        for path, name, *_ in rows
        if (folder / path).is_file()
    ]


def _in_folders(folder: Path) -> list[TypedPage]:
    """Read a folder whose first level names the types."""
    pages = []
    for path in sorted(folder.rglob("*.html")):
        place = path.relative_to(folder).as_posix()
        url = f"https://site.example/{place.replace('index.html', '')}"
        name = place.split("/")[0] if "/" in place else "home"
        pages.append(TypedPage(RawPage(url, path.read_bytes()), name))
    return pages


def _by_prefix(folder: Path) -> list[TypedPage]:
    """Read a folder whose file names begin with the type."""
    return [
        TypedPage(
            RawPage(f"https://site.example/{path.name}", path.read_bytes()),
            path.name.split(" - ")[0],
        )
        for path in sorted(folder.glob("*.html"))
    ]


def _generated(folder: Path) -> list[TypedPage]:
    """Read a generated version, whose manifest has types and statuses."""
    rows = map(json.loads, (folder / "manifest.jsonl").read_text("utf-8").splitlines())
    return [
        TypedPage(
            RawPage(row["url"], (folder / row["file"]).read_bytes(), row.get("content_type", "")),
            row["type"],
            row.get("status", 200),
        )
        for row in rows
    ]


def _swde_page(path: Path, name: str) -> TypedPage:
    body = path.read_bytes()
    base = _BASE_ELEMENT.search(body, 0, _BASE_SEARCHED)
    url = base[1].decode("utf-8", "replace") if base else f"https://site.example/{path.name}"
    return TypedPage(RawPage(url, body), name)
