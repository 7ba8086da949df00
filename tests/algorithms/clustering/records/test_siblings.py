"""All records of a list, from one of them."""

import pytest

from clustering.algorithms.records.siblings import siblings_of
from clustering.dom.page import parse_page
from vertex.demo import sites

CARDS = b"".join(
    b"<div class=card><h3><a href=/%d>Card %d</a></h3>%b<p>tells of card %d</p></div>%b"
    % (
        n,
        n,
        b"<i>new</i>" if n % 3 else b"",
        n,
        b"<div class=ad><a href=/buy>Buy</a></div>" if n == 4 else b"",
    )
    for n in range(9)
)
NAVIGATION = b"<div class=nav><a href=/a>a</a></div>" * 9
TERMS = (
    b"<dl>"
    + b"".join(b"<dt>term %d</dt><dd>one</dd>" % n + b"<dd>two</dd>" * (n % 2) for n in range(6))
    + b"</dl>"
)
ROWS = b"<table>%b%b%b</table>" % (
    b"<tr><td>1<td><b>First</b><tr><td><td>about it" * 3,
    b"<tr><td colspan=2>Advertisement",
    b"<tr><td>4<td><b>Fourth</b><tr><td><td>about it" * 3,
)


def texts(body: bytes, *record: str) -> list[str]:
    """Return the first texts of the records found from one, given by the XPaths of its elements."""
    tree = parse_page(body).tree
    assert tree is not None
    nodes = siblings_of(tree, [tree.xpath(path)[0] for path in record])
    return [" ".join("".join(map(str, element.itertext())) for element in node) for node in nodes]


@pytest.mark.parametrize("number", [1, 4, 9])
def test_any_record_finds_the_others_and_not_what_stands_between(number: int) -> None:
    shown_texts = texts(NAVIGATION + CARDS, f"(//div[@class='card'])[{number}]")

    assert [f"Card {n}" for n in range(9)] == [text[:6] for text in shown_texts]


def test_a_record_of_two_rows_finds_pairs_of_rows() -> None:
    shown_texts = texts(ROWS, "//tr[3]", "//tr[4]")

    assert 6 == len(shown_texts)
    assert not any("Advertisement" in text for text in shown_texts)


def test_a_term_may_have_more_descriptions_than_the_example() -> None:
    shown_texts = texts(TERMS, "//dt[1]", "//dd[1]")

    assert ["term 0 one", "term 1 one two"] == [text.strip() for text in shown_texts[:2]]


@pytest.mark.parametrize("body", [b"<h1>One</h1><p>alone</p>", b"<div><p>only this</p></div><hr>"])
def test_a_record_that_nothing_is_like_stands_alone(body: bytes) -> None:
    assert 1 == len(texts(body, "//p"))


@pytest.mark.parametrize(
    ("name", "edition", "path"),
    [
        ("alpine-shop", "1", "/c/tents"),
        ("the-courier", "1", "/politics"),
        ("town-guide", "1", "/browse.asp?cat=1"),
    ],
)
def test_a_record_of_a_demo_list_finds_all(name: str, edition: str, path: str) -> None:
    demo = sites.load(name, edition).pages[path]
    tree = parse_page(demo.body, demo.content_type).tree
    assert tree is not None
    records = [[tree.xpath(node)[0] for node in record.nodes] for record in demo.records]

    assert records == siblings_of(tree, records[3])
