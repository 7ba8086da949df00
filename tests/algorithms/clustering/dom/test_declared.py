"""What pages declare in JSON-LD, and which of their elements say what they are."""

from __future__ import annotations

from time import process_time

import pytest

from clustering.dom.declared import (
    MAX_JSON_CHARS,
    is_secondary,
    read_json_ld,
    things_around_heading,
    type_names,
    walk_json_ld,
)
from clustering.dom.page import parse_page


def values_of(script: str, script_type: str = "application/ld+json") -> list[object]:
    tree = parse_page(f'<script type="{script_type}">{script}</script>'.encode()).tree
    assert tree is not None
    return [value for _, value in read_json_ld(tree)]


@pytest.mark.parametrize(
    "script_type", ["application/ld+json", " Application/LD+JSON ; charset=utf-8"]
)
def test_declarations_are_read_however_their_type_is_written(script_type: str) -> None:
    assert [{"a": 1}] == values_of('{"a": 1}', script_type)


@pytest.mark.parametrize("script", ["{", "[" * 100_000, " ", f'"{"a" * MAX_JSON_CHARS}"'])
def test_broken_and_huge_declarations_are_left_out(script: str) -> None:
    assert [] == values_of(script)


@pytest.mark.parametrize(
    "script",
    [
        '{"a": "x\ny"}',
        '{"a": "x\ty"}',
        '{"a": "x\\ny",}',
        '{"a": "x\\ny", /* the name */ }',
        '// the thing\n{"a": "x\\ny"}',
        '<!-- {"a": "x\\ny"} -->',
        '/* <![CDATA[ */ {"a": "x\\ny"} /* ]]> */',
        '{"a": "x\\ny"};',
        "{&quot;a&quot;: &quot;x\\ny&quot;}",
    ],
)
def test_what_pages_often_write_beside_json_is_read(script: str) -> None:
    ((value,),) = [list(each.values()) for each in values_of(script)]  # type: ignore[attr-defined]

    assert value in {"x\ny", "x\ty"}


def test_texts_that_look_like_comments_stay() -> None:
    assert [{"a": "http://x/, ]", "b": [1]}] == values_of('{"a": "http://x/, ]", "b": [1,],}')


@pytest.mark.parametrize("piece", ["/*", '\\"', ",", "; ", "<!--", '"\\'])
def test_broken_declarations_take_no_longer_than_their_length(piece: str) -> None:
    before = process_time()

    assert [] == values_of(piece * (MAX_JSON_CHARS // len(piece)))
    assert process_time() - before < 1


def test_other_scripts_declare_nothing() -> None:
    assert [] == values_of('{"a": 1}', "text/javascript")


def test_things_come_before_what_they_hold() -> None:
    book = {"@type": "Book"}
    page = {"@type": "WebPage", "mainEntity": {"@type": "Event"}}
    value = [{"@graph": [page, {"@type": "Person"}]}, book]
    names = [node.names for node in walk_json_ld(value, 10) if node.thing is not None]

    assert [[], ["WebPage"], ["Event"], ["Person"], ["Book"]] == names


def test_what_a_list_holds_is_told_from_what_the_page_is_about() -> None:
    value = {
        "@type": "ItemList",
        "itemListElement": [{"@type": "ListItem", "item": {"@type": "Book"}}],
    }
    things = [node for node in walk_json_ld(value, 10) if node.thing is not None]

    assert [("ItemList", False), ("ListItem", True), ("Book", True)] == [
        (node.names[0], node.is_listed) for node in things
    ]


def test_of_a_list_the_first_items_count() -> None:
    nodes = walk_json_ld([{"n": 1}, {"n": 2}, {"n": 3}], 2)

    assert [{"n": 1}, {"n": 2}] == [node.thing for node in nodes if node.thing is not None]


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("https://schema.org/Recipe", ["Recipe"]),
        (["schema:Recipe", "gr:offering", 3], ["Recipe"]),
        ("<b>", []),
        (None, []),
    ],
)
def test_types_have_names_of_a_vocabulary(written: object, names: list[str]) -> None:
    assert names == type_names(written)


def test_the_closest_thing_around_the_heading_is_first() -> None:
    html = (
        b"<div itemtype=A><section><div typeof=B><h1>Tea</h1></div></section></div><p itemtype=C>"
    )
    tree = parse_page(html).tree
    assert tree is not None

    assert [("div", "B"), ("div", None)] == [
        (element.tag, element.get("typeof")) for element in things_around_heading(tree)
    ]


def test_a_page_without_heading_has_no_thing_around_it() -> None:
    tree = parse_page(b"<div itemtype=A><h2>Tea</h2></div>").tree
    assert tree is not None

    assert [] == things_around_heading(tree)


def test_organisations_and_people_often_stand_beside_the_main_thing() -> None:
    assert is_secondary("Person")
    assert not is_secondary("NewsArticle")
