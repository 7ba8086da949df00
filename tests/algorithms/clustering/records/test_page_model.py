"""The elements of a page by number, with their intervals of its text."""

from clustering.algorithms.records.page_model import PageModel, model_page
from clustering.dom.page import parse_page

LIST = b"""<body><h1>Two  fruits</h1><ul><li><a href=/a>Apple</a> 1 &euro;<li>Pear<br>2 &euro;</ul>
<script>var hidden = 1</script><!-- x --> end"""


def model(body: bytes) -> PageModel:
    tree = parse_page(body, "text/html; charset=utf-8").tree
    assert tree is not None
    return model_page(tree)


def test_the_text_of_a_page_has_no_white_space_and_no_scripts() -> None:
    assert model(LIST).text == "TwofruitsApple1€Pear2€end"


def test_an_element_is_an_interval_of_the_text() -> None:
    page = model(LIST)
    items = [number for number, tag in enumerate(page.tags) if tag == "li"]

    assert ["Apple1€", "Pear2€"] == [page.text_at(*page.interval((item, item))) for item in items]


def test_counts_of_a_run_are_those_of_its_elements() -> None:
    page = model(LIST)
    items = [number for number, tag in enumerate(page.tags) if tag == "li"]
    run = (items[0], items[1])

    assert (1, 1) == (page.count("links", run), page.count("breaks", run))
    assert (5, 2, 2) == (
        page.n_text("linked", run),
        page.n_text("digits", run),
        page.n_text("money", run),
    )
    assert items == page.siblings(run)


def test_equal_trees_have_equal_structures_and_others_not() -> None:
    page = model(b"<p><b>x</b></p><p><b>other</b></p><p><i>x</i></p>")
    first, same, other = [number for number, tag in enumerate(page.tags) if tag == "p"]

    assert page.structures[first] == page.structures[same] != page.structures[other]


def test_digits_in_classes_do_not_make_kinds() -> None:
    page = model(b"<p class=row1>x</p><p class=row2>y</p>")

    assert ["p.row0", "p.row0"] == [name for name in page.classes if name.startswith("p")]


def test_text_can_be_taken_from_the_middle_of_a_piece() -> None:
    page = model(b"<p>abc</p><p>def</p>")

    assert page.text_at(1, 5) == "bcde"
    assert page.text_at(6, 9) == ""
