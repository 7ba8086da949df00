"""Real and generated sites whose pages have known types, from the folder of labelled data.

The sites for a last look are read by `listed_pages` where they are asked for,
never by `load_sites`.
"""

from __future__ import annotations

import json
import re
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from clustering.algorithms.grouping import RawPage

TRUTH = Path(__file__).resolve().parent / "clustering" / "page_kinds.tsv"
DRAWERS = frozenset({"other", "home"})  # what stands there has no type of its own
DESIGNS = ("v0", "v3", "v4")  # versions of a generated site that have templates of their own
OUTAGE = "v6"
# Types of generated sites that one rule serves together: `benchmarks.joins.one_rule` asks the
# learner.
WIDER_TYPES = {"detail_alt": "detail"}
REAL, GENERATED, SWDE = "real", "generated", "swde"

_UNKNOWN_ROOT = "https://site.example/"
_BASE_URL = re.compile(r"base URL:\s*(\S+)")
_BASE_ELEMENT = re.compile(rb'<base href="([^"]*)"')
_BASE_SEARCHED = 2_000  # bytes


@dataclass(frozen=True)
class LabelledPage:
    page: RawPage
    type: str
    wider: str = ""  # a type to which this one may as rightly be joined
    status: int = 200


@dataclass(frozen=True)
class LabelledSite:
    """Pages of a site, or of one version of it, with their types."""

    name: str  # in TRUTH; the versions of a site have one
    label: str  # of this version
    family: str  # sites that are left out together
    origin: str  # REAL, GENERATED or SWDE
    pages: Sequence[LabelledPage]

    def pages_by_type(self) -> dict[str, list[LabelledPage]]:
        pages: dict[str, list[LabelledPage]] = {}
        for page in self.pages:
            pages.setdefault(page.type, []).append(page)
        return pages


def load_sites(data: Path, versions: Sequence[str] = DESIGNS) -> Iterator[LabelledSite]:
    """Yield all labelled sites but those for a last look, of generated ones these versions."""
    yield from _real_sites(data)
    for folder in _folders(data / "generated"):
        for version in versions:
            pages = _generated_pages(folder / version)
            label = f"{folder.name} {version}"
            yield LabelledSite(folder.name, label, folder.name, GENERATED, pages)
    for vertical in _folders(data / "swde"):
        for folder in _folders(vertical):
            pages = swde_pages(folder)
            if pages:
                yield LabelledSite(SWDE, folder.name, vertical.name, SWDE, pages)


def _real_sites(data: Path) -> Iterator[LabelledSite]:
    def site(name: str, label: str, family: str, pages: Sequence[LabelledPage]) -> LabelledSite:
        return LabelledSite(name, label, family, REAL, pages)

    networkx = listed_pages(data / "networkx_docs" / "1.3", has_wider=False)
    yield site("networkx_docs", "networkx", "networkx", networkx)
    for snapshot in _folders(data / "dplyr_pkgdown"):
        month = snapshot.name.removeprefix("snap_")[:7]
        pages = listed_pages(snapshot, has_wider=False)
        if pages:
            yield site("dplyr", f"dplyr {month}", "dplyr", pages)
    yield site("futbol_winprob", "futbol", "futbol", pages_in_folders(data / "futbol_winprob"))
    name = "stackoverflow_pageclustering"
    yield site(name, "stackoverflow", "stackoverflow", pages_by_prefix(data / name))
    with tempfile.TemporaryDirectory() as unpacked:
        with tarfile.open(data / "more_sites_2.tar.xz") as archive:
            archive.extractall(unpacked, filter="data")
        for folder in [*_folders(data / "more_sites"), *_folders(Path(unpacked))]:
            yield site(folder.name, folder.name, folder.name, listed_pages(folder))


def _folders(parent: Path) -> list[Path]:
    return sorted(path for path in parent.iterdir() if path.is_dir())


def listed_pages(folder: Path, *, has_wider: bool = True) -> list[LabelledPage]:
    """Read a folder whose `pages.tsv` names each page's type; nothing where it has no such file."""
    listing, about = folder / "pages.tsv", folder / "ABOUT.md"
    if not listing.is_file():
        return []
    base = _BASE_URL.search(about.read_text("utf-8")) if about.is_file() else None
    root = base[1] if base else _UNKNOWN_ROOT
    pages = []
    for line in listing.read_text("utf-8").splitlines()[1:]:
        path, type_, *more = line.split("\t")
        if (folder / path).is_file():
            page = RawPage(root + path, (folder / path).read_bytes())
            pages.append(LabelledPage(page, type_, more[0] if has_wider and more else ""))
    return pages


def pages_in_folders(folder: Path) -> list[LabelledPage]:
    """Read a folder whose first level names the types."""
    pages = []
    for path in sorted(folder.rglob("*.html")):
        place = path.relative_to(folder).as_posix()
        page = RawPage(_UNKNOWN_ROOT + place.replace("index.html", ""), path.read_bytes())
        pages.append(LabelledPage(page, place.split("/")[0] if "/" in place else "home"))
    return pages


def pages_by_prefix(folder: Path) -> list[LabelledPage]:
    """Read a folder whose file names begin with the type."""
    return [
        LabelledPage(
            RawPage(_UNKNOWN_ROOT + path.name, path.read_bytes()), path.name.split(" - ")[0]
        )
        for path in sorted(folder.glob("*.html"))
    ]


def swde_pages(folder: Path) -> list[LabelledPage]:
    """Read the pages below a folder; each folder of pages is a type."""
    pages = []
    for path in sorted(folder.rglob("*.htm")):
        body = path.read_bytes()
        base = _BASE_ELEMENT.search(body, 0, _BASE_SEARCHED)
        url = base[1].decode("utf-8", "replace") if base else _UNKNOWN_ROOT + path.name
        pages.append(LabelledPage(RawPage(url, body), path.parent.name))
    return pages


def _generated_pages(folder: Path) -> list[LabelledPage]:
    """Read a generated version, whose manifest has types and statuses."""
    rows = map(json.loads, (folder / "manifest.jsonl").read_text("utf-8").splitlines())
    return [
        LabelledPage(
            RawPage(row["url"], (folder / row["file"]).read_bytes(), row.get("content_type", "")),
            row["type"],
            WIDER_TYPES.get(row["type"], ""),
            status=row.get("status", 200),
        )
        for row in rows
    ]
