"""Find the fields of a cluster's pages in the page store, without annotations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lxml.html import HtmlElement

from clustering.algorithms.slots.fields import (
    MOST_PAGES,
    FieldFinders,
    FoundField,
    find_fields,
    finders_of,
)
from clustering.algorithms.slots.finding import SlotText
from clustering.models import Cluster, Page, PageMembership
from clustering.services.pages.stored_trees import read_tree
from vertex.core.models import Site

MIN_PAGES: Final = 2  # of a single page nothing can be said to vary
MOST_PAGES_WITH_VALUES: Final = 2_000
PAGES_PER_QUERY: Final = 100


@dataclass(frozen=True, slots=True)
class ClusterFields:
    """The fields of a cluster, and what they were found by."""

    cluster: Cluster
    finders: FieldFinders
    fields: Sequence[FoundField]  # those that are shown first
    pages: Sequence[Page]  # that they were found on

    def shown(self) -> list[FoundField]:
        return [field for field in self.fields if not field.folded_into]

    def read(self, tree: HtmlElement) -> list[tuple[SlotText, ...]]:
        """Return the texts of each field on a page of the cluster."""
        texts = self.finders.texts.read(tree, [field.slot for field in self.fields])
        images = self.finders.images.read(tree, [field.slot for field in self.fields])
        return [
            image if field.is_image else text
            for field, text, image in zip(self.fields, texts, images, strict=True)
        ]


def cluster_fields(cluster: Cluster) -> ClusterFields:
    """Return the fields of a cluster; none where it has too few readable pages."""
    pages, trees = [], []
    for page, tree in _read_pages(_page_ids(cluster)[:MOST_PAGES]):
        pages.append(page)
        trees.append(tree)
    finders = finders_of(trees)
    fields = find_fields(finders) if len(trees) >= MIN_PAGES else []
    return ClusterFields(cluster, finders, fields, pages)


def clusters_with_pages(site: Site, name: str = "") -> list[Cluster]:
    """Return the clusters whose fields are asked for: all with pages, or the one of this name."""
    clusters = Cluster.objects.present().filter(site=site).order_by("name")
    return list(clusters.filter(name=name) if name else clusters)


def field_lines(
    of_cluster: ClusterFields,
    *,
    with_values: bool = False,
    renew: Callable[[], None] = lambda: None,
) -> Iterator[dict[str, Any]]:
    """Yield a line for each field, those that are folded into another last."""
    values = _values(of_cluster, renew) if with_values else None
    for number, field in enumerate(of_cluster.fields):
        line = field_line(of_cluster.cluster, field)
        if values is not None:
            line["values"] = values[number]
        yield line


def field_line(cluster: Cluster, field: FoundField) -> dict[str, Any]:
    line: dict[str, Any] = {
        "cluster": cluster.name,
        "slot": field.identifier,
        "name": field.name,
        "label": field.label,
        "type": field.type,
        "fill": round(field.slot.fill, 4),
        "multi": field.is_multi,
        "examples": list(field.examples),
        "place": field.slot.place,
    }
    if field.list_name:
        line["list"] = field.list_name
    if field.slot.declared_name:
        line["declared"] = field.slot.declared_name
    if field.folded_into:
        line["folded_into"] = field.folded_into
    return line


def _values(
    of_cluster: ClusterFields, renew: Callable[[], None]
) -> list[dict[str, list[str | None]]]:
    """Return the values of each field by the given addresses of the pages that show it.

    Of a list within a page there is one for each entry, None where an entry has none.
    """
    values: list[dict[str, list[str | None]]] = [{} for _ in of_cluster.fields]
    number_by_slot = {id(field.slot): n for n, field in enumerate(of_cluster.fields)}
    for page, tree in _read_pages(_page_ids(of_cluster.cluster)[:MOST_PAGES_WITH_VALUES]):
        renew()
        texts_of_fields = of_cluster.read(tree)
        for field, texts, by_url in zip(of_cluster.fields, texts_of_fields, values, strict=True):
            if not texts:
                continue
            if field.leader is None:
                by_url[page.given_url] = list(field.values([text.text.text for text in texts]))
            else:
                leading = texts_of_fields[number_by_slot[id(field.leader)]]
                by_url[page.given_url] = field.values_of_entries(texts, leading)
    return values


def _page_ids(cluster: Cluster) -> list[int]:
    """Return the pages in the order of their hashes, of which each part is a fair sample."""
    members = PageMembership.objects.of_cluster(cluster)
    return list(members.order_by("page__url_hash").values_list("page", flat=True))


def _read_pages(page_ids: Sequence[int]) -> Iterator[tuple[Page, HtmlElement]]:
    for start in range(0, len(page_ids), PAGES_PER_QUERY):
        pages = Page.objects.filter(pk__in=page_ids[start : start + PAGES_PER_QUERY])
        for page in pages.select_related("latest_snapshot").order_by("pk"):
            tree = read_tree(page.latest_snapshot) if page.latest_snapshot else None
            if tree is not None:
                yield page, tree
