"""Records that an editor named, completed to those of the list."""

from annotation.algorithms.anchors.record_examples import complete_records
from clustering.dom.page import parse_page

PAGE = b"<h1>Shop</h1><dl>%b</dl><p>end" % b"".join(
    b"<dt>name %d</dt><dd>what the thing %d is about</dd>" % (n, n) for n in range(6)
)
DL = "/html/body/dl"


def record(number: int) -> tuple[str, ...]:
    return f"{DL}/dt[{number}]", f"{DL}/dd[{number}]"


def completed(*named: tuple[str, ...], are_all: bool = False) -> list[tuple[str, ...]]:
    tree = parse_page(PAGE).tree
    assert tree is not None
    return complete_records(tree, named, are_all=are_all)


def test_one_record_stands_for_its_list() -> None:
    assert [record(number) for number in range(1, 7)] == completed(record(3))


def test_several_boundaries_are_all() -> None:
    assert [record(1), record(3)] == completed(record(1), record(3), are_all=True)


def test_the_records_of_fields_are_examples() -> None:
    assert 6 == len(completed(record(1), record(3)))


def test_what_is_not_in_one_list_is_left_as_it_is() -> None:
    named = [record(1), ("/html/body/h1",)]

    assert named == completed(*named)


def test_nothing_named_is_nothing() -> None:
    assert [] == completed()
