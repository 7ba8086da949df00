"""Columns that are one field in several wrappers are put together, and no others."""

from __future__ import annotations

import pytest

from clustering.algorithms.tables.fields import read_fields
from clustering.dom.page import parse_page

REGULAR = "<li><h3 class=name>Tent {n}</h3><p class=pay><span class=price>€{n}.00</span></p></li>"


def table(*records: str) -> dict[str, list[list[str]]]:
    tree = parse_page(f"<ul>{''.join(records)}</ul>".encode()).tree
    assert tree is not None
    columns = read_fields([[element] for element in tree.xpath("//li")])
    return {column.name: column.values for column in columns}


def regular(n: int) -> str:
    return REGULAR.format(n=n)


def on_sale(n: int, now: str = "strong class='price price--sale'", old: str = "s") -> str:
    tag, old_tag = now.split(maxsplit=1)[0], old.split(maxsplit=1)[0]
    return (
        f"<li><h3 class=name>Tent {n}</h3><p class=pay><{old} class='price "
        f"price--old'>€{n}9.00</{old_tag}> "
        f"<{now}>€{n}.00</{tag}></p></li>"
    )


def test_the_price_of_a_sale_is_a_price() -> None:
    values = table(regular(1), on_sale(2), regular(3), regular(4))

    assert [["€1.00"], ["€2.00"], ["€3.00"], ["€4.00"]] == values["price"]
    assert [[], ["€29.00"], [], []] == values["old_price"]


def test_the_struck_price_is_never_the_price_even_where_most_are_on_sale() -> None:
    values = table(on_sale(1), on_sale(2), regular(3), on_sale(4))

    assert [["€1.00"], ["€2.00"], ["€3.00"], ["€4.00"]] == values["price"]


def test_a_title_in_another_wrapper_is_a_title() -> None:
    plain = "<li><div><h2 class=headline>Story {n}</h2><p class=by>Ann {n}</p></div></li>"
    lead = (
        "<li><header><div><h1 class=headline>Story {n}</h1></div></header><p "
        "class=by>Bo {n}</p></li>"
    )
    values = table(*(plain.format(n=n) for n in (1, 2, 3)), lead.format(n=4))

    assert {"headline", "by"} == set(values)
    assert [["Story 1"], ["Story 2"], ["Story 3"], ["Story 4"]] == values["headline"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("<b class=size>42</b>", "<i class=colour>7</i>", id="other names"),
        pytest.param("<b class=info>€4.00</b>", "<i class=info>by Ann</i>", id="other types"),
        pytest.param("<p>Size: 42</p>", "<p>Width: 7</p>", id="other labels"),
        pytest.param("<b>in stock</b>", "<div><div><i>new</i></div></div>", id="no names"),
    ],
)
def test_two_optional_fields_stay_apart(first: str, second: str) -> None:
    records = [
        f"<li><h3 class=name>Tent {n}</h3>{part}</li>" for n, part in enumerate([first, second] * 2)
    ]

    assert 3 == len(table(*records))


def test_two_of_one_name_in_one_record_stay_apart() -> None:
    both = (
        "<li><h3 class=name>Tent {n}</h3><b class=date>{n} May 2024</b><i class=date>{n} "
        "June 2024</i></li>"
    )
    first = "<li><h3 class=name>Tent {n}</h3><b class=date>{n} May 2024</b></li>"

    assert {"name", "date", "date_2"} == set(
        table(*(both.format(n=n) for n in (1, 2)), first.format(n=3))
    )
