"""The shingle test, the field test and the verdict on a cluster."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.published.shingles import shingle_vector
from monitoring.algorithms.lost_pages import OTHER_CONTENT
from monitoring.algorithms.site_change import (
    PageTest,
    displaced_attributes,
    field_test,
    judge_cluster,
    lost_fields,
    shingle_test,
    site_state,
    structure_test,
    vanished_attributes,
)
from monitoring.algorithms.verdicts import (
    AS_IT_WAS,
    CONTENT_CHANGED,
    PARTLY_REDESIGNED,
    REDESIGNED,
    UNDECIDED,
    UNREACHABLE,
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
    result: Literal["ok", "changed", "unreachable"] = outcome or (
        "ok" if shingle is not False and field else "changed"
    )
    return PageTest("u", result, shingle, field, **more)


def kinds(was: list[Line], now: list[Line]) -> list[tuple[str, str]]:
    return [(each.attribute, each.kind) for each in field_test(was, now, PRODUCT)]


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
            each.is_changed_for_the_paper for each in (by_shingle, by_field, by_neither)
        ]


FIELDS = frozenset({"name", "brand", "sku"})


def failing(url: str, lost: frozenset[str] = FIELDS, **more: Any) -> PageTest:
    more = {"form_likeness": 0.3, **more}
    return PageTest(url, "changed", False, False, lost=lost, had=FIELDS, **more)


def well(url: str, **more: Any) -> PageTest:
    return PageTest(url, "ok", True, True, had=FIELDS, **more)


def away(url: str, why: str = "server_error", **more: Any) -> PageTest:
    return PageTest(url, "unreachable", why=why, **more)


def pages(make: Any, n: int, first: int = 0) -> list[PageTest]:
    return [make(f"u{number}") for number in range(first, first + n)]


class TestVerdict:
    def test_a_cluster_whose_pages_nearly_all_fail_in_another_form_is_redesigned(self) -> None:
        verdict = judge_cluster("c", [*pages(failing, 9), well("w")])

        assert (REDESIGNED, True) == (verdict.state, verdict.is_broken)
        assert ("brand", "name", "sku") == verdict.lost_fields

    def test_in_the_same_form_it_is_a_part_that_was_redesigned(self) -> None:
        same_form = [failing(f"u{n}", form_likeness=0.9) for n in range(5)]

        assert PARTLY_REDESIGNED == judge_cluster("c", same_form).state

    def test_a_cluster_whose_pages_are_mostly_not_seen_is_never_broken(self) -> None:
        outage = judge_cluster("c", [*pages(failing, 4), *pages(away, 6, 4)])

        assert (UNREACHABLE, False) == (outage.state, outage.is_broken)
        assert judge_cluster("c", [*pages(failing, 6), *pages(away, 4, 6)]).is_broken

    def test_nothing_is_known_of_a_cluster_without_an_answer(self) -> None:
        assert "nothing is known" in judge_cluster("c", pages(away, 9)).reason

    def test_other_content_in_the_place_of_pages_is_undecided(self) -> None:
        lost = [away(f"u{n}", OTHER_CONTENT) for n in range(6)]

        assert UNDECIDED == judge_cluster("c", [*lost, *pages(well, 4, 6)]).state

    def test_other_content_beside_pages_that_fail_is_a_redesign(self) -> None:
        lost = [away(f"u{n}", OTHER_CONTENT, form_likeness=0.1) for n in range(6)]
        in_the_old_form = [away(f"u{n}", OTHER_CONTENT) for n in range(6)]

        assert REDESIGNED == judge_cluster("c", [*lost, *pages(failing, 4, 6)]).state
        assert UNDECIDED == judge_cluster("c", [*lost, *pages(well, 4, 6)]).state
        assert UNDECIDED == judge_cluster("c", [*in_the_old_form, *pages(failing, 4, 6)]).state

    def test_other_content_that_stays_is_a_redesign_where_its_form_is_another(self) -> None:
        urls = [f"u{n}" for n in range(10)]
        lost = [away(url, OTHER_CONTENT, form_likeness=0.1) for url in urls]
        in_the_old_form = [away(url, OTHER_CONTENT) for url in urls]
        before = frozenset(urls)

        assert UNDECIDED == judge_cluster("c", lost).state
        assert UNDECIDED == judge_cluster("c", lost, failed_before=frozenset(urls[:4])).state
        assert REDESIGNED == judge_cluster("c", lost, failed_before=before).state
        assert UNDECIDED == judge_cluster("c", in_the_old_form, failed_before=before).state

    def test_who_fails_by_chance_is_undecided_until_the_same_fail_again(self) -> None:
        tests = [*pages(failing, 4), *pages(well, 8, 4)]
        failed = frozenset(test.url for test in tests[:4])

        first = judge_cluster("c", tests)
        again = judge_cluster("c", tests, failed_before=failed)
        others = judge_cluster("c", tests, failed_before=frozenset({"u7", "u8"}))

        assert (UNDECIDED, True) == (first.state, first.is_mixed)
        assert PARTLY_REDESIGNED == again.state
        assert UNDECIDED == others.state

    def test_a_layout_that_tells_who_fails_was_redesigned(self) -> None:
        tests = [*pages(failing, 4), *pages(well, 8, 4)]

        verdict = judge_cluster("c", tests, divide=lambda failed, _: [f"layout of {len(failed)}"])

        assert (PARTLY_REDESIGNED, ("layout of 4",)) == (verdict.state, verdict.layouts)

    def test_a_field_lost_on_most_of_its_pages_is_broken_where_the_rest_is_well(self) -> None:
        one_field = [failing(f"u{n}", frozenset({"sku"}), form_likeness=1.0) for n in range(7)]
        verdict = judge_cluster("c", [*one_field, *pages(well, 3, 7)])

        assert (PARTLY_REDESIGNED, ("sku",)) == (verdict.state, verdict.lost_fields)
        assert not judge_cluster("c", [*one_field[:5], *pages(well, 5, 7)]).is_broken

    def test_fields_lost_everywhere_tell_no_pages_from_others(self) -> None:
        few = frozenset({"sku", "name"})
        tests = [failing(f"u{n}", few, form_likeness=1.0) for n in range(6)]
        rich = [
            PageTest(f"r{n}", "changed", True, False, lost=few, had=FIELDS | {"a", "b", "c"})
            for n in range(6)
        ]

        assert few == set(judge_cluster("c", [*tests, *rich]).lost_fields)

    def test_cosmetic_edits_break_nothing_and_are_told(self) -> None:
        verdict = judge_cluster("c", [page(shingle=False)] * 5)

        assert not verdict.is_broken
        assert "the values are the same" in verdict.reason

    def test_an_attribute_that_comes_out_nowhere_confirms_a_failed_shingle_test(self) -> None:
        lost = page(shingle=False, vanished=frozenset({"sale"}), had=frozenset({"sale"}))

        assert judge_cluster("c", [lost] * 3).is_broken
        assert not judge_cluster(
            "c", [lost, lost, page(shingle=False, had=frozenset({"sale"}))]
        ).is_broken

    def test_a_fall_of_coverage_confirms_it_too(self) -> None:
        tests = [page(shingle=False)] * 4

        assert judge_cluster("c", tests, coverage=(1.0, 0.5)).is_broken
        assert not judge_cluster("c", tests, coverage=(1.0, 0.95)).is_broken

    def test_a_value_that_stands_elsewhere_on_most_pages_is_a_warning(self) -> None:
        swapped = page(displaced=frozenset({"price"}), had=frozenset({"price"}))

        assert judge_cluster("c", [swapped] * 3).warnings
        assert not judge_cluster("c", [swapped, *[page(had=frozenset({"price"}))] * 3]).warnings

    def test_other_values_are_changed_content(self) -> None:
        assert AS_IT_WAS == judge_cluster("c", pages(well, 4)).state
        assert CONTENT_CHANGED == judge_cluster("c", [well("u", has_other_values=True)]).state


class TestStateOfSite:
    def test_one_redesigned_cluster_of_several_is_a_part(self) -> None:
        broken, calm = (
            judge_cluster("b", pages(failing, 5)),
            judge_cluster("c", pages(well, 5)),
        )
        in_other_form = judge_cluster("d", [well(f"u{n}", form_likeness=0.2) for n in range(5)])

        assert PARTLY_REDESIGNED == site_state([broken, calm])
        assert REDESIGNED == site_state([broken, in_other_form])

    def test_clusters_that_are_not_seen_decide_where_they_hold_most_pages(self) -> None:
        silent, calm = judge_cluster("s", pages(away, 3)), judge_cluster("c", pages(well, 9))

        assert AS_IT_WAS == site_state([silent, calm])
        assert UNREACHABLE == site_state([silent, judge_cluster("c", pages(well, 3))])

    def test_pages_that_fail_by_chance_leave_the_site_undecided(self) -> None:
        mixed = judge_cluster("m", [*pages(failing, 4), *pages(well, 8, 4)])

        assert UNDECIDED == site_state([mixed, judge_cluster("c", pages(well, 90))])


class TestLostFields:
    def lost(self, now: dict[str, str], *, shown: bool, has_other_form: bool = False) -> set[str]:
        golden = record(name="Rope", price="€1", weight="3 kg", sale="€2")
        new = record(**now)
        return set(
            lost_fields(
                field_test(golden, new, PRODUCT),
                vanished_attributes(golden, new, PRODUCT),
                PRODUCT,
                is_shown=lambda _: shown,
                has_other_form=has_other_form,
            )
        )

    def test_a_value_that_still_stands_on_the_page_is_lost(self) -> None:
        assert {"weight"} == self.lost({"name": "Rope", "price": "€1", "sale": "€2"}, shown=True)

    def test_a_value_that_the_page_no_longer_shows_is_content(self) -> None:
        now = {"name": "Rope", "price": "€9", "weight": "4 kg"}

        assert set() == self.lost(now, shown=False)
        assert {"sale"} == self.lost(now, shown=False, has_other_form=True)

    def test_a_mandatory_value_and_one_of_another_kind_are_lost_in_any_case(self) -> None:
        assert {"price"} == self.lost({"name": "Rope", "weight": "3 kg"}, shown=False)
        assert {"price"} == self.lost(
            {"name": "Rope", "weight": "3 kg", "price": "Lincoln High"}, shown=False
        )


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
