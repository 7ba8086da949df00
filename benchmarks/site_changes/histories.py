"""Sites in several versions, each version with the states that a check may give it."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from benchmarks.redesigns.cases import Case, Edition, PageVersion, demo, with_same_fields
from benchmarks.site_changes.disturbances import DISTURBANCES
from vertex.demo import sites

CALM: Final = frozenset({"as_it_was", "content_changed"})
REDESIGNED: Final = frozenset({"redesigned"})
PARTLY: Final = frozenset({"partly_redesigned"})
SILENT: Final = frozenset({"unreachable", "undecided"})
ANY_CHANGE: Final = REDESIGNED | PARTLY
STATES_OF_VERSION: Final = {
    "v1": CALM,
    "v2": CALM,
    "v3": PARTLY,
    "v4": REDESIGNED,
    "v5": ANY_CHANGE,
    "v6": SILENT,
}
STATES_OF_KIND: Final = {"content": CALM, "partial": CALM | ANY_CHANGE, "redesign": ANY_CHANGE}


@dataclass(frozen=True)
class History:
    """A site with its later versions in order, and which states are right for each of them."""

    case: Case
    right_states: Mapping[str, frozenset[str]]
    family: str  # versions of one site are left out together


def histories(data: Path | None) -> Iterator[History]:
    """Yield all histories; generated and real ones where they are in the folder."""
    yield from map(_of_demo, sites.NAMES)
    if data is None:
        return
    for folder in sorted((data / "generated").glob("*")):
        yield _generated(folder)
    for folder in (data / "dplyr_pkgdown", *sorted((data / "more_history").glob("*"))):
        yield from _real(folder)


def _of_demo(name: str) -> History:
    case = demo(name)
    right = {"drift": CALM, "redesign": ANY_CHANGE}
    return History(case, right, name)


def _generated(folder: Path) -> History:
    versions = {place.name: _read_version(place) for place in sorted(folder.glob("v*"))}
    first = versions.pop("v0")
    vertical = json.loads((folder / "v0" / "vertical.json").read_text())
    attributes = [
        line | {"type": "image" if line["type"] == "image/url" else line["type"]}
        for line in vertical["attributes"]
    ]
    vertical = {"name": f"{vertical['vertical']}-{folder.name}", "attributes": attributes}
    disturbed = {disturbance.name: disturbance.of(first, versions) for disturbance in DISTURBANCES}
    right: dict[str, frozenset[str]] = dict(STATES_OF_VERSION)
    right |= {disturbance.name: disturbance.right_states for disturbance in DISTURBANCES}
    case = Case(folder.name, "generated", vertical, first, versions | disturbed, frozenset())
    return History(case, right, folder.name)


def sequences(data: Path | None) -> Iterator[tuple[str, dict[str, Edition]]]:
    """Yield each site with all its versions in order, as they were crawled."""
    for name in sites.NAMES:
        case = demo(name)
        yield name, {"first": case.first, **case.later}
    if data is None:
        return
    for folder in sorted((data / "generated").glob("*")):
        yield folder.name, {place.name: _read_version(place) for place in sorted(folder.glob("v*"))}
    for folder in (data / "dplyr_pkgdown", *sorted((data / "more_history").glob("*"))):
        places = sorted(folder.glob("snap_*"))
        if places:
            versions = {place.name.removeprefix("snap_"): _read_snapshot(place) for place in places}
            yield re.sub(r"\W|_", "-", folder.name), versions


def _read_version(folder: Path) -> Edition:
    site = json.loads((folder / "site.json").read_text())
    content_type = f"text/html; charset={site['charset']}"
    edition = {}
    with (folder / "manifest.jsonl").open() as lines:
        for line in lines:
            entry = json.loads(line)
            path = entry["url"].removeprefix(site["base_url"])
            values, annotations = _truth(entry)
            edition[path] = PageVersion(
                (folder / entry["file"]).read_bytes(),
                entry["type"],
                values,
                annotations,
                content_type,
                entry["status"],
                entry.get("layout") or "",
            )
    return edition


def _truth(entry: Mapping[str, Any]) -> tuple[dict[str, list[str]], list[dict[str, Any]]]:
    """Return the values of a page, and what an editor would say of it."""
    if entry.get("records"):
        return {}, []
    values = {}
    lines: list[dict[str, Any]] = []
    for name, value in entry["truth"].items():
        texts = value if isinstance(value, list) else [value]
        nodes = entry["nodes"].get(name)
        if value is None or nodes is None:
            lines.append({"attribute": name, "absent": True})
            continue
        values[name] = texts
        xpaths = nodes if isinstance(nodes, list) else [nodes]
        via = f"/{entry['via'][name]}" if name in entry.get("via", {}) else ""
        for xpath, text in zip(xpaths, texts, strict=True):
            lines.append({"attribute": name, "xpath": xpath + via, "text": text})
    return values, lines


def _real(folder: Path) -> Iterator[History]:
    """Yield the steps from one snapshot of a real site to the next one."""
    snapshots = {
        place.name.removeprefix("snap_"): _read_snapshot(place)
        for place in sorted(folder.glob("snap_*"))
    }
    kinds = _kinds(folder)
    name = re.sub(r"\W|_", "-", folder.name)
    dates = list(snapshots)
    for old, new in pairwise(dates):
        first, later = with_same_fields(snapshots[old], snapshots[new])
        names = sorted({field for page in first.values() for field in page.values})
        if not names:
            continue  # no field could be told that both snapshots have
        vertical = {
            "name": f"page-{name}-{old}",
            "attributes": [{"name": field, "type": "text", "constant": True} for field in names],
        }
        case = Case(f"{name}-{old}", "real", vertical, first, {new: later}, frozenset())
        yield History(case, {new: STATES_OF_KIND[kinds.get((old, new), "partial")]}, folder.name)


def _kinds(folder: Path) -> dict[tuple[str, str], str]:
    place = folder / "transitions.tsv"
    if not place.exists():
        return {("2022-02-05", "2022-03-01"): "redesign"}  # the one step of which it is known
    with place.open() as lines:
        return {
            (row["from"].removeprefix("snap_"), row["to"].removeprefix("snap_")): row["kind"]
            for row in csv.DictReader(lines, delimiter="\t")
        }


def _read_snapshot(folder: Path) -> Edition:
    with (folder / "pages.tsv").open() as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    return {
        f"/{row['path']}": PageVersion((folder / row["path"]).read_bytes(), row["type"])
        for row in rows
    }
