"""Sites whose types are described in plain words by one who has not seen the code: page_kinds.tsv."""

from __future__ import annotations

import csv
import json
import re
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from clustering.algorithms.grouping import RawPage

DESCRIPTIONS = Path(__file__).resolve().parent.parent / "clustering" / "page_kinds.tsv"
UNKNOWN_ROOT = "https://site.example/"
VERSIONS = ("v0", "v3", "v4")  # of a generated site, those with templates of their own

_BASE_URL = re.compile(r"base URL:\s*(\S+)")
_BASE_ELEMENT = re.compile(rb'<base href="([^"]*)"')
_SWDE_NAME = re.compile(r"-.*")


class Description(NamedTuple):
    """What a type of pages is, in plain words."""

    kind: str  # detail, list, navigation …
    words: str  # its name and its description


@dataclass(frozen=True)
class DescribedSite:
    """The pages of a site by their type."""

    name: str  # in page_kinds.tsv; the snapshots and versions of a site have one
    label: str
    family: str  # sites that are left out together
    pages_by_type: dict[str, list[RawPage]]


def descriptions() -> dict[tuple[str, str], Description]:
    """Return the description of each type of each site."""
    with DESCRIPTIONS.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {
        (row["site"], row["type"]): Description(
            row["kind"], f"{_plain_name(row['site'], row['type'])}; {row['words']}"
        )
        for row in rows
    }


def _plain_name(site: str, type_: str) -> str:
    """Return the name of a type in words; a type of SWDE is named after site and vertical."""
    return _SWDE_NAME.sub("", type_) if site == "swde" else type_.replace("_", " ")


def load_sites(data: Path) -> Iterator[DescribedSite]:
    """Yield the sites that a folder of data holds, those for a last look left out."""
    folders = [("networkx_docs", data / "networkx_docs" / "1.3")]
    folders += [("dplyr", folder) for folder in _folders(data / "dplyr_pkgdown")]
    folders += [(folder.name, folder) for folder in _folders(data / "more_sites")]
    folders += [(folder.name, folder) for folder in _unpacked(data / "more_sites_2.tar.xz")]
    for name, folder in folders:
        if (folder / "pages.tsv").is_file():
            yield DescribedSite(name, f"{name} {folder.name}", name, _listed_pages(folder))
    yield from _sites_in_folders(data)
    for folder in _folders(data / "generated"):
        for version in VERSIONS:
            pages = _generated_pages(folder / version)
            yield DescribedSite(folder.name, f"{folder.name} {version}", folder.name, pages)
    for vertical in _folders(data / "swde"):
        for folder in _folders(vertical):
            pages = {folder.name: [_swde_page(path) for path in sorted(folder.rglob("*.htm"))]}
            if vertical.name != "groundtruth" and pages[folder.name]:
                yield DescribedSite("swde", folder.name, vertical.name, pages)


def _folders(parent: Path) -> list[Path]:
    return sorted(path for path in parent.glob("*") if path.is_dir())


def _unpacked(archive: Path) -> list[Path]:
    """Return the folders of an archive, unpacked; none where it is missing."""
    if not archive.is_file():
        return []
    folder = Path(tempfile.mkdtemp())
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return _folders(folder)


def _listed_pages(folder: Path) -> dict[str, list[RawPage]]:
    """Read a folder whose `pages.tsv` names the type of each page."""
    about = folder / "ABOUT.md"
    base = _BASE_URL.search(about.read_text("utf-8")) if about.is_file() else None
    root = base[1] if base else UNKNOWN_ROOT
    pages: dict[str, list[RawPage]] = {}
    for line in (folder / "pages.tsv").read_text("utf-8").splitlines()[1:]:
        path, type_ = line.split("\t")[:2]
        if (folder / path).is_file():
            page = RawPage(root + path, (folder / path).read_bytes())
            pages.setdefault(type_, []).append(page)
    return pages


def _sites_in_folders(data: Path) -> Iterator[DescribedSite]:
    """Yield the site whose folders are its types, and the one whose file names begin with them."""
    name = "futbol_winprob"
    pages: dict[str, list[RawPage]] = {}
    for path in sorted((data / name).rglob("*.html")):
        place = path.relative_to(data / name).as_posix()
        page = RawPage(UNKNOWN_ROOT + place.replace("index.html", ""), path.read_bytes())
        pages.setdefault(place.split("/")[0] if "/" in place else "home", []).append(page)
    if pages:
        yield DescribedSite(name, name, name, pages)
    name = "stackoverflow_pageclustering"
    pages = {}
    for path in sorted((data / name).glob("*.html")):
        page = RawPage(UNKNOWN_ROOT + path.name, path.read_bytes())
        pages.setdefault(path.name.split(" - ")[0], []).append(page)
    if pages:
        yield DescribedSite(name, name, name, pages)


def _generated_pages(folder: Path) -> dict[str, list[RawPage]]:
    pages: dict[str, list[RawPage]] = {}
    for line in (folder / "manifest.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        page = RawPage(row["url"], (folder / row["file"]).read_bytes())
        pages.setdefault(row["type"], []).append(page)
    return pages


def _swde_page(path: Path) -> RawPage:
    body = path.read_bytes()
    base = _BASE_ELEMENT.search(body, 0, 2_000)
    return RawPage(base[1].decode("utf-8", "replace") if base else UNKNOWN_ROOT + path.name, body)
