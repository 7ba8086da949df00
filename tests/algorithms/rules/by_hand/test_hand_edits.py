"""A stylesheet changed by hand: single XPaths, whole texts, and what is refused."""

from __future__ import annotations

from functools import partial

import pytest
from lxml import etree
from lxml.html import HtmlElement

from clustering.dom.page import parse_page
from rules.algorithms.by_hand import hand_edits
from rules.algorithms.by_hand.hand_edits import (
    HandWritten,
    empty_stylesheet,
    same_templates,
    stylesheet_text,
    tells_places,
    within_record,
)
from rules.algorithms.by_hand.sandbox import StylesheetRefused, read_stylesheet
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import Alternative, AttributeRule, Boundary, ClusterRule, Selection
from rules.algorithms.running.run_rule import run_stylesheet
from rules.algorithms.stylesheet.stylesheet import stylesheet_of
from rules.bundle.xpath_checks import check_xpaths

PAGE = """<html><body><h1>&nbsp;Oak desk</h1><p class="price">Price: 25 EUR</p><i>oak</i><i> </i><i>old</i>
<img alt="A desk" data-id="7"><ul><li><b>One</b></li><li><b>Two</b></li></ul></body></html>"""
IMPORTED = """<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:template match="/">
    <record>
      <value name="name"><xsl:value-of select="//h1"/></value>
    </record>
  </xsl:template>
</xsl:stylesheet>
"""

with_xpaths = partial(hand_edits.with_xpaths, check=check_xpaths)


def tree_of_page() -> HtmlElement:
    tree = parse_page(PAGE.encode()).tree
    assert tree is not None
    return tree


def found(text: str) -> dict[str, list[tuple[str, str]]]:
    """Return each value of the page with its place."""
    (record,) = run_stylesheet(text, tree_of_page(), nodes=True)
    return {
        name: [(value.text, value.node) for value in values]
        for name, values in record.values.items()
    }


def written(
    attribute: str, *xpaths: str, is_multi: bool = False, cut: Selection | None = None
) -> HandWritten:
    return HandWritten(attribute, xpaths, is_multi, (cut,) if cut else ())


class TestXPaths:
    def test_texts_elements_and_attributes_are_values_that_tell_where_they_stand(self) -> None:
        text = with_xpaths(
            empty_stylesheet(["name", "tags", "id"]),
            [
                written("name", "//h1/text()"),
                written("tags", "//i", is_multi=True),
                written("id", "//@data-id"),
            ],
        )

        assert {
            "name": [("\xa0Oak desk", "/*[1]/*[1]/*[1]/text()[1]")],
            "tags": [("oak", "/*[1]/*[1]/*[3]"), ("old", "/*[1]/*[1]/*[5]")],
            "id": [("7", "/*[1]/*[1]/*[6]/@data-id")],
        } == found(text)

    def test_the_first_that_selects_something_serves(self) -> None:
        text = with_xpaths(empty_stylesheet(["name"]), [written("name", "//h7", "//h1", "//b")])

        assert [("\xa0Oak desk", "/*[1]/*[1]/*[1]")] == found(text)["name"]

    def test_the_part_of_the_text_is_still_cut_out(self) -> None:
        cut = Selection(prefix="Price: ", first=1, last=1)
        text = with_xpaths(empty_stylesheet(["price"]), [written("price", "//p", cut=cut)])

        assert ["25"] == [value for value, _ in found(text)["price"]]

    def test_other_attributes_stay_as_they_are_and_the_same_edit_twice_changes_nothing(
        self,
    ) -> None:
        before = with_xpaths(empty_stylesheet(["name", "id"]), [written("name", "//h1")])
        after = with_xpaths(before, [written("id", "//img/@data-id")])

        was, now = (read_stylesheet(each.encode()) for each in (before, after))
        assert {"name"} == same_templates(was, now, ["name", "id"])
        assert after == with_xpaths(after, [written("id", "//img/@data-id")])
        assert "then changed by hand" in after

    def test_an_imported_stylesheet_gets_the_attribute_and_the_parameter_that_it_lacks(
        self,
    ) -> None:
        assert not tells_places(read_stylesheet(IMPORTED.encode()))
        text = with_xpaths(IMPORTED, [written("id", "//img/@data-id")])

        assert tells_places(read_stylesheet(text.encode()))
        assert {"name": [("\xa0Oak desk", "")], "id": [("7", "/*[1]/*[1]/*[6]/@data-id")]} == found(
            text
        )

    def test_fields_of_a_list_are_looked_for_within_each_record(self) -> None:
        first = Alternative("xpath", "element", (Feature("tag", 0, ("li",)),))
        text = stylesheet_of(ClusterRule((AttributeRule("name"),), Boundary(first)))
        assert {"name"} == within_record(read_stylesheet(text.encode()), ["name"])

        text = with_xpaths(text, [written("name", ".//b/text()")])
        records = run_stylesheet(text, tree_of_page(), nodes=True)
        assert ["One", "Two"] == [record.values["name"][0].text for record in records]
        for outside in ("//b", "b | //i", "(.//b)[1]"):
            with pytest.raises(StylesheetRefused, match="does not begin at the record"):
                with_xpaths(text, [written("name", outside)])

    @pytest.mark.parametrize(
        ("xpath", "reason"),
        [
            ("//h1[", "name, line 2: .*no XPath"),
            ("count(//h1)", "name, line 2: .*gives a float, not nodes"),
            ("document('x')", "another file"),
            ("//h1) | (//b", "no XPath"),
            ("$record", "variable"),
            ("re:test(., 'a')", "not allowed"),
        ],
    )
    def test_what_is_no_xpath_of_a_rule_is_told_with_its_line(
        self, xpath: str, reason: str
    ) -> None:
        with pytest.raises(StylesheetRefused, match=reason):
            with_xpaths(empty_stylesheet(["name"]), [written("name", "//h1", xpath)])

    def test_an_xpath_that_never_ends_is_stopped(self) -> None:
        xpath = "//self::node()"
        for _ in range(40):
            xpath = f"//self::node()[count({xpath})>0]"
        # On a busy machine the clock ends it before it used up its processor time.
        with pytest.raises(
            StylesheetRefused,
            match=r"name, line 1: .*was stopped: "
            r"it (ran longer than 5 seconds|did not come to an end)",
        ):
            with_xpaths(empty_stylesheet(["name"]), [written("name", xpath)])

    def test_a_text_that_is_split_needs_the_stylesheet(self) -> None:
        with pytest.raises(StylesheetRefused, match="splits the text at ','"):
            with_xpaths(
                empty_stylesheet(["name"]), [written("name", "//h1", cut=Selection(separator=","))]
            )

    def test_a_stylesheet_without_room_for_an_attribute_is_told(self) -> None:
        squeezed = IMPORTED.replace("\n", "")
        with pytest.raises(StylesheetRefused, match="no template attribute-id"):
            with_xpaths(squeezed, [written("id", "//img")])


class TestTexts:
    def test_a_file_is_read_in_the_encoding_that_it_declares_and_kept_as_utf_8(self) -> None:
        latin = '<?xml version="1.0" encoding="ISO-8859-1"?>\r\n' + IMPORTED.replace(
            "//h1", "//h1[.='é']"
        )
        text = stylesheet_text(latin.encode("latin-1"))

        assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<xsl:stylesheet')
        assert "é" in text
        assert "\r" not in text
        assert text == stylesheet_text(text) == stylesheet_text(text.encode())

    @pytest.mark.parametrize(
        ("given", "reason"),
        [
            ("<a>\0</a>", "characters that XML does not know"),
            (b"\x89PNG\r\n\x1a\n", "no well-formed XML"),
            ("x" * (1024 * 1024 + 1), "larger than"),
            (b"<" * (1024 * 1024 + 1), "at most"),
        ],
    )
    def test_what_is_no_text_of_a_stylesheet_is_refused(
        self, given: bytes | str, reason: str
    ) -> None:
        with pytest.raises(StylesheetRefused, match=reason):
            stylesheet_text(given)

    def test_comments_do_not_make_templates_differ(self) -> None:
        before = with_xpaths(empty_stylesheet(["name"]), [written("name", "//h1")])
        after = before.replace("written by hand", "said otherwise")

        assert before != after
        old, new = (etree.fromstring(text.encode()) for text in (before, after))
        assert {"name"} == same_templates(old, new, ["name"])
