"""Expected precision and recall, Borda's method, dependence and Greedy MWIS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.algorithms.published.attributed_paths import hash_step, hash_terms, observe_tree
from clustering.algorithms.published.key_paths import (
    QueryCount,
    Scores,
    borda,
    expected_scores,
    greedy_mwis,
    matches_of,
    number_paths,
    pick_independent,
    rank_weights,
    score_paths,
    similarity_of_content,
    similarity_of_occurrence,
)
from clustering.dom.page import parse_page

T, R = "title", "reviews"
# Four pages; the title is on three of them, and the first two are asked for.
CONTENTS = [
    {T: hash_terms("half rope"), R: hash_terms("good rope good rope")},
    {T: hash_terms("blue twin rope set")},
    {T: hash_terms("ice axe")},
    {R: hash_terms("fine")},
]
ASKED = {0: QueryCount(hash_terms("half rope rope sale")), 1: QueryCount(hash_terms("twin rope"))}


class TestPaper:
    def test_equations_1_and_2_by_hand(self) -> None:
        scores = expected_scores(CONTENTS, ASKED)

        # Title: P(x) = 3/4, asked for on 2 of 3; precision (2/2 + 2/4) / 2, recall (2/4 + 2/2) / 2.
        assert pytest.approx((3 / 4 * 2 / 3 * 3 / 4, 3 / 4 * 2 / 3 * 3 / 4)) == scores[T]
        # Reviews: P(x) = 2/4, asked for on 1 of 2; of bags: M = {rope, rope}, precision 2/4,
        # recall 2/4.
        assert pytest.approx((2 / 4 * 1 / 2 * 2 / 4, 2 / 4 * 1 / 2 * 2 / 4)) == scores[R]

    def test_a_path_of_no_queried_page_scores_nothing(self) -> None:
        assert {R: (0.0, 0.0)} == expected_scores(
            [{}, {R: hash_terms("fine")}], {0: QueryCount(hash_terms("fine"))}
        )

    def test_a_higher_exponent_favours_frequent_paths(self) -> None:
        literal, biased = (expected_scores(CONTENTS, ASKED, a) for a in (1, 2))

        assert biased[T][0] / biased[R][0] == pytest.approx(
            literal[T][0] / literal[R][0] * (3 / 4) / (2 / 4)
        )

    def test_clicks_may_weigh_the_pages(self) -> None:
        weighted = {0: QueryCount(ASKED[0].terms, 3), 1: QueryCount(ASKED[1].terms, 1)}
        precision, _ = expected_scores(CONTENTS, weighted)[T]

        assert pytest.approx(1 / 2 * (3 * 2 / 2 + 2 / 4) / 4) == precision

    def test_borda_adds_the_positions_those_of_recall_scaled(self) -> None:
        # RP: a, b, c; RR: c, b, a. Sums: a 1 + .9, b 2 + .6, c 3 + .3.
        scores = Scores(np.array([0.3, 0.2, 0.1]), np.array([0.1, 0.2, 0.3]))
        depths = np.ones(3, dtype=np.int64)

        assert [0, 1, 2] == borda(scores, depths, 0.3)

    def test_a_rank_of_precision_is_worth_more_than_three_of_recall(self) -> None:
        # The second path gains 1 in RP and loses 3 in RR, for it the sum is 1 + 1.2 against 2
        # + 0.3.
        scores = Scores(np.array([0.8, 0.9, 0.1, 0.1]), np.array([0.9, 0.1, 0.5, 0.4]))
        assert 1 == borda(scores, np.ones(4, dtype=np.int64), 0.3)[0]
        assert 0 == borda(scores, np.ones(4, dtype=np.int64), 0.4)[0]

    def test_equal_paths_go_by_their_distance_from_the_root(self) -> None:
        scores = Scores(np.array([0.5, 0.5]), np.array([0.5, 0.5]))

        assert [1, 0] == borda(scores, np.array([4, 3]))

    def test_a_path_that_matches_nothing_is_not_ranked(self) -> None:
        assert [1] == borda(Scores(np.array([0.0, 0.1]), np.array([0.0, 0.1])), np.array([1, 1]))

    def test_similarity_of_occurrence(self) -> None:
        # x1 on pages 0, 1, 2; x2 on 1, 2, 3, 4; both on two; H = 2 / 3. x3 nowhere.
        present = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 1, 0], [0, 1, 0]], dtype=bool)
        H = similarity_of_occurrence(present)

        assert pytest.approx(2 / 3) == H[0, 1] == H[1, 0]
        assert (1.0, 0.0) == (H[0, 0], H[0, 2])

    def test_similarity_of_content(self) -> None:
        # Page 1: {half, rope} and {rope}: 1 / 1. Page 2: {a, b} and {b, c}: 1 / 2. Page 3: one
        # matches nothing.
        matches = [
            [hash_terms("half rope"), hash_terms("rope")],
            [hash_terms("a b"), hash_terms("b c")],
            [hash_terms("a"), Counter[int]()],
        ]
        F = similarity_of_content(matches, 2)

        assert pytest.approx(3 / 4) == F[0, 1] == F[1, 0]

    def test_lemma_1_fails_above_one_half(self) -> None:
        # A star: the top path depends on all others. At .6 the four others weigh .7834 together, at
        # .5 less than .5.
        star = {(0, leaf) for leaf in range(1, 5)}

        assert [0] == greedy_mwis(rank_weights(5, 0.6), star)
        assert sum(rank_weights(5, 0.6)[1:]) > rank_weights(5, 0.6)[0]
        assert sum(rank_weights(5, 0.5)[1:]) < rank_weights(5, 0.5)[0]

    def test_above_one_half_several_lesser_paths_may_win(self) -> None:
        star = np.zeros((5, 5), dtype=bool)
        star[0, 1:] = star[1:, 0] = True

        assert [0] == pick_independent(star, 0.5)
        assert [1, 2, 3, 4] == pick_independent(star, 0.9)

    def test_weights_are_powers_of_the_rank(self) -> None:
        assert [0.5, 0.25, 0.125] == rank_weights(3, 0.5)


Graph = tuple[int, set[tuple[int, int]]]
GRAPHS = st.integers(0, 7).flatmap(
    lambda n: st.tuples(
        st.just(n), st.sets(st.sampled_from(list(combinations(range(n), 2)) or [(0, 0)]))
    )
)


def is_independent(nodes: Iterable[int], edges: set[tuple[int, int]]) -> bool:
    return not any((i, j) in edges or (j, i) in edges for i, j in combinations(nodes, 2))


@given(GRAPHS, st.fractions(Fraction(1, 20), Fraction(1, 2)))
def test_lemma_1_greedy_is_optimal_up_to_one_half(graph: Graph, beta: Fraction) -> None:
    n, edges = graph
    weights = [beta**rank for rank in range(1, n + 1)]
    subsets = (subset for size in range(n + 1) for subset in combinations(range(n), size))
    best = max(
        sum((weights[i] for i in subset), Fraction(0))
        for subset in subsets
        if is_independent(subset, edges)
    )

    assert best == sum(weights[i] for i in greedy_mwis(weights, edges))


@given(GRAPHS, st.sampled_from([0.1, 0.5, 0.6, 1.0]))
def test_every_path_left_out_depends_on_one_taken(graph: Graph, beta: float) -> None:
    n, edges = graph
    dependent = np.zeros((n, n), dtype=bool)
    for i, j in edges:
        if n:
            dependent[i, j] = dependent[j, i] = i != j
    S = pick_independent(dependent, beta)

    assert S == sorted(S)
    assert is_independent(S, {(i, j) for i, j in edges if i != j})
    assert all(i in S or dependent[i, S].any() for i in range(n))


WORDS = st.lists(st.sampled_from("abcd"), max_size=4).map(" ".join)
PAGES = st.lists(
    st.tuples(WORDS, WORDS, st.booleans(), st.one_of(st.none(), WORDS)), min_size=1, max_size=6
)


@given(PAGES, st.sampled_from([1.0, 2.0]))
def test_arrays_give_what_the_formulas_give(
    pages: list[tuple[str, str, bool, str | None]], a: float
) -> None:
    bodies = [
        f"<h1>{one}</h1><p>{two}</p><p>{one}</p>" + ("<b>a</b>" if has_b else "")
        for one, two, has_b, _ in pages
    ]
    observed = [observe_tree(parse_page(body.encode()).tree) for body in bodies]
    queries = {
        p: QueryCount(hash_terms(query), 1.0 + p)
        for p, (*_, query) in enumerate(pages)
        if query is not None
    }
    table = number_paths(observed)
    scores = score_paths(observed, table, queries, a=a)
    contents = [
        {x: Counter(page.content(index).tolist()) for index, x in enumerate(page.paths.tolist())}
        for page in observed
    ]

    for x, (EP, ER) in expected_scores(contents, queries, a).items():
        index = table.hashes.tolist().index(x)
        assert pytest.approx((EP, ER)) == (scores.precision[index], scores.recall[index])


def test_terms_of_templates_count_neither_as_content_nor_as_matches() -> None:
    page = observe_tree(parse_page(b"<p>rope menu rope</p>").tree)
    own_terms = {0: np.array([True, False, False])}
    scores = score_paths(
        [page], number_paths([page]), {0: QueryCount(hash_terms("rope menu"))}, own_terms
    )

    assert {(1.0, 0.5)} == set(zip(scores.precision.tolist(), scores.recall.tolist(), strict=True))


def test_matches_of_paths_that_a_page_has_or_has_not() -> None:
    page = observe_tree(parse_page(b"<p>rope rope axe</p>").tree)
    path = hash_step(hash_step(hash_step(0, "html"), "body"), "p")

    assert [hash_terms("rope"), Counter()] == matches_of(
        page, [path, 5], QueryCount(hash_terms("half rope"))
    )


def test_no_page_has_no_paths() -> None:
    table = number_paths([])

    assert (0, 0) == (len(table.hashes), len(score_paths([], table, {}).precision))
    assert (0, 0) == table.present([]).shape
