"""What is proposed for the attributes of a page before anybody said anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotation.algorithms.node_paths import AnchorProblem
from annotation.algorithms.picking import MarkText, anchor_mark
from annotation.models import Annotation
from annotation.services.page_states import RECORDS, drawing_json
from annotation.services.suggesting import suggestions_for
from clustering.algorithms.record_finding import find_records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from annotation.algorithms.picking import NumberedPage
    from annotation.models import Attribute
    from annotation.services.suggesting import Mark, Suggestion
    from clustering.models import Cluster, Snapshot


def proposals_for(
    page: NumberedPage, snapshot: Snapshot, cluster: Cluster | None, attributes: Sequence[Attribute]
) -> dict[str, list[dict[str, Any]]]:
    """Return the suggestions of each attribute, best first, and the list of records that was found.

    The list counts as certain only where other pages of the cluster are known to have records.
    """
    found: dict[str, list[dict[str, Any]]] = {RECORDS: _found_records(page, cluster)}
    for one in suggestions_for(snapshot=snapshot, tree=page.texts.tree, attributes=attributes):
        found.setdefault(one.attribute, []).append(_as_json(page, one))
    return found


def _as_json(page: NumberedPage, suggestion: Suggestion) -> dict[str, Any]:
    told = dict(suggestion.as_json())
    return told | {"marks": [_drawn(page, mark) for mark in suggestion.marks]}


def _drawn(page: NumberedPage, mark: Mark) -> dict[str, Any]:
    """Return a mark with where it is drawn."""
    told = dict(mark.as_json())
    text = MarkText(mark.xpath, mark.text, mark.end_xpath, mark.start, mark.end)
    try:
        drawing = drawing_json(page, anchor_mark(page.texts, text))
    except AnchorProblem:
        return told
    if drawing is None:
        return told
    return told | {
        "number": drawing["number"],
        "drawn": drawing["text"],
        "endNumber": drawing.get("endNumber"),
    }


def _found_records(page: NumberedPage, cluster: Cluster | None) -> list[dict[str, Any]]:
    lists = find_records(page.texts.tree)
    if not lists:
        return []
    live = Annotation.objects.live().filter(attribute=None, kind=Annotation.Kind.RECORD)
    is_known = cluster is not None and live.of_cluster(cluster).exists()
    numbers = [(page.number_of(record[0]), page.number_of(record[-1])) for record in lists[0].records]
    marks = [{"number": first, "endNumber": last, "text": ""} for first, last in numbers]
    proposal = {
        "marks": marks,
        "source": "list finder",
        "confidence": round(lists[0].score, 2) if is_known else 0.0,
        "why": f"{len(marks)} parts of the page repeat like records",
    }
    return [proposal]
