"""Addresses without what tells no types apart."""

from __future__ import annotations

import pytest

from clustering.algorithms.automatic.plain_addresses import plain_address


@pytest.mark.parametrize(
    ("address", "plain"),
    [
        ("http://a.b/en/talks/3", "http://a.b/talks/3"),
        ("http://a.b/2010/zh-tw/talks/3", "http://a.b/2010/talks/3"),
        ("http://a.b/ja", "http://a.b"),
        ("http://a.b/tag/oak/page/12/", "http://a.b/tag/oak/"),
        ("http://a.b/page-2", "http://a.b"),
        ("http://a.b/oak/index.html", "http://a.b/oak/"),
        ("http://a.b/index.php?id=3", "http://a.b/?id=3"),
    ],
)
def test_language_page_of_a_list_and_index_file_are_left_out(address: str, plain: str) -> None:
    assert plain == plain_address(address)


@pytest.mark.parametrize(
    "address",
    ["http://a.b/id/3", "http://a.b/entry/3", "http://a.b/page/about", "http://a.b/code/1.2.html"],
)
def test_all_else_stays(address: str) -> None:
    assert address == plain_address(address)
