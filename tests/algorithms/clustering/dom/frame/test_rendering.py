"""The rendering keeps every element, text and offset of the stored page, and nothing that acts."""

from __future__ import annotations

import re
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from clustering.dom.frame.rendering import (
    FrameFiles,
    FrameScript,
    number_elements,
    number_of,
    render_page,
    wanted_files,
)
from clustering.dom.page import parse_page
from tests.algorithms.mis_nested import mis_nested

Place: TypeAlias = "tuple[int | None, list[str]]"
BASE = "https://shop.example/p/1"
ACTIVE = re.compile(
    r"\son[a-z]+=|javascript:|http-equiv|srcdoc|formaction|\sping=|\saction=|\starget=",
    re.IGNORECASE,
)


def rendered(html: str, **options: object) -> str:
    tree = parse_page(html.encode(), "text/html; charset=utf-8").tree
    assert tree is not None
    return render_page(tree, base_url=BASE, **options).decode()  # type: ignore[arg-type]


def body_of(html: str, **options: object) -> str:
    """Return the rendered body without numbers."""
    text = rendered(html, **options)
    inner = re.search(r"<body[^>]*>(.*)</body>", text, re.DOTALL)
    assert inner is not None
    return re.sub(r' data-n="\d+"', "", inner[1])


def numbers_and_texts(html: str) -> tuple[list[Place], list[Place]]:
    """Return each element's parent and texts by number: as stored, and as rendered, read as XML."""
    tree = parse_page(html.encode(), "text/html; charset=utf-8").tree
    assert tree is not None
    stored = number_elements(tree)
    place: dict[etree._Element | None, int] = {
        element: number for number, element in enumerate(stored)
    }
    shown = etree.fromstring(render_page(tree, base_url=BASE))
    by_number = {
        int(one.get("data-n", "")): one for one in shown.iter(etree.Element) if one.get("data-n")
    }
    wanted = [(place.get(each.getparent()), stored_texts(each)) for each in stored]
    return wanted, [
        (parent_number(by_number[n]), shown_texts(by_number[n])) for n in range(len(by_number))
    ]


def stored_map(html: str) -> list[list[object]]:
    """Return parent's number and texts of each element of the stored tree."""
    return [[parent, texts] for parent, texts in numbers_and_texts(html)[0]]


def stored_texts(element: etree._Element) -> list[str]:
    if element.tag in {"script", "style", "template"}:
        return []
    texts = [text for text in (element.text, *(child.tail for child in element)) if text]
    return [re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "\ufffd", text) for text in texts]


def shown_texts(element: etree._Element) -> list[str]:
    if etree.QName(element).localname in {
        "style",
        "vertex-style",
        "vertex-script",
        "vertex-template",
    }:
        return []
    texts = [element.text]
    for child in element:
        is_added = isinstance(child.tag, str) and child.get("data-n") is None
        if is_added and etree.QName(child).localname == "tbody":
            texts += [child.text, *(row.tail for row in child)]
        texts.append(child.tail)
    return [text for text in texts if text]


def parent_number(element: etree._Element) -> int | None:
    parent = element.getparent()
    while parent is not None and parent.get("data-n") is None:
        parent = parent.getparent()
    return None if parent is None else int(parent.get("data-n", ""))


class TestMap:
    @given(st.integers(0, 10**9))
    def test_mis_nested_documents_keep_an_exact_map(self, seed: int) -> None:
        stored, shown = numbers_and_texts(mis_nested(seed))

        assert stored == shown

    @given(st.integers(0, 10**9))
    def test_nothing_that_acts_is_left_of_them(self, seed: int) -> None:
        tags = re.findall(r"<[^!][^>]*>", rendered(mis_nested(seed)))

        assert [] == [tag for tag in tags if ACTIVE.search(tag)]

    def test_numbers_are_places_in_document_order(self) -> None:
        tree = parse_page(b"<p>a<b>b</b><!-- c --></p><i>d</i>").tree
        assert tree is not None

        elements = number_elements(tree)
        assert ["html", "body", "p", "b", "i"] == [element.tag for element in elements]
        assert 3 == number_of(tree, elements[3])

    def test_the_deepest_page_is_read(self) -> None:
        stored, shown = numbers_and_texts("<div>" * 240 + "x")

        assert stored == shown

    def test_rows_get_the_body_that_browsers_give_them(self) -> None:
        html = (
            "<table><caption>c</caption><tr><td>1</td></tr> <!-- x --> "
            "<tr><td>2</td></tr><tfoot></tfoot></table>"
        )

        assert (
            "<table><caption>c</caption><tbody><tr><td>1</td></tr> <!----> "
            "<tr><td>2</td></tr></tbody>"
            "<tfoot></tfoot></table>" == body_of(html)
        )

    def test_text_on_both_sides_of_a_comment_stays_two(self) -> None:
        assert "<p>a<!---->b<!---->c</p>" == body_of("<p>a<!-- x -->b<?php y ?>c</p>")


class TestSafety:
    @pytest.mark.parametrize(
        ("html", "shown"),
        [
            ("<p><script>ran()</script>", "<p><vertex-script></vertex-script></p>"),
            ("<p onclick=ran() class=a>x</p>", '<p class="a">x</p>'),
            ("<a href=javascript:ran() target=_top ping=/p>x</a>", ('<a href="#." '
                                                                   'tabindex="-1">x</a>')),
            ("<a name=top>x</a>", '<a tabindex="-1">x</a>'),
            ("<form action=/a method=post><input name=q formaction=/b></form>", '<form><input name="q" tabindex="-1"></input></form>'),
            ("<iframe src=/a width=300 height=90></iframe>", '<vertex-iframe width="300" height="90" style="--vertex-width:300px;--vertex-height:90px;"></vertex-iframe>'),
            ("<p>x<meta http-equiv=refresh content='0;url=/a'></p>", "<p>x<vertex-meta></vertex-meta></p>"),
            ("<x-price style='top:1px;background:url(/a)'>x</x-price>", '<x-price style="top:1px;background:linear-gradient(transparent,transparent)">x</x-price>'),
            ("<a:b>x</a:b>", "<vertex-unknown>x</vertex-unknown>"),
            ("<p>a<wbr>b</p>", "<p>a<vertex-wbr>b</vertex-wbr></p>"),
            (("<svg viewbox='0 0 1 1' onload=ran()><lineargradient id=g /><use xlink:href='#g' "
             "/><use href='/x#g'/></svg>"),
             ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><linearGradient '
             'id="g"></linearGradient><use href="#g"></use><use></use></svg>')),
            (("<svg><rect fill='url(#g)' stroke='url(http://x/#g)' "
             "transform='rotate(4)'/><script>ran()</script></svg>"),
             ('<svg xmlns="http://www.w3.org/2000/svg"><rect fill="url(#g)" '
             'transform="rotate(4)"></rect><g></g></svg>')),
            ("<img name=currentScript id=a>", '<img id="a"></img>'),
            ("<p><style>@import '/a.css';p{color:red}</style>", "<p><style>p{color:red}</style></p>"),
            ("<p><style type=text/template><b></style>", '<p><vertex-style type="text/template"></vertex-style></p>'),
            ("<p data-n=9 data-x=1 aria-label=l>x</p>", '<p data-x="1" aria-label="l">x</p>'),
        ],
    )  # fmt: skip
    def test_what_acts_goes_and_its_place_stays(self, html: str, shown: str) -> None:
        assert shown == body_of(html)

    def test_the_only_script_is_the_frames_own(self) -> None:
        script = FrameScript("/static/inside.js", "once", 'tok"en', "https://vertex.example")
        text = rendered("<script>ran()</script><p>x</p>", script=script)

        assert [
            (
                '<script nonce="once" src="/static/inside.js" data-token="tok&quot;en" '
                'data-parent="https://vertex.example">'
            )
        ] == re.findall(r"<script[^>]*>", text)
        assert text.endswith("</script></html>")


class TestFiles:
    FILES = FrameFiles(
        lambda url, kind: f"/frame-assets/{kind}/{url[-5:]}" if "gone" not in url else None,
        {"https://shop.example/s.css": 'p{background:url("image:https://shop.example/b.png")}'}.get,
    )

    def test_stored_files_stand_where_the_page_names_them(self) -> None:
        html = (
            "<link rel=stylesheet href=/s.css media=print onload=x>"
            "<body background=/c.png><img src=d.png><img data-src=e.png src='data:,'>"
        )
        text = rendered(html, files=self.FILES)

        assert 'media="all"' in text
        assert '>p{background:url("/frame-assets/image/b.png")}</style>' in text
        assert 'background="/frame-assets/image/c.png"' in text
        assert ["/frame-assets/image/d.png", "/frame-assets/image/e.png"] == re.findall(
            r'src="(/[^"]*)"', text
        )

    def test_what_is_missing_is_a_grey_box_of_its_size(self) -> None:
        text = rendered("<img src=/gone.png width=120 height=40>", files=self.FILES)

        assert "data:image/svg+xml," in text
        assert "width=%22120%22 height=%2240%22" in text

    def test_all_that_a_page_is_drawn_with_is_wanted_once_in_its_order(self) -> None:
        html = (
            "<base href=/shop/><link rel='stylesheet' href=a.css><link rel='alternate "
            "stylesheet' href=no.css>"
            "<link rel=preload as=style "
            "href=b.css><style>@font-face{src:url(f.woff2)}p{background:url(c.png)}</style>"
            "<img src=d.png><img src=d.png><img src='data:image/png;base64,x'><img "
            "srcset='e.png 1x, f.png 2x'>"
            "<p style='background:url(g.png)'><script src=x.js></script><iframe "
            "src=y></iframe><svg><image href=h.png /></svg>"
        )
        tree = parse_page(html.encode()).tree
        assert tree is not None

        wanted = wanted_files(tree, base_url=BASE, sheet_of=lambda _: None)
        assert {
            "a.css": "sheet", "b.css": "sheet", "f.woff2": "font", "c.png": "image",
            "d.png": "image", "e.png": "image", "g.png": "image", "h.png": "image",
        } == {url.removeprefix("https://shop.example/shop/"): kind for url, kind in wanted.items()}  # fmt: skip
