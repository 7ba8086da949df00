"""What algorithms return."""

from clustering.algorithms.grouping import MAX_GROUP_CHARS, RawPage, group_key, grouping_of


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


def test_a_short_name_is_its_own_key() -> None:
    assert "g0001" == group_key("g0001")


def test_long_names_that_begin_alike_have_different_keys_that_fit() -> None:
    keys = {group_key("x" * 500), group_key("x" * 501)}

    assert [MAX_GROUP_CHARS, MAX_GROUP_CHARS] == [len(key) for key in keys]


def test_the_key_of_a_key_is_itself() -> None:
    key = group_key("x" * 500)

    assert key == group_key(key)
