"""The texts of a page in which values are looked for."""

from __future__ import annotations

from lxml.html import document_fromstring

from annotation.algorithms.anchors.page_index import PageIndex

PAGE = """<head><title>Rope 5</title></head>
<body><h1>Rope</h1><p><b>5</b> <i>m</i></p><div><p>Our rope</p><p>ROPE</p></div></body>"""


def index() -> PageIndex:
    return PageIndex(document_fromstring(PAGE))


def texts_by_form(page: PageIndex) -> dict[str, list[str]]:
    nodes_by_form = page.nodes_by_form("small letters", str.lower)
    return {form: [page.texts.text_of(node) for node in n] for form, n in nodes_by_form.items()}


def test_texts_of_the_head_are_none_of_the_page() -> None:
    page = index()
    assert ["Rope", "5", "m", "Our rope", "ROPE"] == [page.texts.text_of(n) for n in page.nodes]


def test_text_nodes_are_found_by_the_form_of_their_text() -> None:
    assert ["Rope", "ROPE"] == texts_by_form(index())["rope"]


def test_a_text_without_the_form_is_left_out() -> None:
    by_number = index().nodes_by_form("number", lambda t: int(t) if t.isdecimal() else None)
    assert [5] == list(by_number)


def test_the_forms_of_a_name_are_computed_once() -> None:
    page = index()
    assert texts_by_form(page) == {
        form: [page.texts.text_of(node) for node in nodes]
        for form, nodes in page.nodes_by_form("small letters", str.upper).items()
    }


def test_elements_with_several_texts_come_from_the_inside_out() -> None:
    page = index()
    shown = [(str(e.element.tag), page.texts.whole[e.start : e.end]) for e in page.elements]
    assert [("p", "5 m"), ("div", "Our rope ROPE")] == shown[:2]
    assert ["body"] == [tag for tag, _ in shown[2:]]
