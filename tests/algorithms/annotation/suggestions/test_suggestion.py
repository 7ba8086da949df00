"""What is suggested for a page before anybody annotated one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lxml.html import HtmlElement

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.suggestions.declared import read_declared
from annotation.algorithms.suggestions.evidence import KnownValue
from annotation.algorithms.suggestions.spots import SpotIndex
from annotation.algorithms.suggestions.suggestion import Suggestion, suggest
from clustering.dom.page import parse_page

PRODUCT = """
<html><head><title>Trail Runner {n} | Shoes</title>
<script type="application/ld+json">{{"@type": "Product", "name": "Trail Runner {n}", "sku": "S-{n}",
 "brand": {{"name": "Alpina"}}, "offers": {{"price": "8{n}.00", "priceCurrency": "USD"}}}}</script></head>
<body><nav><a href="/">Alpina</a></nav><h1>Trail Runner {n}</h1><p>by <a href="/b/alpina">Alpina</a></p>
<p>Our Price: <b>$8{n}.00</b></p><p>Was <s>$99.00</s></p>
<dl><dt>Colour</dt><dd>Moss</dd><dd>Ochre</dd>{more}</dl></body></html>
"""
WEIGHT = "<dt>Weight</dt><dd>57{n} g</dd>"


NAME_AND_SUBSTANCE = [AttributeType("name"), AttributeType("substance")]


def tree_of(html: str) -> HtmlElement:
    tree = parse_page(html.encode(), "text/html; charset=utf-8").tree
    assert tree is not None
    return tree


def product(n: int, *, has_weight: bool = True) -> HtmlElement:
    return tree_of(PRODUCT.format(n=n, more=WEIGHT.format(n=n) if has_weight else ""))


def suggested(
    tree: HtmlElement,
    wanted: Sequence[AttributeType],
    known: Mapping[str, Sequence[KnownValue]] | None = None,
    others: Sequence[HtmlElement] = (),
) -> dict[str, Suggestion]:
    """Return the best suggestion of each attribute."""
    page = SpotIndex(
        tree, "https://shop.example/p/1", [SpotIndex(other).page_print for other in others]
    )
    best: dict[str, Suggestion] = {}
    for each in suggest(page, read_declared(tree), wanted, known):
        best.setdefault(each.attribute, each)
    return best


def texts(suggestion: Suggestion) -> list[str]:
    return [mark.text for mark in suggestion.marks]


class TestSuggest:
    def test_what_is_declared_is_suggested_where_it_is_displayed(self) -> None:
        suggestions = suggested(
            product(4), [AttributeType("price", "price"), AttributeType("name")]
        )
        assert ["$84.00"] == texts(suggestions["price"])
        assert "/html/body/p[2]/b" == suggestions["price"].marks[0].xpath
        assert "/html/body/h1" == suggestions["name"].marks[0].xpath
        assert suggestions["price"].confidence > 0.85

    def test_a_text_in_the_navigation_is_the_worse_place(self) -> None:
        suggestions = suggested(product(4), [AttributeType("brand")])
        assert "/html/body/p[1]/a" == suggestions["brand"].marks[0].xpath

    def test_several_values_are_several_marks(self) -> None:
        suggestions = suggested(product(4), [AttributeType("color", is_multi=True)])
        assert ["Moss", "Ochre"] == texts(suggestions["color"])
        assert "labels" == suggestions["color"].source

    def test_two_attributes_do_not_get_the_same_node(self) -> None:
        suggestions = suggested(
            product(4),
            [AttributeType("regularPrice", "price"), AttributeType("price", "price")],
        )
        assert ["$84.00"] == texts(suggestions["price"])
        assert ["$99.00"] == texts(suggestions["regularPrice"])

    def test_at_most_three_each_best_first(self) -> None:
        page = SpotIndex(tree_of("<h1>Prices</h1>" + "".join(f"<p>$1{n}.00</p>" for n in range(9))))
        results = [each.confidence for each in suggest(page, [], [AttributeType("price", "price")])]
        assert sorted(results, reverse=True) == results
        assert 1 <= len(results) <= 3

    def test_what_other_pages_label_and_this_one_does_not_is_suggested_as_absent(self) -> None:
        others = [product(n) for n in (1, 2, 3)]
        suggestions = suggested(
            product(5, has_weight=False), [AttributeType("weight")], others=others
        )
        assert suggestions["weight"].is_absent
        assert ["575 g"] == texts(
            suggested(product(5), [AttributeType("weight")], others=others)["weight"]
        )

    def test_values_known_from_elsewhere_are_found(self) -> None:
        tree = tree_of("<h1>Rope</h1><p>made of <i>hemp fibre</i></p>")
        known = {"substance": [KnownValue("hemp fibre", "is known", 0.6)]}
        suggestions = suggested(tree, [AttributeType("substance")], known)
        assert ["hemp fibre"] == texts(suggestions["substance"])
        assert "known value" == suggestions["substance"].source
        assert {} == suggested(tree, [AttributeType("substance")])

    def test_the_title_is_on_the_best_key_path_where_there_is_no_heading(self) -> None:
        tree = tree_of("<p class='x'>more</p><p class='y'>Hemp rope</p>")
        page = SpotIndex(tree, key_path_elements=[tree.xpath("//p[@class='y']")])
        (suggestion,) = suggest(page, [], [AttributeType("name")])

        assert ("key path", ["Hemp rope"]) == (suggestion.source, texts(suggestion))
        assert "key path 1" in suggestion.why

    def test_a_key_path_is_a_cue_where_nothing_else_is_known(self) -> None:
        tree = tree_of("<h1>Rope</h1><p><i>hemp fibre</i></p>")
        page = SpotIndex(tree, key_path_elements=[tree.xpath("//h1"), tree.xpath("//i")])
        best = {each.attribute: each for each in suggest(page, [], NAME_AND_SUBSTANCE)}

        assert ("heading", ["Rope"]) == (best["name"].source, texts(best["name"]))
        assert ("key path", ["hemp fibre"]) == (
            best["substance"].source,
            texts(best["substance"]),
        )
        assert best["substance"].confidence < 0.2

    def test_a_key_path_is_no_cue_for_what_the_page_lacks(self) -> None:
        others = [SpotIndex(product(n)).page_print for n in (1, 2, 3)]
        tree = product(5, has_weight=False)
        page = SpotIndex(tree, "", others, key_path_elements=[tree.xpath("//dd")])

        assert [True] == [each.is_absent for each in suggest(page, [], [AttributeType("weight")])]

    def test_a_page_that_shows_nothing_has_no_suggestions(self) -> None:
        assert [] == suggest(
            SpotIndex(tree_of("<p></p>")),
            [],
            [AttributeType("price", "price"), AttributeType("name")],
        )

    def test_json_tells_source_confidence_and_why(self) -> None:
        suggestions = suggested(product(4), [AttributeType("price", "price")])["price"].as_json()
        assert {"attribute", "marks", "source", "confidence", "why", "absent"} == set(suggestions)
        assert "json-ld says" in str(suggestions["why"])
