"""Records by comparing runs of adjacent siblings."""

import pytest

from benchmarks.records.mdr import distance, extract_region
from tests.algorithms.clustering.records.test_page_model import model


def records(body: bytes) -> list[str]:
    page = model(body)
    return [page.text_at(*page.interval(each)) for each in extract_region(page)]


def test_rows_are_a_data_region() -> None:
    assert records(b"<table><tr><td>a<td>1<tr><td>b<td>2<tr><td>c<td>3</table>") == [
        "a1",
        "b2",
        "c3",
    ]


def test_two_siblings_can_make_one_generalized_node() -> None:
    body = (
        b"<div>" + b"".join(b"<h3>%c</h3><p><b>x</b><i>y</i></p>" % n for n in b"abc") + b"</div>"
    )

    assert records(body) == ["axy", "bxy", "cxy"]


def test_a_page_where_nothing_repeats_has_no_region() -> None:
    assert records(b"<h1>x</h1><p>y<b>z</b></p>") == []


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("ab", "ab", 0), ("ab", "abcd", 1 / 3), ("ab", "cd", 1)],
)
def test_distances_lie_between_0_and_1(one: str, other: str, expected: float) -> None:
    assert distance(tuple(one), tuple(other)) == pytest.approx(expected)
