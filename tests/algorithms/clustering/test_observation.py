"""What is kept of a page, whichever algorithm asks."""

import pytest

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.grouping import RawPage
from clustering.algorithms.observation import observe_page, observe_pages
from clustering.algorithms.published.shingles import shingle_vector

BODY = b"<html><head><title> A  rope </title></head><body><h1>Rope <b>9 mm</b></h1><p>Price</p></body></html>"
ROPE = RawPage("https://shop.example/p/1", BODY)
EMPTY = RawPage("https://shop.example/p/2", b"")


@pytest.mark.parametrize("algorithm", sorted(CLUSTERERS))
def test_every_algorithm_gets_what_all_need(algorithm: str) -> None:
    rope, empty = observe_pages(algorithm, [ROPE, EMPTY])

    assert ("A rope", "Rope 9 mm") == (rope.title, rope.heading)
    assert shingle_vector(BODY) == rope.vector
    assert 7 == len(rope.paths)
    assert ("", "", None, 0) == (empty.title, empty.heading, empty.vector, len(empty.paths))


def test_an_algorithm_that_reads_no_pages_observes_nothing_of_its_own() -> None:
    assert observe_page("uxclust", ROPE).observation is None
    assert observe_page("auto", ROPE).observation is not None


def test_labels_come_with_the_default() -> None:
    assert {"A rope", "Rope", "9 mm", "Price"} == observe_page("auto", ROPE).labels
