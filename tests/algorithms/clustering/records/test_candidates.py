"""What is proposed as the records of a page."""

import pytest

from clustering.algorithms.records import candidates
from clustering.algorithms.records.candidates import MAX_CANDIDATES, find_candidates
from tests.algorithms.clustering.records.test_page_model import model


def proposed(body: bytes) -> list[list[str]]:
    """Return the texts of the regions of each candidate."""
    page = model(body)
    return [
        [page.text_at(*page.interval(region)) for region in candidate.regions]
        for candidate in find_candidates(page)
    ]


@pytest.mark.parametrize(
    ("body", "records"),
    [
        (b"<ul><li>one<li>two<li>three</ul>", ["one", "two", "three"]),
        (b"<dl><dt>a<dd>1<dt>b<dd>2<dd>3<dt>c<dd>4</dl>", ["a1", "b23", "c4"]),
        (
            b"<table><tr><td>1.<td>a<tr><td><td>A!<tr><td>2.<td>b<tr><td><td>B!</table>",
            ["1.aA!", "2.bB!"],
        ),
        (b"<div><b>a</b> x<hr><b>b</b> y<i>!</i><hr><b>c</b></div>", ["a", "by!", "c"]),
        (b"<div><a>a</a><br><i>1</i><br><br><a>b</a><br><i>2</i></div>", ["a1", "b2"]),
        (
            b"<table><tr><td>a<td>b<tr><td>c<td>d</table>",
            ["a", "b", "c", "d"],
        ),
        (b"<div><p class=row>a<p class=ad>buy<p class=row>b</div>", ["a", "b"]),
        (
            b"<h2>x</h2><div><h3>a</h3><p>1</div><h2>y</h2><div><h3>b</h3><p>2<h3>c</h3><p>3</div>",
            ["a1", "b2", "c3"],
        ),
    ],
    ids=["items", "terms", "two-rows", "rules", "breaks", "cards-in-rows", "ads", "sections"],
)
def test_records_of_every_kind_are_among_the_candidates(body: bytes, records: list[str]) -> None:
    assert records in proposed(body)


def test_candidates_that_show_the_same_are_one() -> None:
    lists = proposed(b"<ul><li><b>one</b><li><b>two</b></ul>")

    assert lists.count(["one", "two"]) == 1


def test_a_head_row_is_left_out_by_a_filter() -> None:
    body = b"<table><tr><th>name<tr><td>a<td>1<tr><td>b<td>2<tr><td>c<td>3</table>"

    assert ["a1", "b2", "c3"] in proposed(body)


@pytest.mark.parametrize("body", [b"<p>one</p>", b"<p></p><p></p>", b"x"])
def test_a_page_where_nothing_repeats_has_no_candidates(body: bytes) -> None:
    assert proposed(body) == []


def test_there_are_never_more_than_a_few_hundred() -> None:
    kinds = [
        f"<div class=c{chr(97 + n % 26)}{chr(97 + n // 26)}><p>a<p>b<p>c</div>" for n in range(600)
    ]

    assert 0 < len(proposed("".join(kinds).encode())) <= MAX_CANDIDATES


def test_of_very_many_parents_those_with_most_text_give_candidates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(candidates, "MAX_FAMILIES", 2)
    body = b"<table>" + b"<tr><td>a<td>b" * 5 + b"<tr><td>long cell<td>another" + b"</table>"
    result = proposed(body)
    assert ["longcell", "another"] in result
    assert ["ab"] * 5 + ["longcellanother"] in result
    assert ["a", "b"] not in result
