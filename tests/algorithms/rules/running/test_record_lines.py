"""Lines that say what a rule made of a page."""

from __future__ import annotations

import json
from typing import Any

import pytest

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.grouping import RawPage
from rules.algorithms.running.matching import Match
from rules.algorithms.running.record_lines import (
    Line,
    line_from_json,
    line_json,
    line_not_taken,
    line_without_rule,
    lines_of_extracted,
)
from rules.algorithms.running.records import Extracted, ExtractedRecord
from rules.bundle.extraction import lines_of
from tests.algorithms.rules.bundle.test_bundle import body, made_bundle
from tests.algorithms.rules.running import test_run_rule as cast

PAGE = RawPage("http://s.example/p/1", body(1))
HEAD = {"url": "u", "cluster": "products", "rule": "products@3"}
ITEM = cast.rule(AttributeType("item"))


def record(*, is_of_list: bool = False, failed: dict[str, str] | None = None) -> ExtractedRecord:
    return ExtractedRecord(
        values={"item": "Rope"},
        raw={"item": " Rope"},
        normalized={"price": "1"},
        missing=["size"],
        failed=failed or {},
        confidence={"item": 1.0},
        nodes={"item": "/html/body/h1"},
        record_nodes=["/html/body/div"] if is_of_list else [],
        index=0 if is_of_list else None,
        key="Rope" if is_of_list else None,
    )


def line_of_extracted(extracted: Extracted) -> Line:
    (line,) = lines_of_extracted("u", ITEM, extracted)
    return line


VALUES: dict[str, Any] = {"record": {"item": "Rope"}, "raw": {"item": " Rope"}, "missing": ["size"]}
SURE: dict[str, Any] = {"confidence": {"item": 1.0}, "normalized": {"price": "1"}}
NODES: dict[str, Any] = {"nodes": {"item": "/html/body/h1"}}
OF_LIST: dict[str, Any] = {"index": 0, "key": "Rope"}
RECORD_NODES: dict[str, Any] = {"record_nodes": ["/html/body/div"]}
SHAPES: list[tuple[Line, bool, dict[str, Any]]] = [
    (
        line_without_rule("u", Match("c", "model", "Nearest is group g.")),
        True,
        {
            "url": "u",
            "cluster": "c",
            "rule": None,
            "reason": "no_rule",
            "why": "Nearest is group g. The cluster has no published rule.",
        },
    ),
    (
        line_not_taken("", "x:1", "bad_line", "not JSON"),
        False,
        {"url": None, "cluster": None, "rule": None, "reason": "bad_line", "why": "x:1: not JSON"},
    ),
    (
        line_of_extracted(Extracted([], "no_tree", "empty")),
        True,
        HEAD | {"record": {}, "raw": {}, "reason": "no_tree", "why": "empty"},
    ),
    (
        line_of_extracted(Extracted([])),
        True,
        HEAD
        | {"record": {}, "raw": {}, "missing": ["item"], "confidence": {}, "reason": "no_records"},
    ),
    (line_of_extracted(Extracted([record()])), False, HEAD | VALUES | SURE),
    (line_of_extracted(Extracted([record()])), True, HEAD | VALUES | SURE | NODES),
    (
        line_of_extracted(Extracted([record(failed={"size": "mandatory"})], problem="truncated")),
        False,
        HEAD | VALUES | {"failed": {"size": "mandatory"}} | SURE | {"problem": "truncated"},
    ),
    (
        line_of_extracted(Extracted([record(is_of_list=True)])),
        False,
        HEAD | VALUES | SURE | OF_LIST,
    ),
    (
        line_of_extracted(Extracted([record(is_of_list=True)], problem="truncated")),
        True,
        HEAD | VALUES | SURE | NODES | OF_LIST | RECORD_NODES | {"problem": "truncated"},
    ),
]


@pytest.mark.parametrize(("line", "nodes", "payload"), SHAPES)
def test_each_shape_of_line_has_its_keys_in_this_order(
    line: Line, payload: dict[str, Any], *, nodes: bool
) -> None:
    assert json.dumps(payload) == json.dumps(line_json(line, nodes=nodes))


@pytest.mark.parametrize(("line", "nodes", "payload"), SHAPES)
def test_a_line_that_was_written_is_read_again(
    line: Line, payload: dict[str, Any], *, nodes: bool
) -> None:
    read = line_from_json(json.loads(json.dumps(payload)))

    assert payload == line_json(read, nodes=nodes)
    assert (line.values, line.key, line.index, line.reason) == (
        read.values,
        read.key,
        read.index,
        read.reason,
    )


def test_places_are_told_on_demand() -> None:
    (plain,) = lines_of(PAGE, made_bundle().rules)
    (placed,) = lines_of(PAGE, made_bundle().rules, nodes=True)

    assert "nodes" not in line_json(plain)
    assert {} == plain.nodes
    assert "/html/body/h1/text()" == str(placed.nodes["name"]).removesuffix("[1]")


def test_a_page_of_a_cluster_without_a_rule_says_so() -> None:
    line = line_without_rule("u", Match("c", "model", "Nearest is group g."))

    assert ("c", None, "no_rule") == (line.cluster, line.rule, line.reason)


def test_a_page_without_a_cluster_keeps_the_reason() -> None:
    assert "no_profile" == line_without_rule("u", Match(None, "model", "", "no_profile")).reason


def test_a_list_has_a_line_for_each_record() -> None:
    extracted = cast.TestLists().found(AttributeType("item"))
    lines = lines_of_extracted("u", ITEM, extracted)

    assert [(0, "/p/1"), (1, "/p/2")] == [(line.index, line.key) for line in lines]


def test_a_list_without_records_is_a_line_too() -> None:
    payload = line_json(line_of_extracted(Extracted([])))

    assert ("no_records", ["item"]) == (payload["reason"], payload["missing"])


def test_a_failure_is_a_line_with_its_reason() -> None:
    line = line_of_extracted(Extracted([], "no_tree", "empty"))

    assert ("products@3", "no_tree", "empty") == (line.rule, line.reason, line.why)
    assert "x:1: not JSON" == line_not_taken("", "x:1", "bad_line", "not JSON").why
