"""Anchors: the node and text of an annotation, found again."""

import hypothesis.strategies as st
import pytest
from hypothesis import given
from lxml import html

from annotation.algorithms.anchors.anchoring import (
    AmbiguousText,
    Anchor,
    AnchorLost,
    EmptyNode,
    TextElsewhere,
    TextMissing,
    anchor_node,
    displayed_text,
    find_again,
    find_text,
    locate,
)
from annotation.algorithms.anchors.node_paths import AnchorProblem, SeveralNodes, select_node
from annotation.algorithms.anchors.page_texts import PageTexts, read_texts
from clustering.dom.page import parse_page
from vertex.demo import sites
from vertex.demo.sites.site import annotation_lines

P = "/html/body/p"


def read(body: str, head: str = "<title>Shop</title>") -> PageTexts:
    return read_texts(
        html.document_fromstring(f"<html><head>{head}</head><body>{body}</body></html>")
    )


class TestAnchorOfANode:
    def test_names_the_node_in_several_ways(self) -> None:
        page = read("<h1>Trail Runner</h1><p>Price: <b>25 EUR</b> each</p>")
        expected = Anchor(
            xpath=f"{P}/b",
            quote="25 EUR",
            prefix="Shop Trail Runner Price: ",
            suffix=" each",
            position=25,
        )
        assert expected == anchor_node(page, "//b")

    def test_takes_a_part_of_the_text(self) -> None:
        anchor = anchor_node(read("<p>4 of 25 EUR each</p>"), f"{P}/text()[1]", "25 EUR")

        assert ("25 EUR", 5, 11) == (anchor.quote, anchor.start, anchor.end)

    def test_a_part_at_an_end_has_no_offset_there(self) -> None:
        page = read("<p>Price 25</p>")

        assert (0, 5) == (anchor_node(page, P, "Price").start, anchor_node(page, P, "Price").end)
        assert (6, None) == (anchor_node(page, P, "25").start, anchor_node(page, P, "25").end)
        assert (None, None) == (
            anchor_node(page, P, "Price 25").start,
            anchor_node(page, P, "Price 25").end,
        )

    @pytest.mark.parametrize("text", ["25\xa0EUR", " 25 \u200bEUR ", "25\n EUR\ufeff"])
    def test_compares_what_can_be_seen(self, text: str) -> None:
        page = read("<p>\u200b25&nbsp;EUR</p>")

        assert (None, "25 EUR") == (
            anchor_node(page, P, text).start,
            anchor_node(page, P, text).quote,
        )

    def test_leaves_blanks_out_where_an_exact_comparison_fails(self) -> None:
        anchor = anchor_node(read("<p>about <b>John</b><b>Smith</b>, poet</p>"), P, "John Smith")

        assert ("JohnSmith", 6, 15) == (anchor.quote, anchor.start, anchor.end)

    def test_takes_the_value_of_an_attribute(self) -> None:
        anchor = anchor_node(read("<img src=' /1.png '>"), "//img/@src", "/1.png")

        assert Anchor("/html/body/img/@src", "/1.png") == anchor

    def test_takes_text_that_is_not_shown(self) -> None:
        page = read("", '<script type="application/ld+json">{"name": "Runner"}</script>')
        anchor = anchor_node(page, "/html/head/script/text()", "Runner")

        assert ("Runner", 10, 16) == (anchor.quote, anchor.start, anchor.end)

    def test_the_text_decides_between_several_nodes(self) -> None:
        page = read("<li>red</li><li>blue</li><li>dark blue</li>")

        assert "/html/body/li[2]" == anchor_node(page, "//li", "blue").xpath
        assert "/html/body/li[3]" == anchor_node(page, "//li", "dark").xpath
        with pytest.raises(SeveralNodes):
            anchor_node(page, "//li")

    def test_says_what_the_node_shows_instead(self) -> None:
        with pytest.raises(TextElsewhere, match="/html/body/p shows '25 EUR', not '26 EUR'"):
            anchor_node(read("<p>25 EUR</p>"), P, "26 EUR")

    def test_names_the_attributes_of_an_element_that_shows_nothing(self) -> None:
        with pytest.raises(EmptyNode, match=r"does an attribute hold the value \(@alt, @src\)"):
            anchor_node(read("<img alt='' src='/1.png'>"), "//img")

    def test_refuses_a_text_without_end(self) -> None:
        with pytest.raises(AnchorProblem, match="longer than 200,000 characters"):
            anchor_node(read("<p>x</p>"), P, "x" * 200_001)


class TestRuns:
    PAGE = "<p>Main Street 1<br>12345 Town<br>Country</p>"

    def test_a_value_runs_from_one_node_to_another(self) -> None:
        anchor = anchor_node(read(self.PAGE), f"{P}/text()[1]", "", f"{P}/text()[2]")

        assert ("Main Street 1 12345 Town", None, None) == (anchor.quote, anchor.start, anchor.end)
        assert f"{P}/text()[2]" == anchor.end_xpath

    def test_its_text_may_be_a_part_of_both(self) -> None:
        anchor = anchor_node(read(self.PAGE), f"{P}/text()[1]", "Street 1 12345", f"{P}/text()[2]")

        assert (5, 5) == (anchor.start, anchor.end)

    def test_refuses_an_end_before_the_beginning(self) -> None:
        with pytest.raises(AnchorProblem, match="does not come after"):
            anchor_node(read(self.PAGE), f"{P}/text()[2]", "", f"{P}/text()[1]")

    def test_refuses_a_text_that_does_not_reach_both_nodes(self) -> None:
        with pytest.raises(TextElsewhere):
            anchor_node(read(self.PAGE), f"{P}/text()[1]", "Main Street", f"{P}/text()[2]")


class TestFindingAText:
    @pytest.mark.parametrize(
        ("body", "text", "expected"),
        [
            ("<p>25 EUR</p><p>25 EUR each</p>", "25 EUR", f"{P}[1]/text()[1]"),
            ("<p><b>$</b>25</p>", "$25", P),
            ("<p><span><b>$</b>25</span></p>", "$25", f"{P}/span"),
            ("<p>Price: 25 EUR</p>", "25 EUR", f"{P}/text()[1]"),
            ("<img src='/1.png'>", "/1.png", "/html/body/img/@src"),
            ("<p>x</p>", "Shop", "/html/head/title/text()[1]"),
            ("<p>1925</p><p>in 25</p>", "25", f"{P}[2]/text()[1]"),
            ("<p>Shop</p>", "Shop", f"{P}/text()[1]"),
        ],
    )
    def test_gives_the_only_node_that_shows_it(self, body: str, text: str, expected: str) -> None:
        assert expected == find_text(read(body), text).xpath

    def test_gives_a_run_where_no_node_shows_all_of_it(self) -> None:
        anchor = find_text(read("<p>by John<br>Smith, poet</p>"), "John Smith")

        assert (f"{P}/text()[1]", f"{P}/text()[2]") == (anchor.xpath, anchor.end_xpath)
        assert ("John Smith", 3, 5) == (anchor.quote, anchor.start, anchor.end)

    @pytest.mark.parametrize(
        ("body", "candidates"),
        [
            ("<p>25</p><b>x</b><p>25</p>", [f"{P}[1]/text()[1]", f"{P}[2]/text()[1]"]),
            ("<p>a 25</p><p>b 25</p>", [f"{P}[1]/text()[1]", f"{P}[2]/text()[1]"]),
            ("<p><i>2</i>5</p><p>2<i>5</i></p>", [f"{P}[1]", f"{P}[2]"]),
            ("<a href=25></a><a id=25></a>", ["/html/body/a[1]/@href", "/html/body/a[2]/@id"]),
        ],
    )
    def test_an_ambiguous_text_lists_its_candidates(self, body: str, candidates: list[str]) -> None:
        with pytest.raises(AmbiguousText) as error:
            find_text(read(body), "25")

        assert candidates == error.value.candidates
        assert all(xpath in str(error.value) for xpath in candidates)

    @pytest.mark.parametrize("text", ["26", "", "\u200b", "5"])
    def test_a_text_that_no_node_shows_is_missing(self, text: str) -> None:
        with pytest.raises(TextMissing):
            find_text(read("<p>25 EUR</p>"), text)

    def test_scripts_show_nothing(self) -> None:
        with pytest.raises(TextMissing):
            find_text(read("<script>Runner</script>"), "Runner")


class TestFindingAgain:
    def test_the_path_is_enough_while_it_shows_the_quote(self) -> None:
        page = read("<p>25 EUR</p><p>25 EUR</p>")
        anchor = anchor_node(page, f"{P}[2]")

        assert (anchor, "xpath") == find_again(page, anchor)

    @pytest.mark.parametrize(
        ("body", "xpath", "how"),
        [
            (
                "<div><p>Was: 30 EUR</p><p>Now: <b>25 EUR</b></p></div>",
                "/html/body/div/p[2]/b",
                "quote",
            ),
            ("<p>Was: <b>25 EUR</b></p><p>Now: <b>25 EUR</b></p>", f"{P}[2]/b", "quote"),
            ("<p>x <u>25 EUR</u> y</p><p>x <u>25 EUR</u> y</p>", f"{P}[1]/u", "position"),
        ],
    )
    def test_quote_context_and_position_find_what_moved(
        self, body: str, xpath: str, how: str
    ) -> None:
        before = read("<p>Now: <b>25 EUR</b></p>", "")
        node = find_again(read(body, ""), anchor_node(before, f"{P}/b"))

        assert (xpath, how) == (node.anchor.xpath, node.how)

    def test_a_part_of_a_text_is_found_again(self) -> None:
        anchor = anchor_node(read("<p>Price: 25 EUR</p>"), f"{P}/text()", "25")
        node = find_again(read("<div>x</div><div>Your price: 25 EUR</div>"), anchor)

        assert ("/html/body/div[2]/text()[1]", 12, 14) == (
            node.anchor.xpath,
            node.anchor.start,
            node.anchor.end,
        )

    def test_a_run_is_found_again(self) -> None:
        anchor = anchor_node(read("<p>a<br>b</p>"), f"{P}/text()[1]", "", f"{P}/text()[2]")
        node = find_again(read("<div><u>x</u> a<br>b</div>"), anchor)

        assert ("a b", "/html/body/div/text()[2]") == (node.anchor.quote, node.anchor.end_xpath)

    def test_an_attribute_is_found_by_name_and_value(self) -> None:
        anchor = anchor_node(read("<img src='/1.png'>"), "//img/@src")
        node = find_again(read("<a href='/1.png'><img src='/1.png'></a>"), anchor)

        assert ("/html/body/a/img/@src", "quote") == (node.anchor.xpath, node.how)

    @pytest.mark.parametrize("xpath", ["//img/@src", f"{P}/b"])
    def test_says_that_it_is_lost(self, xpath: str) -> None:
        anchor = anchor_node(read("<p><b>25 EUR</b></p><img src='/1.png'>"), xpath)

        with pytest.raises(AnchorLost, match="neither at"):
            find_again(read("<p>nothing</p>"), anchor)

    @given(
        st.lists(st.sampled_from(["red", "blue", "25 EUR", "a b"]), min_size=1, max_size=6),
        st.data(),
    )
    def test_on_the_same_page_every_anchor_finds_itself(
        self, texts: list[str], data: st.DataObject
    ) -> None:
        page = read("".join(f"<p>{text}<b>{text}</b></p>" for text in texts))
        node = data.draw(st.sampled_from(page.nodes))
        anchor = anchor_node(
            page, f"{page.tree.getroottree().getpath(node.element)}/text()[{node.number}]"
        )

        assert anchor == find_again(page, anchor).anchor


class TestLocating:
    @pytest.mark.parametrize(
        ("shown", "text", "expected"),
        [
            ("25 of 5 stars", "5", (6, 7)),
            ("125", "5", (2, 3)),
            ("John Smith", "JohnSmith", (0, 10)),
            ("JohnSmith", "John Smith", (0, 9)),
            ("a", "b", None),
            ("", "b", None),
        ],
    )
    def test_prefers_word_boundaries(
        self, shown: str, text: str, expected: tuple[int, int] | None
    ) -> None:
        assert expected == locate(shown, text)


@pytest.mark.parametrize("name", ["alpine-shop", "tinker-board"])
def test_all_values_of_the_demo_sites_can_be_anchored(name: str) -> None:
    n_anchored = 0
    for shown in list(sites.load(name, "1").pages.values())[::7]:
        lines = [line for line in annotation_lines(shown) if "xpath" in line]
        tree = parse_page(shown.body, shown.content_type).tree
        assert tree is not None
        page = read_texts(tree)
        for line in lines:
            anchor = anchor_node(page, line["xpath"], line["text"])
            assert line["xpath"] == anchor.xpath
            assert anchor.quote.replace(" ", "") == line["text"].replace(" ", "")
            assert anchor.quote in displayed_text(page, select_node(page.tree, anchor.xpath))
            n_anchored += 1
    assert n_anchored > 20
