"""The shingle test, the field test and the verdict on a cluster."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.published.shingles import shingle_vector
from monitoring.algorithms.site_change import (
    PageTest,
    displaced_attributes,
    field_test,
    judge_cluster,
    shingle_test,
    structure_test,
    vanished_attributes,
)
from rules.algorithms.running.record_lines import Line
from tests.algorithms.rules.running.line_cast import line_of

NAME = AttributeType("name", is_constant=True, is_mandatory=True)
PRICE = AttributeType("price", "price", is_mandatory=True)
WEIGHT = AttributeType("weight", is_constant=True)
SALE = AttributeType("sale", "price")
PRODUCT = [NAME, PRICE, WEIGHT, SALE]
SIGNATURE = "0102030405060708"
VECTOR = 0x0102030405060708


def record(**values: Any) -> list[Line]:
    return [line_of(values)]


def page(
    *,
    shingle: bool | None = True,
    field: bool | None = True,
    outcome: Literal["ok", "changed", "unreachable"] | None = None,
    **more: Any,
) -> PageTest:
    told: Literal["ok", "changed", "unreachable"] = outcome or (
        "ok" if shingle is not False and field else "changed"
    )
    return PageTest("u", told, shingle, field, **more)


def kinds(was: list[Line], now: list[Line]) -> list[tuple[str, str]]:
    return [(one.attribute, one.kind) for one in field_test(was, now, PRODUCT)]


class TestPaper:
    def test_the_field_test_succeeds_where_mandatory_values_are_there_and_constant_ones_equal(
        self,
    ) -> None:
        assert [] == kinds(record(name="Rope", price="€1"), record(name="Rope", price="€2"))

    def test_a_mandatory_value_that_is_gone_is_a_null_extraction(self) -> None:
        assert [("price", "null_extraction")] == kinds(
            record(name="Rope", price="€1"), record(name="Rope")
        )

    def test_another_constant_value_is_an_incorrect_extraction(self) -> None:
        assert [("name", "incorrect_extraction")] == kinds(
            record(name="Rope", price="€1"), record(name="Home", price="€1")
        )

    def test_the_shingle_test_asks_the_signature_of_the_cluster(self) -> None:
        masked = "01020304050607**"

        assert shingle_test(VECTOR, SIGNATURE)
        assert shingle_test(VECTOR ^ 0xFF, masked, VECTOR)
        assert shingle_test(VECTOR ^ 0xFF, SIGNATURE) is False

    def test_either_test_on_a_majority_of_the_pages_is_a_change(self) -> None:
        by_shingle = judge_cluster("c", [page(shingle=False)] * 3 + [page()] * 2)
        by_field = judge_cluster("c", [page(field=False)] * 3 + [page()] * 2)
        by_neither = judge_cluster(
            "c", [page(shingle=False)] * 2 + [page(field=False)] * 2 + [page()] * 2
        )

        assert [True, True, False] == [
            one.is_changed_for_the_paper for one in (by_shingle, by_field, by_neither)
        ]


class TestVerdict:
    def test_half_of_the_pages_are_no_majority(self) -> None:
        assert not judge_cluster("c", [page(field=False)] * 2 + [page()] * 2).is_broken

    def test_a_failed_field_test_is_enough(self) -> None:
        assert judge_cluster("c", [page(field=False)] * 3 + [page()] * 2).is_broken

    def test_cosmetic_edits_break_nothing_and_are_told(self) -> None:
        verdict = judge_cluster("c", [page(shingle=False)] * 5)

        assert not verdict.is_broken
        assert "the values are the same" in verdict.reason

    def test_a_lost_value_confirms_a_failed_shingle_test(self) -> None:
        verdict = judge_cluster("c", [page(shingle=False)] * 4 + [page(shingle=False, field=False)])

        assert verdict.is_broken

    def test_an_attribute_that_comes_out_nowhere_confirms_it_too(self) -> None:
        lost = page(shingle=False, vanished=frozenset({"sale"}), had=frozenset({"sale"}))

        assert judge_cluster("c", [lost] * 3).is_broken
        assert not judge_cluster(
            "c", [lost, lost, page(shingle=False, had=frozenset({"sale"}))]
        ).is_broken

    def test_a_fall_of_coverage_confirms_it_too(self) -> None:
        pages = [page(shingle=False)] * 4

        assert judge_cluster("c", pages, coverage=(1.0, 0.5)).is_broken
        assert not judge_cluster("c", pages, coverage=(1.0, 0.95)).is_broken

    def test_pages_that_cannot_be_reached_never_break_a_cluster(self) -> None:
        away = page(shingle=None, field=None, outcome="unreachable")
        verdict = judge_cluster("c", [away] * 9)

        assert not verdict.is_broken
        assert "nothing is known" in verdict.reason
        assert judge_cluster("c", [away] * 9 + [page(field=False)]).is_broken

    def test_a_value_that_stands_elsewhere_on_most_pages_is_a_warning(self) -> None:
        swapped = page(displaced=frozenset({"price"}), had=frozenset({"price"}))

        assert judge_cluster("c", [swapped] * 3).warnings
        assert not judge_cluster("c", [swapped, *[page(had=frozenset({"price"}))] * 3]).warnings


class TestContentDrift:
    def test_what_the_rule_never_found_on_a_page_is_not_lost(self) -> None:
        assert [] == kinds(record(name="Rope"), record(name="Rope"))

    def test_an_optional_value_that_may_change_may_go(self) -> None:
        assert [] == kinds(record(name="Rope", sale="€1"), record(name="Rope"))
        assert {"sale"} == vanished_attributes(record(sale="€1"), record(), PRODUCT)

    def test_records_come_and_go_on_a_list(self) -> None:
        was = [line_of({"name": n, "price": "€1"}, index=i, key=n) for i, n in enumerate("abc")]
        now = [line_of({"name": n, "price": "€2"}, index=i, key=n) for i, n in enumerate("cde")]

        assert [] == kinds(was, now)
        assert ("name", "null_extraction") in kinds(was, [])

    def test_a_price_swapped_for_another_on_the_page_is_displaced(self) -> None:
        def found(now: str, text: str) -> frozenset[str]:
            return displaced_attributes(record(price="€159"), record(price=now), [PRICE], text)

        assert {"price"} == found("€194", "RRP €194 now €159 only")
        assert set() == found("€149", "now €149 only")


class TestShingles:
    def test_a_page_that_the_signature_never_covered_is_compared_with_itself(self) -> None:
        other = 0xFFFFFFFFFFFF0708

        assert shingle_test(other ^ 0xFF, SIGNATURE, other)
        assert shingle_test(other ^ 0xFFFFFF, SIGNATURE, other) is False

    def test_nothing_to_compare_with_is_no_test(self) -> None:
        assert shingle_test(VECTOR, "") is None

    def test_a_page_without_tags_fails(self) -> None:
        assert shingle_vector(b"") is None
        assert shingle_test(None, SIGNATURE) is False


def test_the_paths_of_golden_values_are_looked_for() -> None:
    paths = frozenset({"/html/body/p", "/html/body/div/h1"})

    assert structure_test(["/html/body/p[3]/text()[1]", "/html/body/div[2]/h1[1]"], paths)
    assert structure_test(["/html/body/table[1]"], paths) is False
    assert structure_test([], paths) is None


@pytest.mark.parametrize("value", ["x" * 900, ["x" * 900]])
def test_long_values_are_cut_where_they_are_told(value: Any) -> None:
    (failed,) = field_test(record(name=value), record(), [NAME])

    assert 500 == len(
        failed.as_json()["was"] if isinstance(value, str) else failed.as_json()["was"][0]
    )
