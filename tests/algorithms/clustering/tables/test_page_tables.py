"""The lists of a page as tables of plain values."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from clustering.algorithms.tables.page_tables import table_from_json, tables_of, tables_of_body
from clustering.dom.page import parse_page

N_PAGES, N_OF_PAGE = 3, 8


def list_page(number: int) -> bytes:
    items = "".join(
        f"<li class=item><h3 class=name><a href=/p/{k}>The thing {k}</a></h3>"
        + (f"<span class=price>{k}.50 EUR</span>" if k % 3 else "")
        + f"<p class=about>What the thing number {k} is about, at some length.</p></li>"
        for k in range(number * N_OF_PAGE, (number + 1) * N_OF_PAGE)
    )
    onward = (
        f"<a class=next href='/list?page={number + 2}'>Next</a>" if number + 1 < N_PAGES else ""
    )
    return f"<html><body><a href=/help>Help</a><ul>{items}</ul>{onward}</body></html>".encode()


def product(number: int, n_reviews: int) -> str:
    """Return a product with its reviews, which have fields of their own, one of them not always."""
    reviews = "".join(
        f"<li class=review><b class=who>Reader {number}{k}</b> <span "
        f"class=stars>{k + 1} of 5</span>"
        + (f"<p class=said>Said of thing {number}, part {k}.</p>" if k % 2 else "")
        for k in range(n_reviews)
    )
    price = f"<span class=price>{number}.50 EUR</span>" if number % 3 else ""
    return (
        f"<article class=product><h2><a href=/p/{number}>The thing {number}</a></h2>{price}"
        f"<ul class=reviews>{reviews}</ul><p class=stock>{number} left</p></article>"
    )


def readers_of(row: dict[str, str | list[str]]) -> list[str]:
    """Return the readers whose reviews a row has, in one column or in one for each."""
    results = [value for name, value in row.items() if name.startswith("who")]
    return [each for value in results for each in ([value] if isinstance(value, str) else value)]


class TestTables:
    @pytest.fixture
    def table(self) -> Any:
        tree = parse_page(list_page(0)).tree
        assert tree is not None
        return tables_of(tree, "https://shop.example/list")[0]

    def test_a_record_is_a_row_with_names(self, table: Any) -> None:
        assert {"name": "The thing 1", "price": "1.50 EUR"}.items() <= table.rows()[1].items()

    def test_what_a_record_lacks_is_not_in_its_row(self, table: Any) -> None:
        assert ["price" in row for row in table.rows()] == [k % 3 > 0 for k in range(N_OF_PAGE)]

    @pytest.mark.parametrize(
        "counts", [(0, 3, 1, 2, 0, 4, 1, 2), (2,) * 8], ids=["some", "as many in each"]
    )
    def test_a_list_inside_a_record_moves_no_value_of_the_record(
        self, counts: tuple[int, ...]
    ) -> None:
        page = "".join(map(product, range(1, len(counts) + 1), counts))
        tree = parse_page(f"<main>{page}</main>".encode()).tree
        assert tree is not None
        rows = tables_of(tree, "https://shop.example/list")[0].rows()

        results = [(row["title"], row.get("price"), row["stock"]) for row in rows]
        assert [
            (f"The thing {n}", f"{n}.50 EUR" if n % 3 else None, f"{n} left")
            for n in range(1, len(counts) + 1)
        ] == results
        assert [[f"Reader {n}{k}" for k in range(count)] for n, count in enumerate(counts, 1)] == [
            readers_of(row) for row in rows
        ]

    def test_places_are_those_of_the_values(self, table: Any) -> None:
        tree = parse_page(list_page(0)).tree
        assert tree is not None
        for number, row in enumerate(table.rows()):
            path_by_name = {column.name: column.nodes[number] for column in table.columns}
            assert {name for name, paths in path_by_name.items() if paths} == set(row)
            for name, value in row.items():
                (path,) = path_by_name[name]
                node = tree.xpath(path)[0]
                assert value == (
                    node if isinstance(node, str) else "".join(map(str, node.itertext()))
                )

    def test_pages_and_details_are_told(self, table: Any) -> None:
        assert "https://shop.example/list?page=2" == table.next_url
        assert [f"https://shop.example/p/{k}" for k in range(N_OF_PAGE)] == table.details

    def test_a_table_is_plain_values_that_can_be_kept(self, table: Any) -> None:
        (written, *_) = json.loads(
            json.dumps(tables_of_body(list_page(0), "text/html", "https://shop.example/list", 1))
        )
        assert table == table_from_json(written)

    def test_an_empty_page_has_no_table(self) -> None:
        assert [] == tables_of_body(b"", "text/html", "https://shop.example/list", 1)

    def test_a_page_without_a_list_has_no_table(self) -> None:
        tree = parse_page(b"<h1>Nothing</h1>").tree
        assert tree is not None
        assert [] == tables_of(tree, "https://shop.example/")


def test_a_plain_list_of_thousands_is_read_in_linear_time() -> None:
    rows = "".join(f"<li><a href=/p/{k}>Thing {k}</a> <b>{k} EUR</b></li>" for k in range(4_000))
    started = time.thread_time()

    (table,) = tables_of_body(f"<ul>{rows}</ul>".encode(), "text/html", "https://a.example/", 1)

    assert time.thread_time() - started < 12, "by the square it takes half a minute"
    assert len(table["records"]) > 1_000
