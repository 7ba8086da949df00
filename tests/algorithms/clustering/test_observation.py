"""What is kept of a page, whichever algorithm asks."""

import io
import pickle

import pytest

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.grouping import RawPage
from clustering.algorithms.observation import answer_batches, observe_page, observe_pages
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


def test_batches_are_answered_until_there_are_no_more() -> None:
    requests, answers = io.BytesIO(), io.BytesIO()
    for batch in ([ROPE], [EMPTY, ROPE]):
        pickle.dump(("shingles", [RawPage(page.url, page.body) for page in batch]), requests)
    requests.seek(0)

    answer_batches(requests, answers)

    answers.seek(0)
    assert [1, 2] == [len(pickle.load(answers)), len(pickle.load(answers))]
    assert b"" == answers.read()


def test_a_parent_that_is_gone_in_the_middle_of_a_batch_ends_the_program() -> None:
    whole = pickle.dumps(("shingles", [RawPage(ROPE.url, BODY)]))
    answers = io.BytesIO()

    answer_batches(io.BytesIO(whole[: len(whole) // 2]), answers)

    assert b"" == answers.getvalue()
