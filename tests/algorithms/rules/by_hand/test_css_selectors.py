"""CSS selectors that people write select the same as in a browser, or are refused."""

from __future__ import annotations

import pytest
from lxml import html

from rules.algorithms.by_hand.css_selectors import BadSelector, css_to_xpath

PAGE = html.document_fromstring(
    """<html><body>
    <h1 id="top" class="title big">Rope</h1>
    <ul><li class="price old">9</li><li class="price">7 <b>EUR</b></li><li class="prices">x</li></ul>
    <p lang="en-GB">one</p><div data-kind="it's">two</div><p>three<br></p>
    <img src="/a.png" alt=""><img src="/b.jpg" alt="b">
    </body></html>"""
)
SELECTED = [
    ("h1::text", ["Rope"]),
    ("#top::text", ["Rope"]),
    (".title.big::text", ["Rope"]),
    ("li.price::text", ["9", "7 "]),
    ("ul > li b::text", ["EUR"]),
    ("h1 + ul li:first-child::text", ["9"]),
    ("h1 + p", []),
    ("h1 ~ p::text", ["one", "three"]),
    ("li:nth-child(2)::text", ["7 "]),
    ("li:last-child::text", ["x"]),
    ("p:nth-of-type(2)::text", ["three"]),
    ("p:first-of-type::text", ["one"]),
    ("b:only-child::text", ["EUR"]),
    ("br:empty", ["br"]),
    ("[lang]::text", ["one"]),
    ("p[lang^=en]::text", ["one"]),
    ('[lang="en-GB"]::text', ["one"]),
    ("""[data-kind="it's"]::text""", ["two"]),
    ("img[src$='.png']::attr(src)", ["/a.png"]),
    ("img[src*='/b.']::attr(src)", ["/b.jpg"]),
    ("img[alt='']::attr(src)", ["/a.png"]),
    ("li[class~=old]::text", ["9"]),
    ("*:nth-of-type(2)", None),
    ("a:hover", []),
    ("li:not(.old)::text", ["7 ", "x"]),
    ("li:has(b)::text", ["7 "]),
    ("h1:hoover", None),
    ("h1, h2", None),
    ("li:nth-child(2n)::text", ["7 "]),
    ("", None),
    ("h1 >", None),
    ("h1::before", None),
    ("//h1", None),
    ("h1::text b", None),
    (":not(" * 200 + "a" + ")" * 200, None),
    ("a" * 1001, None),
]


@pytest.mark.parametrize(("selector", "expected"), SELECTED)
def test_selects_as_a_browser_does_or_is_refused(selector: str, expected: list[str] | None) -> None:
    if expected is None:
        with pytest.raises(BadSelector, match=r"is not understood|is several selectors|at most"):
            css_to_xpath(selector)
        return
    selected = PAGE.xpath(css_to_xpath(selector))
    assert isinstance(selected, list)
    assert expected == [str(getattr(each, "tag", each)) for each in selected]


def test_within_a_record_it_begins_there() -> None:
    assert css_to_xpath("b", start=".//") == ".//b"
