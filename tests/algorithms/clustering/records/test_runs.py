"""How the children of one parent are cut into runs."""

from clustering.algorithms.records.runs import (
    cut_at_separators,
    groups_by,
    periodic_runs,
    runs_from_marks,
    tokens_of,
)
from tests.algorithms.clustering.records.test_page_model import model


def cut(body: bytes, how: str) -> list[list[str]]:
    """Return the texts of the runs that the first division's children are cut into, in each way."""
    page = model(b"<div>" + body + b"</div>")
    family = page.children[page.tags.index("div")]
    if how == "separators":
        ways = list(cut_at_separators(page, family))
    else:
        cutter = runs_from_marks if how == "marks" else periodic_runs
        ways = [runs for tokens in tokens_of(page, family) for runs in cutter(page, family, tokens)]
    return [[page.text_at(*page.interval(run)) for run in runs] for runs in ways]


def test_a_rule_ends_a_run() -> None:
    assert ["ab", "c"] in cut(b"<b>a</b><i>b</i><hr><b>c</b>", "separators")


def test_two_breaks_in_a_row_end_a_run_and_one_does_not() -> None:
    assert ["ab", "c"] in cut(b"<b>a</b><br><i>b</i><br><br><b>c</b>", "separators")


def test_a_run_goes_from_each_mark_to_the_next() -> None:
    assert ["a12", "b3"] in cut(b"<h3>a</h3><p>1</p><p>2</p><h3>b</h3><p>3</p>", "marks")


def test_a_mark_may_end_a_run() -> None:
    assert ["1a", "2b"] in cut(b"<p>1</p><h3>a</h3><p>2</p><h3>b</h3>", "marks")


def test_a_period_is_tried_at_each_phase() -> None:
    ways = cut(b"<b>a</b><i>1</i><b>b</b><i>2</i><b>c</b><i>3</i>", "period")

    assert ["a1", "b2", "c3"] in ways
    assert ["1b", "2c"] in ways


def test_what_does_not_repeat_has_no_period() -> None:
    assert [] == cut(b"<b>a</b><i>1</i><p>2</p><h1>3</h1><h2>4</h2><hr>x", "period")


def test_only_what_occurs_twice_is_a_group() -> None:
    assert [[1, 3]] == groups_by([1, 2, 3], lambda number: number % 2)
