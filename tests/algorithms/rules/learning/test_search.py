import itertools
import random
from typing import Any

from lxml import html

from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.node_index import number_nodes
from rules.algorithms.learning.same_value import ValueGroup
from rules.algorithms.learning.search import (
    Conjunction,
    SearchGoal,
    find_singles,
    has_support,
    measure,
    numbers_of_conjunction,
    search,
)
from rules.algorithms.rule.feature import Feature

LABEL, CLASS, TAG = (
    Feature("label", 0, ("By",)),
    Feature("class", 1, ("x",)),
    Feature("tag", 1, ("td",)),
)
PAGES = (0b11 << 4, 0b11 << 6, 0b11 << 8, 0b11 << 10, 0b11 << 12)
ON_ALL = 0b01_0101_0101_0000


def columns_of(bits: dict[Feature, int]) -> Columns:
    columns = Columns(number_nodes([html.document_fromstring("<p>x</p>")]), dict(bits))
    columns.bits_by_target["element"] = (1 << 16) - 1
    return columns


def goal(**changes: Any) -> SearchGoal:
    body: dict[str, Any] = {
        "target": "element",
        "positives": 0b1,
        "groups": (ValueGroup(page=0, marked=0b1, nodes=0b1),),
        "negatives": 0b1110,
        "unannotated": PAGES,
    }
    return SearchGoal(**body | changes)


def best(bits: dict[Feature, int], **changes: Any) -> tuple[Feature, ...]:
    result = search(columns_of(bits), goal(**changes), bits)
    return result[0].features if result else ()


def test_a_cheap_feature_that_few_pages_bear_out_loses_against_a_dear_one_that_all_do() -> None:
    assert (CLASS,) == best({LABEL: 0b1_0001, CLASS: ON_ALL | 1})


def test_equal_support_leaves_the_price() -> None:
    assert (LABEL,) == best({LABEL: ON_ALL | 1, CLASS: (ON_ALL << 1) | 1})


def test_several_nodes_on_a_page_count_less_than_one() -> None:
    assert (CLASS,) == best({TAG: 0b11_1111_1111_0001, CLASS: ON_ALL | 1})


def test_in_a_list_several_nodes_are_as_good() -> None:
    assert (TAG,) == best({TAG: 0b11_1111_1111_0001, CLASS: ON_ALL | 1}, is_multi=True)


def test_two_imprecise_features_make_a_precise_pair() -> None:
    assert {CLASS, TAG} == set(best({CLASS: ON_ALL | 0b0011, TAG: ON_ALL | 0b0101}))


def test_three_features_are_found_where_no_pair_will_do() -> None:
    bits = {CLASS: ON_ALL | 0b0111, TAG: ON_ALL | 0b1011, Feature("id", 1, ("i",)): ON_ALL | 0b1101}
    assert set(bits) == set(best(bits))


def test_nothing_precise_is_no_candidate() -> None:
    assert () == best({CLASS: 0b0011})


def test_an_anchor_that_no_other_page_shows_is_left_out() -> None:
    bits = {LABEL: 0b1}
    search_goal = goal()
    assert not has_support(columns_of(bits), search_goal, LABEL, 0b1)
    assert [] == find_singles(columns_of(bits), search_goal, bits)
    assert has_support(columns_of(bits), goal(unannotated=()), LABEL, 0b1)


def test_a_disjunction_needs_a_witness_for_each_value() -> None:
    either, first, other = (Feature("class", 1, values) for values in (("x", "y"), ("x",), ("y",)))
    columns = columns_of({either: ON_ALL | 1, first: ON_ALL, other: 1})
    assert not has_support(columns, goal(), either, ON_ALL | 1)
    columns.bits_by_feature[other] = 0b1_0001
    assert has_support(columns, goal(), either, ON_ALL | 1)


def test_nodes_of_other_attributes_and_of_other_tags_count_against_a_candidate() -> None:
    plain = measure(Conjunction((CLASS,), ON_ALL | 1, 1.0), goal()).rank
    assert plain < measure(Conjunction((CLASS,), ON_ALL | 1, 1.0), goal(claimed=ON_ALL)).rank
    assert plain < measure(Conjunction((CLASS,), ON_ALL | 1, 1.0), goal(same_tags=0b1)).rank


def test_a_label_that_names_the_attribute_is_measured_where_it_stands() -> None:
    fax = Feature("label", 0, ("Fax",))
    bits = {fax: 0b1_0001, CLASS: ON_ALL | 1}
    assert (CLASS,) == best(bits, attribute="other")
    assert (fax,) == best(bits, attribute="faxNumber")


def test_a_value_is_found_at_any_node_that_shows_it() -> None:
    elsewhere = {"groups": (ValueGroup(page=0, marked=0b1, nodes=0b101),), "negatives": 0b1010}
    assert (CLASS,) == best({CLASS: ON_ALL | 0b100}, **elsewhere)
    assert (TAG,) == best({CLASS: ON_ALL | 0b100, TAG: ON_ALL << 1 | 0b101}, **elsewhere)
    assert () == best({CLASS: ON_ALL | 0b100})


def test_features_that_find_a_value_at_different_nodes_find_none_together() -> None:
    elsewhere = {"groups": (ValueGroup(page=0, marked=0b1, nodes=0b101),), "negatives": 0b1010}
    assert () == best({CLASS: 0b0011, TAG: 0b1100}, **elsewhere)


def test_the_numbers_are_told() -> None:
    search_goal = goal()
    numbers = numbers_of_conjunction(
        measure(Conjunction((CLASS,), 0b1_0011, 1.5), search_goal), search_goal
    )
    assert (0.5, 1, 0.2, 0.2, 1.5, 2) == (
        numbers.precision, numbers.distance, numbers.support, numbers.unique, numbers.price,
        numbers.n_selected,
    )  # fmt: skip


def test_the_best_pair_is_the_best_of_all_pairs() -> None:
    chance = random.Random(1)
    for _ in range(60):
        features = [Feature("class", chance.randrange(5), (f"c{number}",)) for number in range(9)]
        bits = {feature: chance.getrandbits(14) | 0b1 for feature in features}
        search_goal = goal()
        singles = find_singles(columns_of(bits), search_goal, bits)
        candidates = list(singles)
        for left, right in itertools.combinations(singles, 2):
            both = left.bits & right.bits
            if both not in {left.bits, right.bits}:
                features_of_both = left.features + right.features
                candidates.append(Conjunction(features_of_both, both, left.price + right.price))
        ranks = [
            measure(candidate, search_goal).rank
            for candidate in candidates
            if not candidate.bits & search_goal.negatives
        ]
        best_first = search(columns_of(bits), search_goal, bits)
        if ranks:
            assert round(min(ranks), 6) >= round(best_first[0].rank, 6)
