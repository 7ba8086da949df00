"""Evidence that a spot is an attribute's value."""

from __future__ import annotations

from annotation.algorithms.suggestions.declared import read_declared
from annotation.algorithms.suggestions.evidence import (
    Evidence,
    KnownValue,
    WantedAttribute,
    gather,
)
from annotation.algorithms.suggestions.page_index import PageIndex
from tests.algorithms.annotation.suggestions.test_suggestions import tree_of


def evidence(html: str, wanted: WantedAttribute, *known: KnownValue) -> dict[str, Evidence]:
    """Return the best evidence of each source."""
    tree = tree_of(html)
    found = gather(PageIndex(tree, "https://shop.example/"), read_declared(tree), wanted, known)
    best: dict[str, Evidence] = {}
    for one in sorted(found, key=lambda one: -one.weight):
        best.setdefault(one.source, one)
    return best


def test_a_declaration_that_is_not_displayed_is_suggested_itself() -> None:
    found = evidence(
        "<meta name='description' content='A rope of hemp'><p>Rope</p>",
        WantedAttribute("description"),
    )
    assert ("content", "A rope of hemp") == (
        found["meta"].spots[0].node.name,
        found["meta"].spots[0].text,
    )


def test_microdata_points_at_its_own_element() -> None:
    html = "<div itemscope><p>9</p><p itemprop='sku'>9</p></div>"
    found = evidence(html, WantedAttribute("sku"))
    assert "sku" == found["microdata"].spots[0].node.element.get("itemprop")


def test_a_class_that_is_a_name_of_the_attribute_counts() -> None:
    found = evidence("<p class='sku'>S-1</p><p class='old'>S-2</p>", WantedAttribute("sku"))
    assert "S-1" == found["labels"].spots[0].text


def test_properties_are_compared_without_underscores() -> None:
    html = "<div itemscope><p itemprop='prepTime'>5 min</p></div>"
    assert "microdata" in evidence(html, WantedAttribute("prep_time"))


def test_the_image_beside_the_heading() -> None:
    html = "<title>Rope</title><header><img src=logo.png></header><h1>Rope</h1><img src=a.png alt=Rope><img src=b.png>"
    assert "a.png" == evidence(html, WantedAttribute("mainImage", "image"))["pattern"].spots[0].text


def test_the_longest_text_is_the_body() -> None:
    text = "<p>" + "Nobody in the ministry wanted to comment on the figures. " * 3 + "</p>"
    found = evidence(
        f"<h1>Ropes</h1><aside>{text * 4}</aside><div id=b>{text * 2}</div>",
        WantedAttribute("articleBody", "html"),
    )
    assert "b" == found["pattern"].spots[0].node.element.get("id")


def test_known_values_of_a_list() -> None:
    found = evidence(
        "<i>oak</i><i>elm</i><i>ash</i>",
        WantedAttribute("trees", is_multi=True),
        KnownValue("oak", ""),
        KnownValue("ash", ""),
    )
    assert ["oak", "ash"] == [spot.text for spot in found["known value"].spots]
