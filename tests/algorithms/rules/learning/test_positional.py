import pytest

from rules.algorithms.learning.positional import learn_position, nth

PAGE_1, PAGE_2 = 0b0000_1111, 0b1111_0000


def test_the_second_node_of_each_page_is_found() -> None:
    assert 2 == learn_position(0b1111_1111, 0b0010_0010, [PAGE_1, PAGE_2])


def test_a_position_from_the_end_serves_where_pages_differ_in_length() -> None:
    assert -1 == learn_position(0b1111_0011, 0b1000_0010, [PAGE_1, PAGE_2])


def test_no_common_position_is_0() -> None:
    assert 0 == learn_position(0b1111_1111, 0b0010_0001, [PAGE_1, PAGE_2])


def test_a_position_must_not_select_where_the_attribute_is_absent() -> None:
    assert 0 == learn_position(0b1111_1111, 0b0000_0010, [PAGE_1, PAGE_2])
    assert 2 == learn_position(0b0001_1111, 0b0000_0010, [PAGE_1, PAGE_2])


@pytest.mark.parametrize(
    ("position", "expected"), [(1, 0b1), (3, 0b1000), (4, 0), (-1, 0b1000), (-3, 0b1), (-4, 0)]
)
def test_the_nth_node(position: int, expected: int) -> None:
    assert expected == nth(0b1011, position)
