"""Generated sites all of whose templates are new and whose changing amounts all moved."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from annotation.algorithms.attribute_types import AttributeType
from benchmarks.changed_values.attributes import MIN_VALUES, Move, stored_before
from benchmarks.wrong_values import StoredPages, SwdeSite
from monitoring.algorithms.change_signs import TextsByPage, are_amounts
from monitoring.services.checks.fresh_pages import FreshPage

FIRST, LAST = "v0", "v4"  # as it was, and with new templates
DETAIL: Final = "detail"

Row = Mapping[str, Any]


class PageRows(NamedTuple):
    """What the manifests say of a page, as it was and as it is."""

    url: str
    old: Row
    new: Row


def generated_sites(data: Path, move: Move) -> Iterator[tuple[SwdeSite, StoredPages]]:
    """Yield the detail pages of each site with what is stored of them."""
    for folder in sorted(place for place in (data / "generated").iterdir() if place.is_dir()):
        pages = _pages(folder)
        fresh = {
            page.url: FreshPage(
                page.url,
                (folder / LAST / page.new["file"]).read_bytes(),
                page.new.get("content_type", ""),
            )
            for page in pages
        }
        truth = {
            page.url: {name: _texts(value) for name, value in page.new["truth"].items() if value}
            for page in pages
        }
        attributes = [
            attribute
            for attribute in _attributes(folder)
            if any(attribute.name in values for values in truth.values())
        ]
        site = SwdeSite(folder.name, fresh, truth, attributes)
        yield site, _stored(site, pages, move)


def _pages(folder: Path) -> list[PageRows]:
    old, new = (_rows(folder / version) for version in (FIRST, LAST))
    return [
        PageRows(url, old[url], row)
        for url, row in new.items()
        if row["type"] == DETAIL and url in old
    ]


def _rows(folder: Path) -> dict[str, Row]:
    lines = (folder / "manifest.jsonl").read_text("utf-8").splitlines()
    return {row["url"]: row for row in map(json.loads, lines)}


def _attributes(folder: Path) -> list[AttributeType]:
    vertical = json.loads((folder / FIRST / "vertical.json").read_text("utf-8"))
    return [
        AttributeType(
            line["name"],
            "image" if line["type"] == "image/url" else line["type"],
            is_constant=line["constant"],
            is_multi=line["multi"],
        )
        for line in vertical["attributes"]
    ]


def _stored(site: SwdeSite, pages: Sequence[PageRows], move: Move) -> StoredPages:
    """Return the first values of the pages, those of changing amounts moved."""
    stored: StoredPages = {page.url: {} for page in pages}
    for attribute in site.attributes:
        values: TextsByPage = {
            number: _texts(page.old["truth"][attribute.name])
            for number, page in enumerate(pages)
            if page.old["truth"].get(attribute.name)
        }
        if has_moved(attribute, values):
            chance = random.Random(f"{site.name} {attribute.name}")
            values = stored_before(values, move, chance)
        for number, texts in values.items():
            is_multi = attribute.is_multi
            stored[pages[number].url][attribute.name] = [*texts] if is_multi else texts[0]
    return stored


def has_moved(attribute: AttributeType, values: TextsByPage) -> bool:
    """Return whether the values of an attribute are amounts that may change."""
    if attribute.is_constant or attribute.is_multi or len(values) < MIN_VALUES:
        return False
    return are_amounts(attribute, [text for texts in values.values() for text in texts])


def _texts(value: Any) -> list[str]:
    return [str(text) for text in value] if isinstance(value, list) else [str(value)]
