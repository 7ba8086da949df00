"""Sampling: the formulas of section III-B, Algorithm 2, and its bound."""

from __future__ import annotations

import time
from itertools import combinations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from lxml import html
from scipy import sparse

from annotation.algorithms.sampling import (
    ChosenSample,
    Incidence,
    SeenPage,
    UnknownScheme,
    draw,
    greedy,
    measure,
    observe,
    random_sample,
    weighted_greedy,
)


def page(*rows: str) -> SeenPage:
    return observe(html.document_fromstring(f"<body>{''.join(rows)}</body>"))


def incidence(sets: list[set[int]], weights: list[float]) -> Incidence:
    matrix = np.array([[float(path in values) for path in range(len(weights))] for values in sets])
    return Incidence(sparse.csr_matrix(matrix.reshape(len(sets), len(weights))), np.array(weights))


def weight_by_share(pages: list[SeenPage]) -> list[float]:
    """Return the weights of all XPaths that weigh something, the heaviest first."""
    return sorted((round(float(w), 6) for w in measure(pages).weights if w > 1e-9), reverse=True)


class TestPaper:
    def test_repeated_content_on_all_pages_is_noise(self) -> None:
        pages = [page("<footer>Imprint</footer>") for _ in range(4)]

        assert weight_by_share(pages) == []

    def test_distinct_content_on_all_pages_is_informative(self) -> None:
        pages = [page(f"<h1>Name {n}</h1>") for n in range(4)]

        # F = 4; four contents on one page each: I = 1 - 4 / (4 * 4).
        assert [4 * (1 - 4 / 16)] == weight_by_share(pages)

    def test_informativeness_is_that_of_the_formula(self) -> None:
        pages = [page("<b>red</b>"), page("<b>red</b>"), page("<b>blue</b>"), page()]

        # F = 3; T = {red, blue}, the sum of F(X, t) is 3, M is 4: I = 1 - 3 / 8.
        assert [pytest.approx(3 * (1 - 3 / 8))] == weight_by_share(pages)

    def test_several_nodes_of_one_xpath_count_once_a_page(self) -> None:
        pages = [page("<b>red</b><b>red</b><b>blue</b>"), page("<b>red</b>")]

        # F = 2; F(red) = 2, F(blue) = 1: I = 1 - 3 / (2 * 2).
        assert [pytest.approx(2 * (1 - 3 / 4))] == weight_by_share(pages)

    def test_positions_do_not_make_another_xpath(self) -> None:
        assert (measure([page("<i>a</i><i>b</i>")]).matrix.shape) == measure(
            [page("<i>a</i>")]
        ).matrix.shape

    def test_takes_the_heaviest_uncovered_page_each_time(self) -> None:
        pages = incidence([{0, 1}, {1, 2, 3}, {0}], [5.0, 4.0, 1.0, 1.0])

        assert [ChosenSample(0, 9.0), ChosenSample(1, 2.0)] == weighted_greedy(pages)

    def test_stops_when_all_xpaths_are_covered(self) -> None:
        assert [ChosenSample(1, 3.0)] == weighted_greedy(incidence([{0}, {0, 1}, {1}], [1.0, 2.0]))

    def test_returns_no_more_than_k_pages(self) -> None:
        assert 3 == len(weighted_greedy(incidence([{n} for n in range(9)], [1.0] * 9), 3))

    def test_greedy_counts_xpaths_only(self) -> None:
        pages = incidence([{0}, {1, 2}], [100.0, 1.0, 1.0])

        assert [0, 1] == [p for p, _ in weighted_greedy(pages)]
        assert [1, 0] == [p for p, _ in greedy(pages)]

    def test_random_keeps_only_pages_with_an_unseen_xpath(self) -> None:
        pages = incidence([{0}, {0}, {1}, {0, 1}], [1.0, 1.0])
        for seed in range(20):
            sample = random_sample(pages, seed=seed)
            assert all(gain >= 1 for _, gain in sample)
            assert 2.0 == sum(gain for _, gain in sample)

    @given(
        st.lists(st.sets(st.integers(0, 7)), min_size=1, max_size=7),
        st.lists(st.floats(0, 100), min_size=8, max_size=8),
        st.integers(1, 4),
    )
    def test_covers_at_least_the_promised_share_of_the_best_sample(
        self, sets: list[set[int]], weights: list[float], size: int
    ) -> None:
        def covered(chosen: tuple[int, ...]) -> float:
            return sum(weights[path] for path in set().union(*(sets[p] for p in chosen)))

        best = max(covered(some) for some in combinations(range(len(sets)), min(size, len(sets))))
        indices = weighted_greedy(incidence(sets, weights), size)

        assert covered(tuple(p for p, _ in indices)) >= (1 - 1 / np.e) * best - 1e-6
        assert covered(tuple(p for p, _ in indices)) == pytest.approx(
            sum(gain for _, gain in indices)
        )


class TestDrawing:
    def test_fills_the_sample_with_pages_that_cover_nothing_new(self) -> None:
        drawn = draw([page("<h1>a</h1>"), page("<h1>b</h1>"), page("<h1>c</h1>")], size=3)

        assert [0, 1, 2] == sorted(p for p, _ in drawn)
        assert [True, False, False] == [gain > 0 for _, gain in drawn]

    def test_returns_all_pages_of_a_small_cluster(self) -> None:
        assert 2 == len(draw([page(), page()], size=20))
        assert [] == draw([], size=20)

    def test_takes_pages_without_a_tree_last(self) -> None:
        drawn = draw([observe(None), page("<h1>a</h1>"), page("<h1>b</h1>")])

        assert 3 == len(drawn)
        assert 0 == drawn[-1].page

    def test_only_pages_without_a_tree_are_drawn_too(self) -> None:
        assert [0, 1] == [p for p, _ in draw([observe(None), observe(None)])]

    @pytest.mark.parametrize("scheme", ["weighted", "greedy", "random"])
    def test_the_same_pages_give_the_same_sample(self, scheme: str) -> None:
        pages = [
            page(f"<h1>{n}</h1>", "<p>more</p>" * (n % 3), f"<u>{n}</u>" * (n % 2))
            for n in range(30)
        ]

        assert draw(pages, scheme=scheme) == draw(pages, scheme=scheme)

    def test_refuses_an_unknown_scheme(self) -> None:
        with pytest.raises(UnknownScheme, match="use one of weighted, greedy, random"):
            draw([], scheme="best")

    def test_scripts_are_no_content(self) -> None:
        pages = [page(f"<script>{n}</script><template><b>{n}</b></template>") for n in range(3)]

        assert weight_by_share(pages) == []


class TestPreferUnseen:
    PLAIN = [
        page(f"<dl><dt>Name</dt><dd>thing {n}</dd><dt>Size</dt><dd>{n} m</dd></dl>")
        for n in range(20)
    ]
    RARE = [
        page(f"<dl><dt>Name</dt><dd>thing {n}</dd><dt>Colour</dt><dd>{n} red</dd></dl>")
        for n in range(4)
    ]

    def test_a_page_with_an_unseen_label_comes_early(self) -> None:
        pages = [*self.PLAIN, *self.RARE]
        drawn = [p for p, _ in draw(pages, size=5, prefer_unseen=True)]

        assert {True, False} == {p >= len(self.PLAIN) for p in drawn[:2]}

    def test_without_it_the_labels_are_of_no_account(self) -> None:
        assert all(p < len(self.PLAIN) for p, _ in draw([*self.PLAIN, *self.RARE], size=2))

    def test_a_page_with_an_unseen_layout_comes_early(self) -> None:
        plain = [page(f"<div class='a'>{n} x</div>") for n in range(20)]
        other = [page(f"<div class='b'>{n} y</div>") for n in range(4)]
        drawn = [p for p, _ in draw([*plain, *other], size=5, prefer_unseen=True)]

        assert {True, False} == {p >= len(plain) for p in drawn[:2]}


@pytest.mark.bar
def test_five_thousand_pages_take_less_than_a_second() -> None:
    numbers = np.random.default_rng(3)
    pages = []
    for _ in range(5_000):
        paths = numbers.choice(600, 150, replace=False).astype(np.uint64)
        owners = numbers.integers(0, 150, 400).astype(np.uint32)
        pages.append(
            SeenPage(paths, numbers.integers(0, 2**60, 400).astype(np.uint64), owners, paths[:0])
        )
    times = []
    for _ in range(2):
        began = time.process_time()
        drawn = draw(pages)
        times.append(time.process_time() - began)
        assert 20 == len(drawn)

    assert min(times) < 1


def test_a_hostile_page_is_bounded() -> None:
    deep = html.document_fromstring("<body>" + "<div class='a b'>x" * 200 + "</body>")
    wide = html.document_fromstring(
        "<body>" + "".join(f"<p>{n}</p>" for n in range(30_000)) + "</body>"
    )

    assert 202 == len(observe(deep).paths)
    assert 20_000 == len(observe(wide).contents)


def test_the_first_sample_shows_what_most_samples_show() -> None:
    """Many rare blocks weigh more in the cover than one field that nearly all pages have."""
    maker = "<dl><dt>Maker</dt><dd>m{0}</dd></dl>"
    plain = [page(f"<h1>n{n}</h1>", maker.format(n), f"<p>t{n}</p>") for n in range(9)]
    tags = ("b", "i", "u", "s", "em", "q", "sub")
    rare = [f"<{tag}><{two}>x</{two}></{tag}>" for tag in tags for two in tags if tag != two]
    pages = [page("<h1>n</h1>", *rare), *plain]

    assert 0 == draw(pages)[0].page
    assert 0 != draw(pages, prefer_unseen=True)[0].page
    assert list(range(10)) == sorted(drawn.page for drawn in draw(pages, prefer_unseen=True))
