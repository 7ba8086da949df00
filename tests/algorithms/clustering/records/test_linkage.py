"""Siblings that are alike but not equal."""

from clustering.algorithms.records.linkage import linked_groups, path_set
from tests.algorithms.clustering.records.test_page_model import model

ROWS = b"""<div><p><b>x</b><i>y</i><u>z</u></p><p><b>x</b><i>y</i></p><p><b>x</b><i>y</i><s>z</s></p>
<p><em>ad</em></p></div>"""


def test_rows_with_optional_parts_come_together_without_the_odd_one() -> None:
    page = model(ROWS)
    rows = [number for number, tag in enumerate(page.tags) if tag == "p"]

    assert rows[:3] in linked_groups(page, rows)


def test_families_of_one_or_two_kinds_are_left_to_the_keys() -> None:
    page = model(b"<p><b>x</b></p><p><b>y</b></p><p>z</p>")

    assert linked_groups(page, [number for number, tag in enumerate(page.tags) if tag == "p"]) == []


def test_a_path_set_is_relative() -> None:
    page = model(ROWS)

    assert path_set(page, page.tags.index("p")) == {"p", "p/b", "p/i", "p/u"}
