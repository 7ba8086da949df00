"""What is proposed for the attributes of a page that nobody annotated yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.algorithms.anchors.node_paths import PageNode
from annotation.algorithms.anchors.picking import NumberedPage
from annotation.algorithms.suggestions.suggestion import Suggestion
from annotation.models import Annotation, Attribute
from annotation.services.page.drawing import draw_mark
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
    live_records = Annotation.objects.live().filter(attribute=None, kind=Annotation.Kind.RECORD)
    is_list = cluster is not None and live_records.of_cluster(cluster).exists()
    lists: list[FoundList] = []
    if is_list or _n_pages_with_values(cluster) <= 1:
        lists = find_records(page.texts.tree)

    proposals: dict[str, list[dict[str, Any]]] = {RECORDS: []}
    if lists:
        proposals[RECORDS].append(_records_proposal(page, lists[0], is_known=is_list))

    annotated = live_records.filter(page=snapshot.page_id).values_list("record", flat=True)
    within = {xpath for record in annotated for xpath in record}
    if is_list and not within and lists:
        within = {PageNode(element).xpath for record in lists[0].records for element in record}
    for suggestion in suggestions_for(
        snapshot=snapshot, tree=page.texts.tree, attributes=attributes
    ):
        if not within or _is_within(suggestion, within):
            proposals.setdefault(suggestion.attribute, []).append(_proposal(page, suggestion))
    return proposals


def _n_pages_with_values(cluster: Cluster | None) -> int:
    if cluster is None:
        return 0
    values = Annotation.objects.live().filter(kind=Annotation.Kind.VALUE).of_cluster(cluster)
    return values.values("page").distinct().count()


def _is_within(suggestion: Suggestion, xpaths: set[str]) -> bool:
    """Return whether there are marks and all stand in elements at some XPaths."""
    return bool(suggestion.marks) and all(
        _leads_into(mark.xpath, xpaths) for mark in suggestion.marks
    )


def _leads_into(xpath: str, xpaths: set[str]) -> bool:
    """Return whether an XPath leads into one of the elements at some XPaths, or to it."""
    steps = xpath.split("/")
    return any("/".join(steps[:n]) in xpaths for n in range(2, len(steps) + 1))


def _proposal(page: NumberedPage, suggestion: Suggestion) -> dict[str, Any]:
    """Return a suggestion with where its marks are drawn."""
    marks = [mark.as_json() | draw_mark(page, mark).drawing for mark in suggestion.marks]
    return suggestion.as_json() | {"marks": marks}


def _records_proposal(page: NumberedPage, records: FoundList, *, is_known: bool) -> dict[str, Any]:
    marks = []
    for record in records.records:
        first, last = page.number_of(record[0]), page.number_of(record[-1])
        marks.append({"number": first, "endNumber": last, "text": ""})
    return {
        "marks": marks,
        "source": "list finder",
        "confidence": round(records.score, 2) if is_known else 0.0,
        "why": f"{len(marks)} parts of the page repeat like records",
    }
