"""A demo site in memory: pages, assets, search, and the truth about each of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

Values: TypeAlias = dict[str, str | list[str] | None]

SESSION = "sessionid"  # a name in addresses that says nothing about the page
FETCHED_AT = {
    "1": "2024-10-07T06:00:00Z",
    "1b": "2024-10-21T06:00:00Z",
    "2": "2024-11-18T06:00:00Z",
}


_TYPE_OF_TWIN = {"set": "product", "stay": "listing", "opinion": "article", "poll": "thread"}


@dataclass(frozen=True)
class Record:
    """One record of a list: its sibling elements, its values and where they stand."""

    nodes: list[str]
    values: Values
    places: dict[str, list[str]]


@dataclass(frozen=True)
class DemoPage:
    """A page with its truth: what type it is, which values it shows and at which XPaths."""

    path: str
    body: bytes
    content_type: str
    status: int
    type: str
    values: Values = field(default_factory=dict)
    places: dict[str, list[str]] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)

    @property
    def cluster_type(self) -> str:
        """Return the type to which one rule belongs: near-twins share theirs."""
        return _TYPE_OF_TWIN.get(self.type, self.type)


@dataclass(frozen=True)
class Asset:
    body: bytes
    content_type: str


@dataclass(frozen=True)
class Query:
    """A line of the search log."""

    query: str
    path: str
    clicks: int


@dataclass(frozen=True)
class DemoSite:
    name: str
    title: str
    edition: str
    vertical: dict[str, Any]
    pages: dict[str, DemoPage]
    assets: dict[str, Asset]
    redirects: dict[str, str]
    queries: list[Query]
    search: Callable[[str], DemoPage]
    missing: Callable[[str], DemoPage]
    dead_links: frozenset[str]  # linked on purpose, answered with 404
    forbidden: tuple[str, ...]  # what robots.txt asks not to fetch
    untouched: str  # the type whose template the redesign left alone

    @cached_property
    def _page_by_key(self) -> dict[object, DemoPage]:
        return {_key(path): page for path, page in self.pages.items()}

    def page_at(self, target: str) -> DemoPage | None:
        """Return the page of a request's target, however its query is ordered or escaped."""
        return self._page_by_key.get(_key(target))

    @property
    def robots(self) -> str:
        return "User-agent: *\n" + "".join(f"Disallow: {path}\n" for path in self.forbidden)

    def sitemap(self, base_url: str) -> str:
        """Return the addresses of the pages that hold the site's things."""
        urls = [f"<url><loc>{_escape(base_url + page.path)}</loc></url>" for page in self._listed()]
        space = "http://www.sitemaps.org/schemas/sitemap/0.9"
        return (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{space}">\n'
            + "\n".join(urls)
            + "\n</urlset>\n"
        )

    def write(self, folder: Path, base_url: str = "") -> Path:
        """Write all pages with a manifest, and return the manifest."""
        base_url = base_url or self.default_url
        (folder / "pages").mkdir(parents=True, exist_ok=True)
        lines = []
        for number, page in enumerate(self.pages.values()):
            file = f"pages/{number:04}.html"
            (folder / file).write_bytes(page.body)
            lines.append(
                {
                    "url": base_url + page.path,
                    "file": file,
                    "status": page.status,
                    "content_type": page.content_type,
                    "fetched_at": FETCHED_AT[self.edition],
                }
            )
        _write_lines(folder / "manifest.jsonl", lines)
        return folder / "manifest.jsonl"

    def write_truth(self, folder: Path, base_url: str = "") -> None:
        """Write types, values, annotations, records, the vertical and the search log."""
        base_url = base_url or self.default_url
        folder.mkdir(parents=True, exist_ok=True)
        pages = self.pages.values()
        _write_lines(
            folder / "types.jsonl",
            [{"url": base_url + page.path, "type": page.type} for page in pages],
        )
        _write_lines(
            folder / "values.jsonl",
            [{"url": base_url + page.path, "values": page.values} for page in pages if page.values],
        )
        _write_lines(
            folder / "annotations.jsonl",
            [
                {"url": base_url + page.path} | line
                for page in pages
                for line in annotation_lines(page)
            ],
        )
        _write_lines(
            folder / "records.jsonl",
            [
                {
                    "url": base_url + page.path,
                    "records": [record.nodes for record in page.records],
                    "values": [record.values for record in page.records],
                }
                for page in pages
                if page.records
            ],
        )
        (folder / "vertical.json").write_text(
            json.dumps(self.vertical, ensure_ascii=False, indent=1)
        )
        (folder / "search-log.tsv").write_text(self.search_log(base_url), encoding="utf-8")

    def search_log(self, base_url: str) -> str:
        return "".join(
            f"{line.query}\t{base_url}{line.path}\t{line.clicks}\n" for line in self.queries
        )

    @property
    def default_url(self) -> str:
        return f"https://{self.name}.example"

    def _listed(self) -> list[DemoPage]:
        return [page for page in self.pages.values() if page.values and page.status == 200]


def annotation_lines(page: DemoPage) -> list[dict[str, Any]]:
    """Return the page's values as lines for `import_annotations`, without the address."""
    lines: list[dict[str, Any]] = []
    for attribute, value in page.values.items():
        if value is None:
            lines.append({"attribute": attribute, "absent": True})
            continue
        texts = value if isinstance(value, list) else [value]
        lines += [
            {"attribute": attribute, "xpath": place, "text": text}
            for text, place in zip(texts, page.places[attribute], strict=True)
        ]
    return lines


def _write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text(
        "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8"
    )


def _key(target: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return what makes two targets the same page: path and query without the session."""
    parts = urlsplit(target)
    query = [(name, value) for name, value in parse_qsl(parts.query) if name != SESSION]
    return unquote(parts.path), tuple(sorted(query))


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
