"""Put pages together from a site's templates and keep the truth beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from django.template import Context, Engine

from vertex.demo.sites.marks import RecordMarks, read_marks, strip_marks
from vertex.demo.sites.site import DemoPage, Record, Values

Item = TypeVar("Item")


# Saves parsing each template for each page: half of the second that a site takes.
@cache
def _engine(folder: Path) -> Engine:
    return Engine(dirs=[str(folder)])


@dataclass
class Builder:
    """Render templates of one edition into pages."""

    folder: Path
    edition: str
    encoding: str = "utf-8"
    content_type: str = "text/html; charset=utf-8"
    common: dict[str, Any] = field(default_factory=dict)  # what every template may use
    pages: dict[str, DemoPage] = field(default_factory=dict)

    @property
    def look(self) -> str:
        """Return the folder of templates: the drift has the looks of the first edition."""
        return "2" if self.edition == "2" else "1"

    def add(self, path: str, kind: str, template: str, **truth_and_context: Any) -> None:
        """Render a page and keep it under its path."""
        if path in self.pages:
            raise ValueError(f"two pages have the path {path}")
        self.pages[path] = self.render(path, kind, template, **truth_and_context)

    def render(
        self,
        path: str,
        kind: str,
        template: str,
        *,
        values: Values | None = None,
        records: Sequence[Values] = (),
        status: int = 200,
        look: str = "",
        **context: Any,
    ) -> DemoPage:
        """Return a page made from `<look>/<template>.html`, with the truth read from its marks."""
        source = _engine(self.folder).get_template(f"{look or self.look}/{template}.html")
        drifted = self.edition != "1"
        names = {"path": path, "kind": kind, "drifted": drifted, **self.common, **context}
        html = source.render(Context(names, use_l10n=False, use_tz=False))
        marks = read_marks(html, self.encoding)
        return DemoPage(
            path=path,
            body=strip_marks(html).encode(self.encoding, "xmlcharrefreplace"),
            content_type=self.content_type,
            status=status,
            type=kind,
            values=values or {},
            places=dict(marks.places),
            records=_join_records(path, list(marks.records.values()), records),
        )


def _join_records(path: str, marks: list[RecordMarks], values: Sequence[Values]) -> list[Record]:
    if len(marks) != len(values):
        raise ValueError(f"{path} shows {len(marks)} records, its truth has {len(values)}")
    return [
        Record(mark.nodes, value, dict(mark.places))
        for mark, value in zip(marks, values, strict=True)
    ]


@dataclass(frozen=True)
class Slice:
    """One page of a paged list, as a template needs it."""

    items: Sequence[Any]
    number: int
    n_pages: int
    first: int
    last: int
    total: int
    links: list[tuple[int, str]]
    previous: str
    next: str


def paged(
    items: Sequence[Item], size: int, address: str, first_address: str = ""
) -> list[tuple[str, Slice]]:
    """Cut a list into pages, each with its path; `address` holds `{}` for the number."""
    n_pages = max(1, math.ceil(len(items) / size))
    paths = [
        first_address or address.format(1),
        *(address.format(n) for n in range(2, n_pages + 1)),
    ]
    return [
        (
            path,
            Slice(
                items=items[number * size : (number + 1) * size],
                number=number + 1,
                n_pages=n_pages,
                first=number * size + 1,
                last=min(len(items), (number + 1) * size),
                total=len(items),
                links=list(enumerate(paths, start=1)),
                previous=paths[number - 1] if number else "",
                next=paths[number + 1] if number + 1 < n_pages else "",
            ),
        )
        for number, path in enumerate(paths)
    ]
