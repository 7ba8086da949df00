"""Sites at several times: the same pages before and after a change, with fields to find on them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lxml.etree import _Element

from clustering.algorithms.slots.fields import find_fields, finders_of
from clustering.dom.page import parse_page
from rules.algorithms.learning.targets import MarkedNode
from rules.algorithms.rule.xpaths import shown

MAX_PAGES: Final = 12  # of a kind
MIN_PAGES: Final = 6
MAX_FIELDS: Final = 8
MIN_FILL: Final = 0.5  # share of the pages that show a field
DETAIL: Final = "detail"
BASE_VERSION: Final = "v0"
LATER_VERSIONS: Final = ("v1", "v2", "v3", "v4")  # of a generated site; later ones are outages

Trees = dict[str, _Element]  # by page
Marks = Mapping[str, MarkedNode]  # by page


@dataclass(frozen=True, slots=True)
class History:
    """Pages of one kind: as they were first, their fields then, and as they were later."""

    family: str  # the site, which is left out as a whole
    first: Trees
    fields: Mapping[str, Marks]
    later: Mapping[str, Trees]  # by snapshot


def histories(data: Path) -> Iterator[History]:
    """Yield the pages of all sites that are there at several times, kind by kind."""
    folders = [data / "dplyr_pkgdown", *sorted((data / "more_history").iterdir())]
    for folder in (folder for folder in folders if folder.is_dir()):
        yield from _of_snapshots(folder)
    for folder in sorted(path for path in (data / "generated").iterdir() if path.is_dir()):
        yield _generated(folder)


def _of_snapshots(folder: Path) -> Iterator[History]:
    """Yield a site's snapshots by kind of page; their fields are those that nobody annotated."""
    snapshots = sorted(path for path in folder.iterdir() if (path / "pages.tsv").is_file())
    pages_by_type: dict[str, list[str]] = defaultdict(list)
    for line in (snapshots[0] / "pages.tsv").read_text("utf-8").splitlines()[1:]:
        path, type_, *_ = line.split("\t")
        if (snapshots[0] / path).is_file():
            pages_by_type[type_].append(path)
    for paths in pages_by_type.values():
        first = _read(snapshots[0], paths[:MAX_PAGES])
        if len(first) < MIN_PAGES:
            continue
        later = {folder.name: _read(folder, list(first)) for folder in snapshots[1:]}
        yield History(folder.name, first, _fields_of(first), later)


def _read(folder: Path, paths: Sequence[str]) -> Trees:
    trees = {}
    for path in paths:
        if (folder / path).is_file():
            tree = parse_page((folder / path).read_bytes()).tree
            if tree is not None:
                trees[path] = tree
    return trees


def _fields_of(trees: Trees) -> dict[str, Marks]:
    """Return the first fields of one value a page that are found without annotations."""
    pages = list(trees)
    fields: dict[str, Marks] = {}
    for number, field in enumerate(find_fields(finders_of(list(trees.values())))):
        if field.folded_into or field.is_image or field.slot.is_multi:
            continue
        marks = {
            pages[page]: MarkedNode(texts[0].text.xpath) for page, texts in field.slot.texts.items()
        }
        if len(marks) >= MIN_FILL * len(pages) and len(fields) < MAX_FIELDS:
            fields[f"{number} {field.name}"] = marks
    return fields


def _generated(folder: Path) -> History:
    """Return the pages about one thing of a generated site; its fields are in its manifest."""
    first: Trees = {}
    fields: dict[str, dict[str, MarkedNode]] = defaultdict(dict)
    for entry, tree in _entries(folder / BASE_VERSION):
        first[str(entry["entity"])] = tree
        for name, xpath in entry["nodes"].items():
            if isinstance(xpath, str):
                text = shown(str(entry["truth"][name]))
                fields[name][str(entry["entity"])] = MarkedNode(xpath, text)
        if len(first) == MAX_PAGES:
            break
    later = {
        version: {
            str(entry["entity"]): tree
            for entry, tree in _entries(folder / version)
            if str(entry["entity"]) in first
        }
        for version in LATER_VERSIONS
    }
    return History(folder.name, first, fields, later)


def _entries(folder: Path) -> Iterator[tuple[dict[str, Any], _Element]]:
    for line in (folder / "manifest.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(line)
        if entry["type"] == DETAIL:
            body = (folder / entry["file"]).read_bytes()
            tree = parse_page(body, entry.get("content_type", "")).tree
            if tree is not None:
                yield entry, tree
