"""Lines that say what a rule made of a page."""

from __future__ import annotations

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.grouping import RawPage
from rules.algorithms.running.matching import Match
from rules.algorithms.running.record_lines import (
    line_not_taken,
    line_without_rule,
    lines_of_extracted,
)
from rules.algorithms.running.records import Extracted
from rules.bundle.extraction import lines_of
from tests.algorithms.rules.bundle.test_bundle import body, made_bundle
from tests.algorithms.rules.running import test_run_rule as cast

PAGE = RawPage("http://s.example/p/1", body(1))


def test_places_are_told_on_demand() -> None:
    (plain,) = lines_of(PAGE, made_bundle().rules)
    (placed,) = lines_of(PAGE, made_bundle().rules, nodes=True)

    assert "nodes" not in plain
    assert "/html/body/h1/text()" == placed["nodes"]["name"].removesuffix("[1]")


def test_a_page_of_a_cluster_without_a_rule_says_so() -> None:
    line = line_without_rule("u", Match("c", "model", "Nearest is group g."))

    assert ("c", None, "no_rule") == (line["cluster"], line["rule"], line["reason"])


def test_a_page_without_a_cluster_keeps_the_reason() -> None:
    assert "no_profile" == line_without_rule("u", Match(None, "model", "", "no_profile"))["reason"]


def test_a_list_has_a_line_for_each_record() -> None:
    extracted = cast.TestLists().found(AttributeType("item"))
    lines = lines_of_extracted("u", cast.rule(AttributeType("item")), extracted)

    assert [(0, "/p/1"), (1, "/p/2")] == [(line["index"], line["key"]) for line in lines]


def test_a_list_without_records_is_a_line_too() -> None:
    (line,) = lines_of_extracted("u", cast.rule(AttributeType("item")), Extracted([]))

    assert ("no_records", ["item"]) == (line["reason"], line["missing"])


def test_a_failure_is_a_line_with_its_reason() -> None:
    (line,) = lines_of_extracted(
        "u", cast.rule(AttributeType("item")), Extracted([], "no_tree", "empty")
    )

    assert ("products@3", "no_tree", "empty") == (line["rule"], line["reason"], line["why"])
    assert "x:1: not JSON" == line_not_taken("", "x:1", "bad_line", "not JSON")["why"]
