"""XPaths that name a node, and those that are refused."""

import time

import pytest
from lxml import html

from annotation.algorithms.anchors.node_paths import (
    BadXPath,
    NoSuchNode,
    SeveralNodes,
    select_node,
    select_nodes,
)

TREE = html.document_fromstring(
    """<html><body><div id="a" :src="x"><p class="price">one<b>two</b>three</p><p>four</p></div>
    <div id='it"s'><img src="/1.png" og:title="t"></div></body></html>"""
)


class TestSelecting:
    @pytest.mark.parametrize(
        ("xpath", "expected"),
        [
            ("/html/body/div[1]/p[1]", "/html/body/div[1]/p[1]"),
            ("/html[1]/body[1]/div[1]/p[2]", "/html/body/div[1]/p[2]"),
            ("/html/body/div[1]/p[1]/text()[2]", "/html/body/div[1]/p[1]/text()[2]"),
            ("/html/body/div[1]/p[2]/text()", "/html/body/div[1]/p[2]/text()[1]"),
            ("/html/body/div[2]/img/@src", "/html/body/div[2]/img/@src"),
            ("/html/body/div[2]/img/@og:title", "/html/body/div[2]/img/@og:title"),
            ("//div[@id='a']/@:src", "/html/body/div[1]/@:src"),
            ('//*[@id="a"]/p[last()]', "/html/body/div[1]/p[2]"),
            ("//*[@id='it\"s']/img", "/html/body/div[2]/img"),
            ("//p[@class = 'price']/b", "/html/body/div[1]/p[1]/b"),
            ("//img[@src][1]", "/html/body/div[2]/img"),
            (" /html/body/*[2] ", "/html/body/div[2]"),
        ],
    )
    def test_gives_the_node_with_its_path(self, xpath: str, expected: str) -> None:
        assert expected == select_node(TREE, xpath).xpath

    @pytest.mark.parametrize(
        ("xpath", "place"),
        [
            ("/html/body/div[3]/p", "the page has /html/body and nothing below"),
            ("/html/body/div[1]/tbody/p", "leave it out"),
            ("/xml/body", "not even its root"),
            ("/html/body/div[1]/p[1]/text()[3]", "the page has /html/body/div[1]/p[1]"),
            ("/html/body/div[2]/img/@alt", "the page has /html/body/div[2]/img"),
        ],
    )
    def test_says_how_far_a_path_leads(self, xpath: str, place: str) -> None:
        with pytest.raises(NoSuchNode, match="no node at") as error:
            select_node(TREE, xpath)
        assert place in str(error.value)

    def test_names_the_nodes_where_there_are_several(self) -> None:
        with pytest.raises(
            SeveralNodes, match=r"selects 2 nodes.*/html/body/div\[1\]/p\[1\]/text\(\)\[2\]"
        ):
            select_node(TREE, "//p[1]/text()")


class TestRefusing:
    @pytest.mark.parametrize(
        "xpath",
        [
            "",
            "/",
            "//",
            "div/p",
            "./p",
            "/html//p",
            "/html/body/..",
            "/html/body/descendant::p",
            "count(//b[count(//b)])",
            "//p[contains(., 'x')]",
            "//p[text()='x']",
            "//p[//b]",
            "//p[1 or 1]",
            "//p|//b",
            "(//p)[1]",
            "document('file:///etc/passwd')",
            "/html/body/p[position()<3]",
            "//*[re:test(., '(a+)+$')]",
            "//p[@class='a' and @id]",
            "//p['x']",
            "/html/body/p[0]",
            "/html/body/o:p",
            "/html/body/text()/..",
            "/html/body/p[1][1][1][1]",
            "/a" * 601,
            "/" + "a" * 9_000,
            "/html/body/@src\0",
            "/html/@a/b",
            "/html/@{x}y",
        ],
    )
    def test_takes_nothing_but_plain_paths(self, xpath: str) -> None:
        with pytest.raises(BadXPath) as error:
            select_nodes(TREE, xpath)
        assert len(str(error.value)) < 700

    def test_a_long_way_through_a_large_page_is_quick(self) -> None:
        tree = html.document_fromstring("<div>" * 200 + "<b>x</b>" * 50_000)
        began = time.process_time()
        select_nodes(tree, "//*" + "/*" * 180)
        select_nodes(tree, "//*[1][1][1]/text()")

        assert time.process_time() - began < 5
