"""The records of a page, found without a teacher."""

import time

import pytest

from benchmarks.records.scoring import Truth, f_score
from clustering.algorithms.records.finding import find_records
from clustering.algorithms.records.page_model import model_page
from clustering.dom.page import parse_page
from vertex.demo import sites

LISTS = [
    ("alpine-shop", "1", "/brand/firnline"),
    ("alpine-shop", "2", "/tag/ultralight"),
    ("town-guide", "1", "/town.asp?zip=04610"),
    ("the-courier", "1", "/politics"),
    ("the-courier", "2", "/archive/2024-04"),
    ("tinker-board", "1", "/board/motors"),
]


@pytest.mark.parametrize(
    ("name", "edition", "path"), LISTS, ids=[f"{one[0]}{one[2]}" for one in LISTS]
)
def test_records_of_demo_lists_are_found(name: str, edition: str, path: str) -> None:
    demo = sites.load(name, edition).pages[path]
    tree = parse_page(demo.body, demo.content_type).tree
    assert tree is not None
    page = model_page(tree)
    number_by_node = {node: number for number, node in enumerate(page.nodes)}
    paths = [record.nodes for record in demo.records]
    found = find_records(tree)[0].paths()

    def intervals(records: list[list[str]]) -> list[tuple[int, int]]:
        ends = [
            (number_by_node[tree.xpath(one[0])[0]], number_by_node[tree.xpath(one[-1])[0]])
            for one in records
        ]
        return [page.interval(end) for end in ends]

    assert f_score(Truth(tuple(intervals(paths)), is_whole=True), intervals(found)) >= 0.75


@pytest.mark.parametrize(
    "body", [b"<h1>Nothing here</h1>", b"<p>", b"<h1>Not found</h1><p>Try <a href=/>home</a>."]
)
def test_a_page_without_a_list_has_no_records(body: bytes) -> None:
    tree = parse_page(body).tree
    assert tree is not None

    assert find_records(tree) == []


def test_several_lists_do_not_show_the_same_twice() -> None:
    rows = b"".join(b"<tr><td><a href=/%d>Name %d</a><td>text %d" % (n, n, n) for n in range(20))
    cards = b"".join(
        b"<div class=card><h3>Card %d</h3><p>with text %d</p></div>" % (n, n) for n in range(20)
    )
    tree = parse_page(b"<table>" + rows + b"</table><div>" + cards + b"</div>").tree
    assert tree is not None
    records = find_records(tree, 2)

    assert {"tr", "div"} == {record.records[0][0].tag for record in records}
    assert records[0].score >= records[1].score


def test_a_list_of_very_many_rows_ends_in_time() -> None:
    rows = b"".join(b"<tr><td>%d<td>name %d<td>x" % (n, n) for n in range(6_000))
    tree = parse_page(b"<table>" + rows + b"</table>").tree
    assert tree is not None
    started = time.process_time()

    assert len(find_records(tree)[0].records) == pytest.approx(6_000, abs=2)
    assert time.process_time() - started < 15


def test_deep_pages_are_read() -> None:
    tree = parse_page(b"<div>" * 200 + b"<p>a</p><p>b</p>" + b"</div>" * 200).tree
    assert tree is not None

    assert find_records(tree, 3) is not None


def test_an_advertisement_of_the_same_tag_behind_a_record_is_not_its_own() -> None:
    tree = parse_page((sites.load("the-courier").pages["/travel"]).body).tree
    assert tree is not None

    records = find_records(tree)[0].records
    assert [1] * 10 == [len(record) for record in records]
    assert not any(
        "/subscribe" in str(link.get("href")) for (record,) in records for link in record.iter("a")
    )


def test_an_advertisement_between_two_records_is_of_neither() -> None:
    cards = [
        b"<article><h3>Tent %d</h3><p>from %d.00</p></article>" % (n, n * 7) for n in range(12)
    ]
    cards.insert(6, b"<div><p>Sponsored</p><a href=/ad>See the new stoves</a></div>")
    tree = parse_page(b"<main>" + b"".join(cards) + b"</main>").tree
    assert tree is not None

    assert [["article"]] * 12 == [
        [element.tag for element in record] for record in find_records(tree)[0].records
    ]
