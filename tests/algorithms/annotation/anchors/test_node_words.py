"""How nodes are called, and what of theirs could be a value."""

from __future__ import annotations

from typing import Any

from annotation.algorithms.anchors.node_words import (
    head_values,
    label_of,
    outline,
    path_in_words,
    values_of,
)
from annotation.algorithms.anchors.page_texts import read_texts
from annotation.algorithms.anchors.picking import NumberedPage
from clustering.dom.page import parse_page

PAGE = """<html><head><title>Shop</title><meta property="og:price" content="25"><link rel="canonical" href="/p/1">
<script type="application/ld+json">{"name": "Runner", "offers": {"price": 25.5, "q": "a\\u0041"}}</script></head>
<body><div id="main" class="a b c"><a href="/go" class="x y z"><img src="/i.png" alt="Shoe" onclick="x()"></a>
<p>one <b>two</b> three</p><hr></div></body></html>"""


def page() -> NumberedPage:
    tree = parse_page(PAGE.encode()).tree
    assert tree is not None
    return NumberedPage(read_texts(tree))


def found(shown: NumberedPage, xpath: str) -> Any:
    """Return the first element of a path."""
    elements: Any = shown.texts.tree.xpath(xpath)
    return elements[0]


def labelled(values: object) -> dict[str, str]:
    return {value.label: value.text for value in values}  # type: ignore[attr-defined]


def test_an_element_is_called_by_its_id_or_two_classes() -> None:
    shown = page()
    names = {label_of(element) for element in shown.elements}
    assert {"div#main", "a.x.y", "img", "p", "b"} <= names


def test_the_path_goes_from_the_root_to_the_element() -> None:
    shown = page()
    number = shown.number_of(found(shown, "//b"))
    assert ["html", "body", "div#main", "p", "b"] == [
        name for _, name in path_in_words(shown, number)
    ]


def test_a_node_holds_its_text_its_texts_and_its_attributes() -> None:
    shown = page()
    assert {"text": "one two three", "text 1": "one", "text 2": "three"} == labelled(
        values_of(shown.texts, found(shown, "//p"))
    )


def test_a_picture_tells_its_source_and_the_link_around_it() -> None:
    shown = page()
    assert {"@src": "/i.png", "@alt": "Shoe", "a around @href": "/go"} == labelled(
        values_of(shown.texts, found(shown, "//img"))
    )


def test_the_head_tells_title_meta_links_and_json() -> None:
    labels = labelled(head_values(page().texts))
    assert ("Shop", "25", "/p/1", "Runner", "25.5") == (
        labels["title"],
        labels["meta og:price"],
        labels["link canonical"],
        labels["JSON name"],
        labels["JSON price"],
    )


def test_a_json_value_stands_where_it_says() -> None:
    shown = page()
    name = next(value for value in head_values(shown.texts) if value.label == "JSON name")
    script = found(shown, "//script").text
    assert "Runner" == " ".join(script.split())[name.start : name.end]


def test_an_escaped_json_value_is_left_out() -> None:
    assert "JSON q" not in labelled(head_values(page().texts))


def test_the_outline_knows_what_can_be_seen() -> None:
    shown = page()
    elements = outline(shown)
    seen = [str(shown.elements[number].tag) for number in elements.shown]
    assert "hr" not in seen
    assert {"p", "b", "img"} <= set(seen)
    picture = shown.number_of(found(shown, "//img"))
    assert "Shoe" == elements.texts[picture]
    assert -1 == elements.parents[0]
    assert "div#main" == elements.labels[elements.label_of[shown.number_of(found(shown, "//div"))]]
