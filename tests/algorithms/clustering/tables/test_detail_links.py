"""The page about each record."""

import pytest

from clustering.algorithms.tables.detail_links import find_detail_links
from clustering.algorithms.tables.fields import read_fields
from clustering.dom.page import parse_page
from vertex.demo import sites

LIST = "https://shop.example/list"


def details(item: str, n: int = 5) -> list[str] | None:
    tree = parse_page(
        (
            "<ul>" + "".join(f"<li>{item.replace('#', str(k))}</li>" for k in range(n)) + "</ul>"
        ).encode()
    ).tree
    assert tree is not None
    links = find_detail_links(read_fields([[element] for element in tree.iter("li")]), LIST)
    return list(links.urls) if links else None


EACH = [f"https://shop.example/p/{k}" for k in range(5)]


@pytest.mark.parametrize(
    "item",
    [
        "<h3><a href=/p/#>Thing #</a></h3><a class=b href=/cart?add=#>Buy</a>",
        "<a class=i href=/p/#><img src=#.png></a><a class=s href=/seller/1>one seller</a>",
        "<a class=t href=/p/#>Name of thing #</a> <a class=x href=https://else.example/#>see</a>",
        "<b>Thing #</b><a href=/p/#>more...</a>",
    ],
    ids=["cart", "seller", "elsewhere", "more"],
)
def test_the_link_to_the_details_is_chosen_among_others(item: str) -> None:
    assert EACH == details(item)


@pytest.mark.parametrize(
    "item",
    [
        "<b>#</b>",
        "<b>#</b><a href=javascript:show(#)>up</a>",
        "<b>#</b><a href=mailto:a#@shop.example>mail</a>",
    ],
)
def test_records_may_have_no_details(item: str) -> None:
    assert details(item) is None


def test_a_record_without_the_link_has_none() -> None:
    tree = parse_page(b"<ul><li><a href=/p/0>a</a><li>b<li><a href=/p/2>c</a></ul>").tree
    assert tree is not None
    links = find_detail_links(read_fields([[element] for element in tree.iter("li")]), LIST)

    assert links is not None
    assert ("https://shop.example/p/0", "", "https://shop.example/p/2") == links.urls


def test_demo_records_lead_to_their_pages() -> None:
    site = sites.load("alpine-shop")
    demo = site.pages["/c/tents"]
    tree = parse_page(demo.body, demo.content_type).tree
    assert tree is not None
    records = [[tree.xpath(node)[0] for node in record.nodes] for record in demo.records]
    links = find_detail_links(read_fields(records), "https://d.example/c/tents")

    assert links is not None
    assert {"product"} == {
        site.pages[url.removeprefix("https://d.example")].type for url in links.urls
    }
