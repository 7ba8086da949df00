"""What a record shows, cell by cell."""

from clustering.algorithms.tables.cells import RecordCell, read_cells
from clustering.dom.page import parse_page


def cells(body: bytes, path: str = "//li") -> list[list[RecordCell]]:
    tree = parse_page(body).tree
    assert tree is not None
    return read_cells([[element] for element in tree.xpath(path)])


def told(body: bytes, path: str = "//li") -> list[list[tuple[str, str, str]]]:
    return [[(cell.kind, cell.label, cell.value) for cell in found] for found in cells(body, path)]


def test_texts_links_and_images_are_cells() -> None:
    body = b"<ul><li><a href=/a><img src=a.png>One</a> <b>two</b></ul>"

    assert [
        ("link", "", "/a"),
        ("image", "", "a.png"),
        ("text", "", "One"),
        ("text", "", "two"),
    ] == told(body)[0]


def test_a_text_with_bold_words_is_one() -> None:
    assert [[("text", "", "very good H2O")]] == told(
        b"<ul><li>very <b>good</b> H<sub>2</sub>O</ul>"
    )


def test_labels_in_the_text_are_taken_out() -> None:
    body = b"<ul><li><p>Brand: A</p><p>Size: 1</p><li><p>Size: 2</p></ul>"

    assert [("text", "Size", "2")] == told(body)[1][-1:]


def test_a_label_beside_its_value_belongs_to_it() -> None:
    body = b"<ul>" + b"<li><dl><dt>Brand<dd>A<dt>Size<dd>1<dd>2</dl>" * 2 + b"</ul>"

    assert [("text", "Brand", "A"), ("text", "Size", "1"), ("text", "Size", "2")] == told(body)[0]


def test_titles_with_a_colon_among_others_have_no_label() -> None:
    body = b"<ul><li>Python: one<li>Python: two" + b"<li>Another" * 5 + b"</ul>"

    assert ("text", "", "Python: one") == told(body)[0][0]


def test_a_class_that_only_adds_words_is_the_same_step() -> None:
    body = b"<ul><li><i class=price>1</i><li><i class='price sale'>2</i></ul>"
    first, second = cells(body)

    assert first[0].key == second[0].key


def test_classes_that_stand_side_by_side_differ() -> None:
    body = (
        b"<ul><li><i class=price>1</i><i class='price old'>3</i><li><i class='price old'>2</i></ul>"
    )
    first, second = cells(body)

    assert first[1].key == second[0].key != first[0].key


def test_the_parts_name_nodes_of_the_tree() -> None:
    tree = parse_page(b"<ul><li>a<br>b<!-- x -->c<i class=x>d</i></ul>").tree
    assert tree is not None
    (nodes,) = read_cells([tree.xpath("//li")])

    assert ["a", "b", "c", "d"] == [
        str(cell.element.xpath(cell.part)[0]) if cell.part else cell.element.text  # type: ignore[index]  # a list
        for cell in nodes
    ]


def test_what_is_not_shown_is_no_cell() -> None:
    assert [[]] == told(b"<ul><li><script>x</script><style>y</style> | <img src=data:abc></ul>")
