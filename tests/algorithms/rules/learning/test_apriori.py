import itertools
import random

from lxml import html

from rules.algorithms.learning.apriori import LearntXPath, learn_xpath
from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.node_index import NodeIndex, number_nodes
from rules.algorithms.learning.search import SearchGoal
from rules.algorithms.rule.feature import Feature

A, B, C = Feature("class", 1, ("a",)), Feature("class", 1, ("b",)), Feature("tag", 2, ("td",))
FAR, NEAR = Feature("id", 5, ("far",)), Feature("id", 1, ("near",))


def columns_of(bits_by_feature: dict[Feature, int], n: int = 16) -> Columns:
    index: NodeIndex = number_nodes([html.document_fromstring("<p>x</p>")])
    columns = Columns(index, dict(bits_by_feature))
    columns.bits_by_target["element"] = (1 << n) - 1
    return columns


def ask(
    bits: dict[Feature, int],
    *,
    positives: int = 0b1,
    negatives: int = 0b1110,
    unannotated: tuple[int, ...] = (),
    is_multi: bool = False,
) -> list[LearntXPath]:
    goal = SearchGoal("element", positives, negatives, unannotated, is_multi)
    return learn_xpath(columns_of(bits), goal, bits)


class TestPaper:
    """Section III-C.2: the four ordered properties of the XPath."""

    def test_recall_1_comes_first(self) -> None:
        assert [] == ask({A: 0b1110})

    def test_then_precision(self) -> None:
        assert (NEAR,) == ask({FAR: 0b0111, NEAR: 0b0011})[0].features
        assert (FAR,) == ask({FAR: 0b0001, NEAR: 0b0011})[0].features

    def test_then_distance(self) -> None:
        assert (NEAR,) == ask({FAR: 0b1_0001, NEAR: 0b0001}, unannotated=(0b11_0000,))[0].features

    def test_then_support(self) -> None:
        assert (B,) == ask({A: 0b0001, B: 0b1_0001}, unannotated=(0b11_0000,))[0].features

    def test_features_are_combined_until_nothing_wrong_is_left(self) -> None:
        best = ask({A: 0b0011, B: 0b0101, C: 0b1001})[0]
        assert (True, 2) == (best.is_precise, len(best.features))

    def test_several_nodes_of_an_unannotated_page_are_imprecise(self) -> None:
        bits, page = {A: 0b11_0001}, (0b11_0000,)
        assert not ask(bits, unannotated=page)[0].is_precise
        assert ask(bits, unannotated=page, is_multi=True)[0].is_precise

    def test_without_a_precise_one_the_most_precise_is_told(self) -> None:
        result = ask({A: 0b0111, B: 0b0011})
        assert [(False, 0.5)] == [(each.is_precise, each.precision) for each in result]


def brute_force(
    bits: dict[Feature, int], positives: int, negatives: int, pages: tuple[int, ...]
) -> tuple[float, int, float]:
    """Return the order of the best precise conjunction, of any size."""
    orders = []
    for size in range(1, len(bits) + 1):
        for combination in itertools.combinations(bits, size):
            selected = -1
            for feature in combination:
                selected &= bits[feature]
            on_pages = [(selected & page).bit_count() for page in pages]
            if (
                selected & positives == positives
                and not selected & negatives
                and max(on_pages) <= 1
            ):
                distance = max(feature.level for feature in combination)
                orders.append((-1.0, distance, -sum(map(bool, on_pages)) / len(pages)))
    return min(orders, default=(0.0, 0, 0.0))


def test_it_finds_what_trying_all_sets_finds() -> None:
    chance = random.Random(4)
    n_precise = 0
    for _ in range(150):
        features = [Feature("class", chance.randrange(4), (str(number),)) for number in range(7)]
        bits = {feature: chance.getrandbits(16) | 0b11 for feature in features}
        pages = (0b1111 << 8, 0b1111 << 12)
        best = brute_force(bits, 0b11, 0b1111_1100, pages)
        result = ask(bits, positives=0b11, negatives=0b1111_1100, unannotated=pages)
        if best[0]:
            n_precise += 1
            assert best == result[0].order
        else:
            assert not result[0].is_precise
    assert n_precise > 20
