"""Reuse of rules by clusters that are new only by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.algorithms.attribute_types import AttributeType
from monitoring.algorithms.rule_reuse import (
    FieldVerdict,
    NewCluster,
    OldCluster,
    Versions,
    field_test_of_rule,
    find_reuse,
    match_clusters,
    share_of,
    shared_urls,
)
from rules.algorithms.running.record_lines import Line
from tests.algorithms.rules.running.line_cast import line_of

NAME = AttributeType("name", is_constant=True, is_mandatory=True)
WEIGHT = AttributeType("weight")
VECTOR = 0x0102030405060708
SIGNATURE, OTHER = "0102030405060708", "ff02030405060708"
WIDE = "**02030405060708"


def old(name: str, urls: str, signature: str = SIGNATURE, importance: float = 1.0) -> OldCluster:
    return OldCluster(name, frozenset(urls), signature, importance)


def new(urls: str, signature: str = SIGNATURE, vector: int = VECTOR) -> NewCluster:
    return NewCluster("new", dict.fromkeys(urls, vector), signature)


def versions(url: str, was: str | None, now: str | None, shown: str = "", **more: Any) -> Versions:
    def lines(value: str | None) -> list[Line]:
        return [line_of({"name": value} | more if value else {})]

    return Versions(url, lines(was), lines(now), shown)


def reuse(cluster: NewCluster, clusters: Sequence[OldCluster], passing: str) -> str | None:
    """Return whose rule is reused where only some rules pass the field test."""

    def versions_of(
        one: OldCluster, _shared: frozenset[str]
    ) -> tuple[list[Versions], list[AttributeType]]:
        now = "Rope" if one.name in passing else "Home"
        return [versions("a", "Rope", now, "Rope")], [NAME]

    return find_reuse(cluster, clusters, versions_of).from_cluster


class TestPaper:
    def test_candidates_are_the_old_clusters_that_share_addresses(self) -> None:
        assert reuse(new("ab"), [old("p", "ab"), old("q", "xy")], "pq") == "p"
        assert reuse(new("ab"), [old("q", "xy")], "q") is None

    def test_u_is_what_the_new_cluster_shares_with_any_old_one(self) -> None:
        assert frozenset("abc") == shared_urls(new("abcd"), [old("p", "ab"), old("q", "cx")])
        assert 0.5 == share_of(old("p", "ab"), new("abcd"))

    def test_the_rule_is_tested_on_all_of_u(self) -> None:
        tested = []

        def versions_of(
            _cluster: OldCluster, shared: frozenset[str]
        ) -> tuple[list[Versions], list[AttributeType]]:
            tested.append(shared)
            return [versions(url, "Rope", "Rope") for url in sorted(shared)], [NAME]

        without_rule = OldCluster("q", frozenset("cx"), OTHER, 1.0, has_rule=False)
        result = find_reuse(new("abcd"), [old("p", "ab"), without_rule], versions_of)

        assert ("p", [frozenset("abc")]) == (result.from_cluster, tested)

    def test_cluster_match_is_an_equal_signature(self) -> None:
        variant, result = match_clusters(new("a"), [old("p", "a", OTHER), old("q", "a")])

        assert ("cluster_match", ["q"]) == (variant, [each.name for each in result])

    def test_page_match_is_a_signature_that_covers_all_pages(self) -> None:
        variant, result = match_clusters(new("a"), [old("p", "a", OTHER), old("q", "a", WIDE)])

        assert ("page_match", ["q"]) == (variant, [each.name for each in result])

    def test_the_stricter_variant_decides(self) -> None:
        assert (
            "cluster_match"
            == match_clusters(new("a"), [old("p", "a", WIDE, 9.0), old("q", "a")])[0]
        )

    def test_ties_go_to_the_most_important_cluster(self) -> None:
        clusters = [old("p", "ab", importance=1.0), old("q", "a", importance=5.0)]

        assert "q" == reuse(new("ab"), clusters, "pq")

    def test_the_matching_cluster_is_chosen_before_its_rule_is_tested(self) -> None:
        assert reuse(new("ab"), [old("p", "ab", importance=5.0), old("q", "ab")], "q") is None

    def test_constant_values_must_match_and_mandatory_ones_be_there(self) -> None:
        def verdict(now: str | None) -> FieldVerdict:
            return field_test_of_rule([versions("a", "Rope", now, "a Rope")], [NAME])

        assert [True, False, False] == [verdict(now).has_passed for now in ("rope", "Home", None)]
        assert "name (null_extraction) on a" in verdict(None).why


class TestBeyondThePaper:
    def test_without_a_match_of_shingles_the_field_test_decides_alone(self) -> None:
        assert "p" == reuse(new("ab", OTHER, VECTOR ^ 0xFF), [old("p", "ab")], "p")
        assert reuse(new("ab", OTHER, VECTOR ^ 0xFF), [old("p", "ab")], "") is None

    def test_a_rule_of_few_of_the_known_pages_is_not_reused(self) -> None:
        def from_cluster(urls: str) -> str | None:
            others = OldCluster("q", frozenset("bcdefghij"), OTHER, 1.0, has_rule=False)
            return reuse(new("abcdefghij"), [old("p", urls), others], "p")

        assert ["p", None] == [from_cluster("ab"), from_cluster("a")]

    def test_then_optional_attributes_must_come_out_as_often_as_before(self) -> None:
        pages = [
            Versions(url, [line_of({"name": url, "weight": "1"})], [line_of({"name": url})])
            for url in "abc"
        ]

        assert field_test_of_rule(pages, [NAME, WEIGHT]).has_passed
        assert not field_test_of_rule(pages, [NAME, WEIGHT], is_strict=True).has_passed

    def test_a_page_that_shows_its_value_nowhere_is_no_evidence_while_such_pages_are_few(
        self,
    ) -> None:
        pages = [versions(f"p{n}", f"Rope {n}", f"Rope {n}", f"Rope {n}") for n in range(9)]
        renamed = versions("x", "Rope X", "Cord X", "Cord X")

        assert field_test_of_rule([*pages, renamed], [NAME]).has_passed
        assert not field_test_of_rule([*pages[:3], renamed], [NAME]).has_passed

    def test_a_rule_that_passes_on_no_page_is_not_reused(self) -> None:
        assert not field_test_of_rule([], [NAME]).has_passed

    def test_the_decision_is_explained(self) -> None:
        result = find_reuse(
            new("ab"), [old("p", "ab")], lambda *_: ([versions("a", "x", "x")], [NAME])
        ).why

        assert ["p (2 of 2)", "Cluster match", "passed on 1 of 1"] == [
            part
            for part, sentence in zip(
                ("p (2 of 2)", "Cluster match", "passed on 1 of 1"), result, strict=True
            )
            if part in sentence
        ]
