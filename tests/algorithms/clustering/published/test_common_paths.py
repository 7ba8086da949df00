"""Leaf paths in common."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

from clustering.algorithms.grouping import ClusteringInputs, Grouping, RawPage, TooManyPages
from clustering.algorithms.published.common_paths import (
    CLUSTERER,
    MAX_PAGES,
    assign,
    cluster_pages,
    common_paths_distance,
    observe,
)


def page(markup: str, number: int = 0) -> RawPage:
    return RawPage(f"https://a.example/{number}", f"<html><body>{markup}</body></html>".encode())


def cluster(markups: list[str]) -> Grouping:
    pages = [page(markup, number) for number, markup in enumerate(markups)]
    return cluster_pages([p.url for p in pages], [observe(p) for p in pages], ClusteringInputs())


class TestPaper:
    def test_distance_by_hand(self) -> None:
        # {h1, p, ul/li} and {h1, p, b, i}: two in common, four in the larger.
        a, b = (
            observe(page("<h1>x</h1><p>y</p><ul><li>z</ul>")),
            observe(page("<h1>x</h1><p>y</p><b></b><i></i>")),
        )

        assert common_paths_distance(a, b) == pytest.approx(1 - 2 / 4)

    def test_a_page_is_at_no_distance_from_itself(self) -> None:
        assert common_paths_distance(observe(page("<p>a</p>")), observe(page("<p>b<p>c"))) == 0

    def test_pages_with_more_than_four_fifths_in_common_are_together(self) -> None:
        six = "<h1></h1><h2></h2><h3></h3><h4></h4><p></p><b></b>"
        grouping = cluster([six, six.replace("<b></b>", ""), "<table><tr><td>x</table>"])

        assert [group.members for group in grouping.groups] == [(0, 1), (2,)]


def test_the_order_of_pages_does_not_matter() -> None:
    markups = ["<p>a</p>", "<p>a</p><b></b>", "<i></i>", "<p>b</p>", "<i>x</i>", "<u></u>"] * 3
    chance = random.Random(5)
    order = list(range(len(markups)))
    chance.shuffle(order)
    here = cluster(markups).labels(len(markups))

    assert [here[i] for i in order] == cluster([markups[i] for i in order]).labels(len(markups))


@pytest.mark.parametrize(
    ("markups", "sizes"),
    [
        ([], []),
        (["<p>a"], [1]),
        (["<p>a"] * 50, [50]),
        ([f"<x{i}>" for i in range(2000)], [1] * 2000),
        (["<p " + "a" * 1_000_000 + ">", "<p>b"], [2]),
    ],
)
def test_hostile_sites_end_well(markups: list[str], sizes: list[int]) -> None:
    assert sizes == [len(group.members) for group in cluster(markups).groups]


def test_empty_pages_are_in_no_group() -> None:
    empty = observe(RawPage("https://a.example/", b""))

    assert cluster_pages(["https://a.example/"], [empty], ClusteringInputs()).unassigned == (0,)


def test_too_many_pages_are_refused() -> None:
    observations = [np.empty(0, dtype=np.uint64)] * (MAX_PAGES + 1)

    with pytest.raises(TooManyPages, match="smaller sample"):
        cluster_pages([""] * len(observations), observations, ClusteringInputs())


def test_a_later_page_joins_what_it_is_like() -> None:
    grouping = cluster(["<p>a</p>", "<table><tr><td>x</table>"])
    like, unlike = observe(page("<p>new</p>")), observe(page("<video></video>"))

    assert grouping.labels(2)[0] == assign(grouping.model, like, "")
    assert assign(grouping.model, unlike, "") is None


def test_an_observation_can_be_sent_to_another_process() -> None:
    paths = observe(page("<p>a"))

    assert paths.tolist() == pickle.loads(pickle.dumps(paths)).tolist()
    assert (CLUSTERER.name, CLUSTERER.max_pages) == ("common_paths", MAX_PAGES)
