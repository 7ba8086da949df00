"""What pages declare to be about."""

from __future__ import annotations

import json

import pytest

from clustering.algorithms.titles.schema_types import MAX_THINGS, declared_types
from clustering.dom.page import parse_page


def types_of(body: str) -> list[tuple[str, int]]:
    tree = parse_page(f"<html>{body}</html>".encode(), "text/html; charset=utf-8").tree
    assert tree is not None
    return [(declared.name, declared.n) for declared in declared_types(tree)]


def script(value: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


CRUMBS = {"@type": "BreadcrumbList", "itemListElement": [{"@type": "ListItem", "name": "Tea"}]}


class TestScripts:
    def test_the_thing_of_the_first_level_counts(self) -> None:
        offer = {"@type": "Offer", "seller": {"@type": "Organization"}}

        assert [("Product", 1)] == types_of(script({"@type": "Product", "offers": offer}))

    @pytest.mark.parametrize(
        "written", ["Recipe", "schema:Recipe", "https://schema.org/Recipe", ["Recipe"]]
    )
    def test_types_are_known_however_they_are_written(self, written: object) -> None:
        assert [("Recipe", 1)] == types_of(script({"@type": written}))

    def test_a_graph_has_several_things(self) -> None:
        graph = [{"@type": "WebSite"}, {"@type": "Person"}, CRUMBS, {"@type": "NewsArticle"}]

        assert [("NewsArticle", 1), ("Person", 1)] == types_of(script({"@graph": graph}))

    def test_the_main_thing_of_a_page_counts(self) -> None:
        assert [("Event", 1)] == types_of(
            script({"@type": "WebPage", "mainEntity": {"@type": "Event"}})
        )

    def test_what_a_list_holds_counts_where_it_is_all_there_is(self) -> None:
        rows = [{"@type": "ListItem", "item": {"@type": "Book"}} for _ in range(5)]
        books = script({"@type": "ItemList", "itemListElement": rows})

        assert [("Book", 5), ("ItemList", 1)] == types_of(books)
        assert [("Film", 1), ("ItemList", 1)] == types_of(books + script({"@type": "Film"}))

    @pytest.mark.parametrize(
        "text",
        ["{", "[" * 100_000, "null", '{"@type": 3}', '{"@type": "<b>"}', '{"@graph": 5}', ""],
    )
    def test_broken_declarations_say_nothing(self, text: str) -> None:
        assert [] == types_of(f'<script type="application/ld+json">{text}</script>')

    def test_other_scripts_say_nothing(self) -> None:
        assert [] == types_of('<script type="text/javascript">{"@type": "Product"}</script>')

    def test_no_page_declares_without_end(self) -> None:
        assert types_of(script([{"@type": "Thread"}] * 5_000))[0][1] <= MAX_THINGS


class TestElements:
    def test_a_thing_that_is_no_property_counts(self) -> None:
        body = (
            '<div itemscope itemtype="http://schema.org/Product"><p itemprop=offers '
            'itemtype="https://schema.org/Offer">'
        )

        assert [("Product", 1)] == types_of(body)

    def test_cards_make_a_list(self) -> None:
        assert [("Product", 4)] == types_of(
            '<div itemtype="https://schema.org/Product">Tea</div>' * 4
        )

    def test_what_is_around_the_heading_is_what_the_page_is_about(self) -> None:
        main = '<div itemtype="https://schema.org/Product"><h1>Tea</h1></div>'
        more = '<div itemtype="https://schema.org/Product">Cup</div>' * 4

        assert [("Product", 1)] == types_of(main + more)

    def test_rdfa_is_read_too(self) -> None:
        assert [("Product", 1)] == types_of('<div typeof="schema:Product gr:Thing">Tea</div>')


class TestOpenGraph:
    @pytest.mark.parametrize(
        ("written", "types"),
        [
            ("product", ["Product"]),
            ("video.movie", ["Movie"]),
            ("website", []),
            ("og:product", ["Product"]),
        ],
    )
    def test_a_type_is_taken_where_nothing_else_is_declared(
        self, written: str, types: list[str]
    ) -> None:
        meta = f'<meta property="og:type" content="{written}">'

        assert types == [name for name, _ in types_of(meta)]
        assert [("Recipe", 1)] == types_of(meta + script({"@type": "Recipe"}))
