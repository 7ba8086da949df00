"""Annotations as others read them: W3C Web Annotations, or the lines that an import takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotation.models import Annotation
from clustering.dom.addresses import address_keys
from clustering.models import Cluster
from vertex.core.models import Site

CONTEXT = "http://www.w3.org/ns/anno.jsonld"
ROWS_PER_QUERY = 1_000


def export_annotations(
    site: Site, *, cluster: Cluster | None = None, w3c: bool = True
) -> Iterator[dict[str, Any]]:
    """Yield the live annotations of a site's pages, page by page; memory stays flat."""
    rows = Annotation.objects.live().filter(page__site=site)
    if cluster is not None:
        rows = rows.of_cluster(cluster)
    rows = rows.select_related("page", "snapshot", "attribute__vertical", "author")
    form = web_annotation if w3c else annotation_line
    for row in rows.order_by("page", "attribute", "position").iterator(chunk_size=ROWS_PER_QUERY):
        yield form(row)


def web_annotation(row: Annotation) -> dict[str, Any]:
    """Return an annotation as the W3C's data model has it, with its anchors as selectors."""
    target: dict[str, Any] = {
        "source": row.page.given_url,
        "state": {"type": "TimeState", "sourceDate": row.snapshot.fetched_at.isoformat()},
    }
    selectors = _selectors(row)
    if selectors:
        target["selector"] = selectors
    document: dict[str, Any] = {
        "@context": CONTEXT,
        "id": f"urn:vertex:annotation:{row.pk}",
        "type": "Annotation",
        "motivation": "tagging",
        "created": row.made_at.isoformat(),
        "body": _bodies(row),
        "target": target,
    }
    if row.author is not None:
        document["creator"] = {"type": "Person", "nickname": row.author.username}
    return document


def annotation_line(row: Annotation) -> dict[str, Any]:
    """Return an annotation as a line of a file of annotations."""
    line: dict[str, Any] = address_keys(row.page.given_url)
    if row.attribute is not None:
        line["attribute"] = row.attribute.name
    if row.kind == Annotation.Kind.ABSENT:
        line["absent"] = True
    elif row.kind == Annotation.Kind.VALUE:
        line |= {"xpath": row.xpath, "text": row.text}
        line |= {"end_xpath": row.end_xpath} if row.end_xpath else {}
        line |= {"only_here": True} if row.is_only_here else {}
    return line | ({"record": row.record} if row.record else {})


def _bodies(row: Annotation) -> list[dict[str, Any]]:
    """Return the attribute as a tag and its annotation as a description."""
    bodies = []
    if row.attribute is not None:
        name = f"{row.attribute.vertical.name}:{row.attribute.name}"
        bodies.append({"type": "TextualBody", "purpose": "tagging", "value": name})
    description = row.text if row.kind == Annotation.Kind.VALUE else row.get_kind_display()
    bodies.append({"type": "TextualBody", "purpose": "describing", "value": description})
    return bodies


def _selectors(row: Annotation) -> list[dict[str, Any]]:
    """Return the anchors: each of them alone says where the value is."""
    if row.kind == Annotation.Kind.RECORD:
        return [{"type": "XPathSelector", "value": xpath} for xpath in row.record]
    if row.kind != Annotation.Kind.VALUE:
        return []
    quote = {
        "type": "TextQuoteSelector",
        "exact": row.text,
        "prefix": row.prefix,
        "suffix": row.suffix,
    }
    selectors = [_node_selector(row), quote]
    if row.text_position is not None:
        end = row.text_position + len(row.text)
        selectors.append({"type": "TextPositionSelector", "start": row.text_position, "end": end})
    return selectors


def _node_selector(row: Annotation) -> dict[str, Any]:
    begin: dict[str, Any] = {"type": "XPathSelector", "value": row.xpath}
    if row.end_xpath:
        finish = {"type": "XPathSelector", "value": row.end_xpath}
        return {"type": "RangeSelector", "startSelector": begin, "endSelector": finish}
    if row.start is not None or row.end is not None:
        start = row.start or 0
        begin["refinedBy"] = {
            "type": "TextPositionSelector",
            "start": start,
            "end": start + len(row.text),
        }
    return begin
