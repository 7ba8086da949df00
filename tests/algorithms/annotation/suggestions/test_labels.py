"""Values beside labels."""

from __future__ import annotations

import pytest

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.suggestions.labels import find_beside
from annotation.algorithms.suggestions.spots import SpotIndex
from tests.algorithms.annotation.suggestions.test_suggestion import tree_of


def beside(html: str, name: str, value_type: str = "text", *, is_multi: bool = False) -> list[str]:
    """Return the values of the best label."""
    attribute = AttributeType(name, value_type, is_multi=is_multi)
    results = sorted(
        find_beside(SpotIndex(tree_of(html)), attribute), key=lambda beside: -beside.weight
    )
    return [spot.text for spot in results[0].spots] if results else []


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><th>Weight</th><td>570 g</td></tr></table>",
        "<dl><dt>Weight:</dt><dd>570 g</dd><dt>Size</dt><dd>XL</dd></dl>",
        "<p><b>Weight:</b> 570 g</p>",
        "<p>Weight: 570 g</p>",
        "<div><span>Weight</span><span>570 g</span></div>",
    ],
)
def test_a_label_in_many_shapes(html: str) -> None:
    assert ["570 g"] == beside(html, "weight")


def test_several_values_end_at_the_next_label() -> None:
    html = "<dl><dt>Colour</dt><dd>Moss</dd><dd>Ochre</dd><dt>Size</dt><dd>XL</dd></dl>"
    assert ["Moss", "Ochre"] == beside(html, "color", is_multi=True)


def test_the_part_of_the_type_is_taken() -> None:
    assert ["$89.00"] == beside("<p>Price: now $89.00</p>", "price", "price")


def test_a_number_before_what_it_counts() -> None:
    assert ["12"] == beside("<p>12 reviews</p>", "reviewCount", "number")
    assert ["12"] == beside("<p><b>12</b> <i>reviews</i></p><p>good</p>", "reviewCount", "number")


def test_a_text_that_cannot_be_of_the_type_is_none() -> None:
    assert [] == beside(
        "<h3>Reviews</h3><p>A good rope, we took 2 of them up there</p>", "reviewCount", "number"
    )


def test_a_label_without_a_value_gives_nothing() -> None:
    assert [] == beside("<p>Weight:</p>", "weight")
    assert [] == beside("<dl><dt>Weight</dt><dt>Size</dt><dd>XL</dd></dl>", "weight")
