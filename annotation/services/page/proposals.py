"""What is proposed for the attributes of a page that nobody annotated yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.models import Annotation, Attribute
from annotation.services.page.page_readers import read_best_list
from annotation.services.page.page_states import RECORDS
from annotation.services.page.suggesting import CANNOT_BE_READ, suggestions_for
from clustering.models import Cluster, Snapshot
from clustering.services.children.stored import call_on_page


def proposals_for(
    snapshot: Snapshot, cluster: Cluster | None, attributes: Sequence[Attribute]
) -> dict[str, list[dict[str, Any]]]:
    """Return the suggestions of each attribute, best first, and the list of records that was found.

    The list counts as certain only where other pages of the cluster are known to have records.
    Where this one has records, only values within them are proposed. Where several pages have
    values and none has records, no list is looked for. Raises ChildrenBusy.
    """
    live_records = Annotation.objects.live().filter(attribute=None, kind=Annotation.Kind.RECORD)
    is_list = cluster is not None and live_records.of_cluster(cluster).exists()
    found_list: dict[str, Any] = {}
    if is_list or _n_pages_with_values(cluster) <= 1:
        found_list = _best_list_of(snapshot)

    proposals: dict[str, list[dict[str, Any]]] = {RECORDS: []}
    if found_list:
        proposals[RECORDS].append(_records_proposal(found_list, is_known=is_list))

    annotated = live_records.filter(page=snapshot.page_id).values_list("record", flat=True)
    within = {xpath for record in annotated for xpath in record}
    if is_list and not within and found_list:
        within = set(found_list["xpaths"])
    for suggestion in suggestions_for(snapshot=snapshot, attributes=attributes):
        if not within or _is_within(suggestion, within):
            proposals.setdefault(suggestion["attribute"], []).append(suggestion)
    return proposals


def _best_list_of(snapshot: Snapshot) -> dict[str, Any]:
    """Return the list that a page shows, nothing where it shows none or cannot be read."""
    try:
        return call_on_page(snapshot, read_best_list)
    except CANNOT_BE_READ:
        return {}


def _n_pages_with_values(cluster: Cluster | None) -> int:
    if cluster is None:
        return 0
    values = Annotation.objects.live().filter(kind=Annotation.Kind.VALUE).of_cluster(cluster)
    return values.values("page").distinct().count()


def _is_within(suggestion: Mapping[str, Any], xpaths: set[str]) -> bool:
    """Return whether there are marks and all stand in elements at some XPaths."""
    marks = suggestion["marks"]
    return bool(marks) and all(_leads_into(mark["xpath"], xpaths) for mark in marks)


def _leads_into(xpath: str, xpaths: set[str]) -> bool:
    """Return whether an XPath leads into one of the elements at some XPaths, or to it."""
    steps = xpath.split("/")
    return any("/".join(steps[:n]) in xpaths for n in range(2, len(steps) + 1))


def _records_proposal(found_list: Mapping[str, Any], *, is_known: bool) -> dict[str, Any]:
    return {
        "marks": found_list["marks"],
        "source": "list finder",
        "confidence": round(found_list["score"], 2) if is_known else 0.0,
        "why": f"{len(found_list['marks'])} parts of the page repeat like records",
    }
