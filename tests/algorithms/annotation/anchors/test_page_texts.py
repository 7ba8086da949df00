"""The displayed text of a page and its places."""

import hypothesis.strategies as st
import pytest
from hypothesis import given
from lxml import etree, html

from annotation.algorithms.anchors.page_texts import PageTexts, read_texts
from clustering.values.displayed import displayed


def read(body: str) -> PageTexts:
    return read_texts(
        html.document_fromstring(f"<html><head><title>T</title></head><body>{body}</body></html>")
    )


class TestDisplayed:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (" a \n\t b ", "a b"),
            ("25,00\xa0EUR", "25,00 EUR"),
            ("\u200bzero\u200b\ufeff width\u00ad", "zero width"),
            ("\ufeff", ""),
            ("", ""),
        ],
    )
    def test_is_one_line_of_what_can_be_seen(self, text: str, expected: str) -> None:
        assert expected == displayed(text)


class TestReading:
    @pytest.mark.parametrize(
        ("body", "expected"),
        [
            ("<b>$</b>25", "T $25"),
            ("<p>John</p><p>Smith</p>", "T John Smith"),
            ("John<br>Smith", "T John Smith"),
            ("John <b> Smith</b> ", "T John Smith"),
            ("a<!-- hidden -->b", "T ab"),
            ("a<script>x</script>b<style>y</style><template><p>z</p></template>", "T ab"),
            ("<i>\u200b</i>a<i> </i>b", "T a b"),
        ],
    )
    def test_shows_what_a_reader_sees(self, body: str, expected: str) -> None:
        assert expected == read(body).whole

    def test_numbers_text_nodes_as_xpath_does(self) -> None:
        page = read("<p>one<!-- x -->two<b>three</b> <i></i>four<script>s</script>five</p>")
        for node in page.nodes:
            path = page.tree.getroottree().getpath(node.element)
            nodes = etree.XPath(f"string({path}/text()[{node.number}])")(page.tree)
            assert displayed(str(nodes)) == page.text_of(node)
        assert ["T", "one", "two", "three", "four", "five"] == [
            page.text_of(node) for node in page.nodes
        ]

    def test_knows_the_span_of_each_element(self) -> None:
        page = read("<div><p>John <b>B.</b></p> Smith</div>")
        spans = {element.tag: page.span(element) for element in page.tree.iter()}
        texts = {tag: page.whole[span[0] : span[1]] for tag, span in spans.items() if span}

        assert {"p": "John B.", "b": "B.", "div": "John B. Smith"} == {
            tag: texts[tag] for tag in ("p", "b", "div")
        }

    def test_an_element_that_shows_nothing_has_no_span(self) -> None:
        page = read("<p> </p><script>x</script>")

        assert [] == [
            element.tag for element in page.tree.iter("p", "script") if page.span(element)
        ]

    def test_says_which_nodes_a_stretch_begins_and_ends_in(self) -> None:
        page = read("<p>one</p><p>two</p><p>three</p>")
        start = page.whole.index("one") + 1
        ends = page.nodes_between(start, page.whole.index("three"))

        assert ends is not None
        assert ["one", "two"] == [page.text_of(node) for node in ends]

    @given(
        st.recursive(
            st.sampled_from(["a", " b ", "\n", "<!--c-->", "<br>", "\u200b"]),
            lambda inner: st.builds(
                lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>",
                st.sampled_from(["div", "span", "p", "b", "script"]),
                st.lists(inner, max_size=4),
            ),
            max_leaves=15,
        )
    )
    def test_every_place_selects_the_text_of_its_node(self, body: str) -> None:
        page = read(body)
        for node in page.nodes:
            path = page.tree.getroottree().getpath(node.element)
            nodes = etree.XPath(f"string({path}/text()[{node.number}])")(page.tree)
            assert displayed(str(nodes)) == page.text_of(node)
