"""What is proposed for the attributes of a page before anybody said anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.algorithms.anchors.anchoring import ProposedNode
from annotation.algorithms.anchors.node_paths import PageNode
from annotation.algorithms.anchors.picking import NumberedPage
from annotation.algorithms.suggestions.suggestion import Suggestion
from annotation.models import Annotation, Attribute
from annotation.services.page.drawn_marks import draw_mark
from annotation.services.page.page_states import RECORDS
from annotation.services.page.suggesting import suggestions_for
from clustering.algorithms.records.finding import FoundList, find_records
from clustering.models import Cluster, Snapshot


def proposals_for(
    page: NumberedPage, snapshot: Snapshot, cluster: Cluster | None, attributes: Sequence[Attribute]
) -> dict[str, list[dict[str, Any]]]:
    """Return the suggestions of each attribute, best first, and the list of records that was found.

    The list counts as certain only where other pages of the cluster are known to have records. Where this one
    has records, only values within them are proposed. Where several pages have values and none has records,
    no list is looked for.
    """
    live = Annotation.objects.live().filter(attribute=None, kind=Annotation.Kind.RECORD)
    is_list = cluster is not None and live.of_cluster(cluster).exists()
    lists = (
        [] if not is_list and _n_pages_with_values(cluster) > 1 else find_records(page.texts.tree)
    )
    found: dict[str, list[dict[str, Any]]] = {
        RECORDS: _found_records(page, lists, is_known=is_list)
    }
    marked = live.filter(page=snapshot.page_id).values_list("record", flat=True)
    places = {path for record in marked for path in record}
    if is_list and not places and lists:
        places = {PageNode(part).xpath for record in lists[0].records for part in record}
    for one in suggestions_for(snapshot=snapshot, tree=page.texts.tree, attributes=attributes):
        if not places or (one.marks and all(_stands_in(mark.xpath, places) for mark in one.marks)):
            found.setdefault(one.attribute, []).append(_as_json(page, one))
    return found


def _n_pages_with_values(cluster: Cluster | None) -> int:
    if cluster is None:
        return 0
    said = Annotation.objects.live().filter(kind=Annotation.Kind.VALUE).of_cluster(cluster)
    return said.values("page").distinct().count()


def _stands_in(xpath: str, places: set[str]) -> bool:
    """Say whether a path leads into one of the elements at some paths, or to it."""
    steps = xpath.split("/")
    return any("/".join(steps[:n]) in places for n in range(2, len(steps) + 1))


def _as_json(page: NumberedPage, suggestion: Suggestion) -> dict[str, Any]:
    told = dict(suggestion.as_json())
    return told | {"marks": [_drawn(page, mark) for mark in suggestion.marks]}


def _drawn(page: NumberedPage, mark: ProposedNode) -> dict[str, Any]:
    """Return a mark with where it is drawn."""
    return mark.as_json() | draw_mark(page, mark).drawing


def _found_records(
    page: NumberedPage, lists: Sequence[FoundList], *, is_known: bool
) -> list[dict[str, Any]]:
    if not lists:
        return []
    numbers = [
        (page.number_of(record[0]), page.number_of(record[-1])) for record in lists[0].records
    ]
    marks = [{"number": first, "endNumber": last, "text": ""} for first, last in numbers]
    proposal = {
        "marks": marks,
        "source": "list finder",
        "confidence": round(lists[0].score, 2) if is_known else 0.0,
        "why": f"{len(marks)} parts of the page repeat like records",
    }
    return [proposal]
