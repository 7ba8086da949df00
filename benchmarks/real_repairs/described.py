"""Snapshots of real sites, some pages described by hand: what stands where before and after."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from lxml import html

from benchmarks.redesigns.cases import Case, Edition, PageVersion

TRUTH: Final = Path(__file__).resolve().parent / "truth"
CHANGING: Final = frozenset({"source_file", "first_include"})  # fields; of the others no value does
KINDS_OF_CHANGE: Final = ("partial", "redesign")
# Of this site nobody wrote down how its snapshots differ.
STEPS_OF_DPLYR: Final = (
    ("2019-06-01", "2022-02-05", "partial"),
    ("2022-02-05", "2022-03-01", "redesign"),
)
UTF_8: Final = html.HTMLParser(encoding="utf-8")

PlacesByKind = Mapping[str, Mapping[str, str]]  # XPaths by field, by kind of page


class DescribedPage(NamedTuple):
    """A page of a snapshot as it was written down."""

    kind: str
    values: Mapping[str, str]


def cases(data: Path) -> Iterator[Case]:
    """Yield a case for each step between two snapshots after which a template is another one."""
    places_by_site = json.loads((TRUTH / "places.json").read_text())
    for site, places in sorted(places_by_site.items()):
        folder = data / site if (data / site).is_dir() else data / "more_history" / site
        described = read_truth(TRUTH / f"{site}.jsonl")
        for old, new, kind in steps(folder):
            fields = sorted({field for of_kind in places.values() for field in of_kind})
            name = f"{site.replace('_', '-')}-{new}"
            yield Case(
                name,
                kind,
                {
                    "name": f"page-{name}",
                    "attributes": [
                        {"name": field, "type": "text", "constant": field not in CHANGING}
                        for field in fields
                    ],
                },
                _edition(folder, old, described[old], places),
                {new: _edition(folder, new, described[new], places)},
                frozenset(places),
                name,
            )


def steps(folder: Path) -> list[tuple[str, str, str]]:
    """Return a site's steps after which a template is another: from, to, and how much of it."""
    place = folder / "transitions.tsv"
    if not place.exists():
        return list(STEPS_OF_DPLYR)
    with place.open() as lines:
        rows = [
            (row["from"].removeprefix("snap_"), row["to"].removeprefix("snap_"), row["kind"])
            for row in csv.DictReader(lines, delimiter="\t")
        ]
    return [row for row in rows if row[2] in KINDS_OF_CHANGE]


def read_truth(path: Path) -> dict[str, dict[str, DescribedPage]]:
    """Return the described pages of a site, by version and path."""
    described: dict[str, dict[str, DescribedPage]] = {}
    for line in path.read_text().splitlines():
        entry: dict[str, Any] = json.loads(line)
        pages = described.setdefault(entry["version"], {})
        pages[entry["path"]] = DescribedPage(entry["kind"], entry["values"])
    return described


def _edition(
    folder: Path, version: str, described: Mapping[str, DescribedPage], places: PlacesByKind
) -> Edition:
    """Return all pages of a snapshot; those that nobody described have no kind."""
    snapshot = folder / f"snap_{version}"
    with (snapshot / "pages.tsv").open() as lines:
        paths = [row["path"] for row in csv.DictReader(lines, delimiter="\t")]
    edition = {}
    for path in paths:
        body = (snapshot / path).read_bytes()
        page = described.get(path)
        if page is None:
            edition[f"/{path}"] = PageVersion(body, "")
            continue
        values = {field: [value] for field, value in page.values.items()}
        lines_of_page = list(_lines(body, page, places[page.kind]))
        edition[f"/{path}"] = PageVersion(body, page.kind, values, lines_of_page)
    return edition


def _lines(
    body: bytes, page: DescribedPage, place_by_field: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield what an editor says of a page. Raises ValueError where a value is not at its place."""
    tree = html.document_fromstring(body, parser=UTF_8)
    for field, place in place_by_field.items():
        value = page.values.get(field)
        if value is None:
            yield {"attribute": field, "absent": True}
            continue
        nodes: Any = tree.xpath(place)
        (node,) = nodes
        is_text = isinstance(node, str)
        element = node.getparent() if is_text else node
        text = node if is_text else element.text_content()
        if " ".join(text.split()) != value:
            raise ValueError(f"{field} is {text!r} and should be {value!r}")
        xpath = tree.getroottree().getpath(element) + ("/text()[1]" if is_text else "")
        yield {"attribute": field, "xpath": xpath, "text": value}
