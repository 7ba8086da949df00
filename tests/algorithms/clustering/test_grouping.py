"""What algorithms return."""

from clustering.algorithms.grouping import RawPage, grouping_of


def test_groups_come_largest_first_and_by_name() -> None:
    grouping = grouping_of(["b", "c", "a", "b", None])

    assert [(group.name, group.members) for group in grouping.groups] == [
        ("b", (0, 3)),
        ("a", (2,)),
        ("c", (1,)),
    ]
    assert grouping.unassigned == (4,)


def test_labels_are_what_the_grouping_was_made_of() -> None:
    labels = ["b", None, "a", "b"]

    assert labels == grouping_of(labels).labels(4)


def test_importance_is_the_size_unless_it_is_said() -> None:
    grouping = grouping_of(["a", "a", "b"], importance={"b": 7.0})

    assert [group.importance for group in grouping.groups] == [2.0, 7.0]


def test_a_page_is_parsed_once() -> None:
    page = RawPage("http://x/", b"<p>a")

    first = page.tree
    second = page.tree

    assert first is not None
    assert first is second
