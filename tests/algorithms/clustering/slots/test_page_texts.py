"""Reading the texts of a page."""

from lxml import etree, html

from clustering.algorithms.slots import page_texts
from clustering.algorithms.slots.page_texts import read_texts

PAGE = """<html><head><title>Not a text</title></head><body class="shop">
<div id="item42" class="box b7"><p>Price: <b>12 EUR</b> each<!-- new --> or more</p></div>
<script>var no = 1</script><select><option>no</option></select> </body></html>"""


def test_texts_come_in_the_order_of_the_page() -> None:
    page = read_texts(html.document_fromstring(PAGE))

    assert [text.text for text in page.texts] == ["Price:", "12 EUR", "each", "or more"]


def test_each_text_is_selected_by_its_path() -> None:
    tree = html.document_fromstring(PAGE)

    texts = read_texts(tree).texts

    selected = [etree.ETXPath(f"string({text.xpath})")(tree) for text in texts]
    assert [str(text).strip() for text in selected] == [text.text for text in texts]


def test_digits_of_names_are_folded_and_the_body_has_none() -> None:
    page = read_texts(html.document_fromstring(PAGE))

    assert [(element.tag, element.names) for element in page.elements] == [
        ("html", ()),
        ("body", ()),
        ("div", ("#item0", ".box", ".b0")),
        ("p", ()),
        ("b", ()),
    ]


def test_the_nearest_row_is_known_inside_it() -> None:
    page = read_texts(html.document_fromstring("<table><tr><td><p>a</p>b</td></tr></table>"))

    rows = {text.text: page.elements[page.elements[text.owner].row].tag for text in page.texts}
    assert rows == {"a": "p", "b": "tr"}


def test_a_page_without_end_is_read_in_part() -> None:
    tree = html.document_fromstring("<body>" + "<p>x</p>" * (page_texts.MAX_TEXTS + 10))

    assert len(read_texts(tree).texts) == page_texts.MAX_TEXTS


def test_empty_elements_without_end_are_read_in_part() -> None:
    tree = html.document_fromstring("<body>" + "<i></i>" * (page_texts.MAX_ELEMENTS + 10))

    assert len(read_texts(tree).elements) <= page_texts.MAX_ELEMENTS
