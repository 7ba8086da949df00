"""A link is an occurrence: where it stands, where it leads, what it says."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.dom.links import MAX_LINKS, FoundLink, find_links
from clustering.dom.page import parse_page

HERE = "http://shop.example/list/page?n=1"


def links_of(page: str | bytes, base_url: str = HERE, content_type: str = "") -> list[FoundLink]:
    parsed = parse_page(page.encode() if isinstance(page, str) else page, content_type)
    assert parsed.tree is not None
    return find_links(parsed.tree, base_url, parsed.encoding)


def urls_of(page: str, base_url: str = HERE) -> list[str]:
    return [link.url for link in links_of(page, base_url)]


class TestLinks:
    def test_are_told_with_place_address_and_words(self) -> None:
        page = (
            "<ul><li><a href='../a?x=1#top'> Red\n <b>shoes</b></a><li><a href=/b "
            "rel=nofollow>Blue</a></ul>"
        )
        assert [
            FoundLink(1, "/html/body/ul/li[1]/a", "http://shop.example/a?x=1", "Red shoes"),
            FoundLink(2, "/html/body/ul/li[2]/a", "http://shop.example/b", "Blue"),
        ] == links_of(page)

    def test_stay_apart_where_they_lead_to_the_same_page(self) -> None:
        links = links_of("<a href=/a>one</a><a href=/a>two</a><a href='/a#x'>three</a>")
        assert [
            ("/html/body/a[1]", "one"),
            ("/html/body/a[2]", "two"),
            ("/html/body/a[3]", "three"),
        ] == [(link.xpath, link.text) for link in links]
        assert {"http://shop.example/a"} == {link.url for link in links}

    def test_are_areas_and_frames_too(self) -> None:
        page = "<map><area href=/a alt='Part A'><area></map><a name=x>x</a>"
        assert [("http://shop.example/a", "Part A")] == [
            (link.url, link.text) for link in links_of(page)
        ]
        assert ["http://shop.example/menu"] == urls_of("<frameset><frame src=/menu></frameset>")

    @pytest.mark.parametrize(
        "href",
        ["#", "#top", "javascript:void(0)", "mailto:a@b.example", "tel:123", "ftp://a.example/",
         "data:,x", "http://", "http://[", "http://a@b.example/", "/\\x", "http://a b/"],
    )  # fmt: skip
    def test_are_none_where_no_page_is_meant(self, href: str) -> None:
        assert ["http://shop.example/a"] == urls_of(f"<a href='{href}'>x</a><a href=/a>y</a>")

    def test_are_read_as_browsers_do_where_the_line_is_broken(self) -> None:
        assert ["http://shop.example/ab"] == urls_of("<a href=' /a\n\tb '>x</a>")

    def test_are_relative_to_the_base_of_the_page(self) -> None:
        assert ["http://cdn.example/x/b"] == urls_of(
            "<base href='//cdn.example/x/y'><base href=/no/><a href=b>x</a>"
        )
        assert ["http://shop.example/x/b"] == urls_of(
            "<base target=_top><base href=/x/><a href=b>x</a>"
        )
        assert ["http://shop.example/list/b"] == urls_of(
            "<base href='data:text/html,x'><a href=b>x</a>"
        )
        assert [HERE] == urls_of("<a href=''>x</a>")

    def test_carry_queries_in_the_encoding_of_the_page(self) -> None:
        (link,) = links_of(
            "<a href='/é?q=é'>é</a>".encode("cp1252"),
            content_type="text/html; charset=windows-1252",
        )
        assert ("http://shop.example/%C3%A9?q=%E9", "é") == (link.url, link.text)

    @pytest.mark.parametrize(
        ("inner", "text"),
        [
            ("<img alt='A  photo'>", "A photo"),
            ("<span><img alt=''><img title='A title'></span>", "A title"),
            ("<!--no--><i aria-label=Menu></i>", "Menu"),
            (" text <img alt=no>", "text"),
            ("a<i>b</i><!-- c -->d", "a b d"),
            ("", "The link"),
            ("x" * 300, "x" * 200),
        ],
    )
    def test_say_what_they_show(self, inner: str, text: str) -> None:
        (link,) = links_of(f"<a href=/a title='The link'>{inner}</a>")
        assert text == link.text

    def test_are_at_most_two_thousand(self) -> None:
        links = links_of("<a href=/a>x</a>" * 3000)
        assert MAX_LINKS == len(links)
        assert list(range(1, MAX_LINKS + 1)) == [link.position for link in links]

    @pytest.mark.parametrize(
        "page",
        [
            "<i></i>" * 1_000_000 + "<a href=/a>x</a>" * 3000,
            "<a href=x>" * 900_000,
            "<a href='" + "x" * 9_000_000 + "'>y</a>",
            "<div>".join(f"<a href=/{n}>" for n in range(120)) + "x " * 4_000_000,
            "<a href='" + "&#10;" * 1_000_000 + "'>y</a>" * 100,
        ],
        ids=["many before", "nested", "long address", "long text", "line breaks"],
    )
    def test_are_found_in_linear_time(self, page: str) -> None:
        tree = parse_page(page.encode()).tree
        assert tree is not None
        begin = time.process_time()
        find_links(tree, HERE)
        assert time.process_time() - begin < 15

    @given(
        st.lists(
            st.sampled_from(
                [
                    "<a href=/a>",
                    "</a>",
                    "<a href='b c'>",
                    "<o:p>",
                    "<p>",
                    "<div>",
                    "</div>",
                    "<img alt=i>",
                    "<x,y>",
                ]
            )
        )
    )
    def test_stand_where_their_path_says(self, pieces: list[str]) -> None:
        tree = parse_page(("<p>" + "".join(pieces)).encode()).tree
        assert tree is not None
        links = find_links(tree, HERE)
        assert tree.xpath("//a") == [tree.xpath(link.xpath)[0] for link in links]
        assert links == find_links(tree, HERE)
