"""What is new on pages nobody annotated."""

from __future__ import annotations

from rules.algorithms.learning.node_index import NodeIndex, number_nodes
from rules.algorithms.learning.novelty import find_news, find_placeholders, is_named, richest
from tests.algorithms.annotation.suggestions.test_suggestion import tree_of

PLAIN = "<h1>Rope</h1><p>9.50</p>"
SALE = "<h1>Rope</h1><p class=sale>9.50</p><dl><dt>Was</dt><dd>12.00</dd></dl>"


def index_of(*pages: str) -> NodeIndex:
    return number_nodes([tree_of(page) for page in pages])


def news(pages: list[str], annotated: list[bool]) -> list[set[tuple[str, str]]]:
    index = index_of(*pages)
    return [
        {(new.text, new.what) for new in its}
        for its in find_news(index, index.page_bits, annotated)
    ]


def test_kinds_and_labels_that_no_annotated_page_has_are_new() -> None:
    result = news([PLAIN, SALE, SALE], [True, False, False])
    assert [set(), result[1], result[1]] == result
    assert {("9.50", "text"), ("12.00", "text"), ("Was", "text"), ("Was", "label")} == result[1]


def test_what_one_page_has_alone_is_its_content() -> None:
    assert [set(), set(), set()] == news([PLAIN, PLAIN, SALE], [True, False, False])


def test_what_was_annotated_is_not_new() -> None:
    assert [set(), set(), set()] == news([SALE, SALE, PLAIN], [True, False, False])


def test_images_are_looked_at_and_scripts_are_not() -> None:
    with_image = PLAIN + "<div class=i><img src=a.png></div><script>var a = 1</script>"
    assert {"image"} == {
        what for _, what in news([PLAIN, with_image, with_image], [True, False, False])[1]
    }


def test_the_page_to_begin_with_labels_most_attributes_and_then_shows_most() -> None:
    index = index_of(
        PLAIN, SALE, SALE, "<h1>Rope</h1><p>Fax: <b>1</b></p>", "<h1>Rope</h1><p>Fax: <b>1</b></p>"
    )
    assert 1 == richest(index, index.page_bits)
    assert 3 == richest(index, index.page_bits, ["faxNumber"])
    assert not is_named("faxNumber", "Our fax is broken today")


def test_of_pages_alike_the_one_with_two_fields_of_one_kind_shows_more() -> None:
    town, job = "<p class=line>Arlen</p>", "<p class=line>Baker</p>"
    index = index_of(town, town + job, town + job)
    assert 1 == richest(index, index.page_bits)


def test_a_text_with_digits_stands_for_a_value() -> None:
    shown = ["1,500 EUR", "2,000 EUR", "2,500 EUR", "3,500 EUR"]
    values = [[text] for text in [*shown, *["Sold out"] * 3, *["27,000 EUR"] * 3]]
    assert {"Sold out"} == find_placeholders(values[:7], ())
    assert not find_placeholders(values[:4] + values[7:], ())
