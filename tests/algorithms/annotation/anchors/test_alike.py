"""What stands on a page as the examples do, and the records beside a record."""

from __future__ import annotations

from typing import Any

from lxml import html

from annotation.algorithms.anchors.alike import find_alike, find_records_alike, is_alike

TABLE = """<table><tr><td>a</td><td>1</td></tr><tr><td>b</td><td>2</td></tr><tr><td>c</td><td>3</td></tr></table>"""
LIST = """<div><ul><li class="tag hot"><a>red</a></li><li class="tag"><a>blue</a></li><li class="ad"><a>buy</a></li>
<li class="tag"><a>green</a></li></ul><ul><li class="tag"><a>other</a></li></ul></div>"""
PAIRS = """<dl><dt>A</dt><dd>1</dd><dt>B</dt><dd>2</dd><dt>C</dt><dd>3</dd><p>end</p></dl>"""


def fromstring(markup: str) -> Any:
    return html.fromstring(markup)


def texts(elements: object) -> list[str]:
    return [element.text_content() for element in elements]  # type: ignore[attr-defined]


def test_one_example_is_followed_to_its_siblings() -> None:
    tree = fromstring(LIST)
    assert ["red", "blue", "green"] == texts(find_alike([tree.xpath("//a")[0]]))


def test_a_column_stays_a_column() -> None:
    tree = fromstring(TABLE)
    cells = tree.xpath("//tr[1]/td[2] | //tr[2]/td[2]")
    assert ["1", "2", "3"] == texts(find_alike(cells))


def test_examples_in_two_lists_reach_both() -> None:
    tree = fromstring(LIST)
    links = tree.xpath("//a")
    assert ["red", "blue", "green", "other"] == texts(find_alike([links[1], links[4]]))


def test_a_lonely_element_stays_alone() -> None:
    tree = fromstring("<div><h1>one</h1><p>two</p></div>")
    assert ["one"] == texts(find_alike([tree[0]]))


def test_examples_at_different_depths_stay_as_they_are() -> None:
    tree = fromstring("<div><p>a</p><section><p>b</p></section></div>")
    assert ["a", "b"] == texts(find_alike(tree.xpath("//p")))


def test_classes_decide_where_there_are_some() -> None:
    first, other, none = fromstring("<p><b class='x y'></b><b class='y'></b><b></b></p>")
    assert [True, False] == [is_alike(first, other), is_alike(first, none)]


class TestRecords:
    def test_a_click_within_a_record_marks_its_siblings(self) -> None:
        tree = fromstring(LIST)
        records = find_records_alike(tree.xpath("//a")[1])
        assert [["red"], ["blue"], ["green"]] == [texts(record) for record in records]

    def test_a_run_of_siblings_repeats(self) -> None:
        tree = fromstring(PAIRS)
        records = find_records_alike(tree[2], tree[3])
        assert [["A", "1"], ["B", "2"], ["C", "3"]] == [texts(record) for record in records]

    def test_runs_do_not_overlap(self) -> None:
        tree = fromstring("<div>" + "<p>x</p>" * 5 + "</div>")
        assert [2, 2] == [len(record) for record in find_records_alike(tree[0], tree[1])]

    def test_the_ends_of_a_run_may_stand_within_the_siblings(self) -> None:
        tree = fromstring("<div><p><b>a</b></p><hr><p><b>c</b></p><hr></div>")
        records = find_records_alike(tree[0][0], tree[1])
        assert [["p", "hr"], ["p", "hr"]] == [
            [element.tag for element in record] for record in records
        ]
