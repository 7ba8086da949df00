"""What the newest rule of a cluster finds on a page that is being annotated, as marks to accept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.algorithms.anchors.anchoring import ProposedNode
from annotation.algorithms.anchors.page_texts import read_texts
from annotation.algorithms.anchors.picking import NumberedPage
from annotation.services.page.drawing import draw_mark, draw_record
from annotation.services.page.page_states import RECORDS
from clustering.models import Cluster, Snapshot
from clustering.services.pages.stored_trees import read_tree
from rules.algorithms.running.records import ExtractedRecord, texts_of
from rules.models import Rule
from rules.services.learning.sample_pages import RuleStopped, extract_snapshot
from rules.services.learning.schemas import runnable

BOUNDARY_CONFIDENCE = 0.9
ABSENCE_CONFIDENCE = 0.6  # that a page lacks what the rule does not find


def prefill(cluster: Cluster, snapshot: Snapshot) -> dict[str, Any]:
    """Return the values that the newest rule finds on a page, with where they are drawn.

    An attribute for which it has a rule and finds nothing is returned as absent; one without a rule
    is left out.
    """
    rule = (
        Rule.objects.filter(cluster=cluster).select_related("cluster").order_by("-version").first()
    )
    tree = None if rule is None else read_tree(snapshot)
    if rule is None or tree is None:
        return {"rule": None, "attributes": {}}
    learnt = {entry["attribute"]: entry for entry in rule.definition.get("attributes", [])}
    try:
        extracted = extract_snapshot(snapshot, runnable(rule), nodes=True)
    except RuleStopped:
        return {"rule": None, "attributes": {}}
    records = extracted.records if extracted else []
    page = NumberedPage(read_texts(tree))
    suggested = {}
    for attribute in rule.attributes:
        name = attribute.name
        values = _suggested_values(page, name, records)
        if values["marks"]:
            suggested[name] = values | _drafted(rule, name)
        elif learnt.get(name, {}).get("alternatives") and len(records) == 1:
            why = f"version {rule.version} of the rule finds nothing here"
            suggested[name] = {
                "marks": [],
                "confidence": ABSENCE_CONFIDENCE,
                "why": why,
                "absent": True,
            }
    if rule.definition.get("boundary") and records:
        suggested[RECORDS] = _suggested_records(page, records)
    return {"rule": str(rule), "attributes": suggested}


def _suggested_values(
    page: NumberedPage, name: str, records: Sequence[ExtractedRecord]
) -> dict[str, Any]:
    """Return an attribute's values as marks."""
    marks = []
    confidence = 1.0
    for record in records:
        if name not in record.values:
            continue
        confidence = min(confidence, record.confidence.get(name, 1.0))
        values, nodes = texts_of(record.values[name]), texts_of(record.nodes.get(name))
        if len(values) == len(nodes):
            pairs = list(zip(values, nodes, strict=True))
        else:  # one node holds several values
            pairs = [(value, node) for value in values for node in nodes[:1]]
        marks += [_mark(page, value, node) for value, node in pairs]
    return {"marks": marks, "confidence": confidence, "why": "the rule so far", "absent": False}


def _drafted(rule: Rule, name: str) -> dict[str, Any]:
    """Return how certain a drafted rule is of an attribute, and why; nothing of a learnt one."""
    if rule.origin != Rule.Origin.DRAFTED:
        return {}
    figure_by_attribute = {entry["attribute"]: entry for entry in rule.figures}
    figure = figure_by_attribute[name]
    if "why" not in figure:
        return {}
    return {"confidence": figure["certainty"], "why": f"as on other sites: {figure['why']}"}


def _mark(page: NumberedPage, value: str, xpath: str) -> dict[str, Any]:
    """Return a value as a mark, drawn where it stands."""
    mark: dict[str, Any] = {
        "xpath": xpath,
        "end_xpath": "",
        "start": None,
        "end": None,
        "text": value,
    }
    anchor, drawing = draw_mark(page, ProposedNode(xpath, value, "", None, None))
    if anchor is None:
        return mark
    mark |= {
        "xpath": anchor.xpath,
        "start": anchor.start,
        "end": anchor.end,
        "text": anchor.quote,
    }
    return mark | drawing


def _suggested_records(page: NumberedPage, records: Sequence[ExtractedRecord]) -> dict[str, Any]:
    """Return the records of a list as the rule's boundary divides them."""
    marks = [draw_record(page, record.record_nodes) for record in records if record.record_nodes]
    return {
        "marks": marks,
        "confidence": BOUNDARY_CONFIDENCE,
        "why": "the boundary of the rule",
        "absent": False,
    }
