"""Clusters that go on keep their identity; what became of the others."""

from hypothesis import given
from hypothesis import strategies as st

from clustering.algorithms.continuity import find_successors

A, B, C = 1, 2, 3


def pages(**groups: range) -> dict[int, str]:
    return {page: group for group, members in groups.items() for page in members}


def before(*clusters: range) -> dict[int, int]:
    return {page: number for number, members in enumerate(clusters, 1) for page in members}


def test_the_same_pages_are_the_same_cluster() -> None:
    successors = find_successors(before(range(5), range(5, 9)), pages(x=range(5, 9), y=range(5)))

    assert {"x": B, "y": A} == successors


def test_pages_that_are_new_do_not_count() -> None:
    assert {"x": A} == find_successors(before(range(4)), pages(x=range(2, 100)))


def test_of_a_split_cluster_the_larger_part_goes_on() -> None:
    assert {"y": A} == find_successors(before(range(10)), pages(x=range(4), y=range(4, 10)))


def test_a_split_without_a_majority_still_has_a_successor() -> None:
    assert {"x": A} == find_successors(
        before(range(10)), pages(x=range(4), y=range(4, 7), z=range(7, 10))
    )


def test_of_two_merged_clusters_the_larger_goes_on() -> None:
    assert {"x": B} == find_successors(before(range(4), range(4, 10)), pages(x=range(10)))


def test_a_group_that_shares_little_with_each_is_new() -> None:
    clusters = before(range(10), range(10, 20), range(20, 30))
    groups = pages(rest=range(30)) | dict.fromkeys([5, 6, 7, 15, 16, 17, 25, 26, 27], "x")

    assert {"rest": A} == find_successors(clusters, groups)


def test_halves_are_no_majority() -> None:
    assert {} == find_successors({1: A, 2: A, 3: B, 4: B}, {1: "x", 2: "y", 3: "x", 4: "y"})


def test_of_two_equal_parts_the_first_by_name_goes_on() -> None:
    assert {"x": A} == find_successors(before(range(4)), pages(y=range(2), x=range(2, 4)))


@given(
    st.dictionaries(st.integers(0, 30), st.integers(1, 5)),
    st.dictionaries(st.integers(0, 30), st.sampled_from("xyz")),
)
def test_each_cluster_has_one_successor_at_most(old: dict[int, int], new: dict[int, str]) -> None:
    successors = find_successors(old, new)

    assert len(successors) == len(set(successors.values()))
    assert successors == find_successors(
        dict(sorted(old.items(), reverse=True)), dict(sorted(new.items(), reverse=True))
    )


@given(st.dictionaries(st.integers(0, 30), st.sampled_from("xyz"), min_size=1))
def test_an_unchanged_grouping_keeps_all(groups: dict[int, str]) -> None:
    number = {"x": A, "y": B, "z": C}

    assert {group: number[group] for group in set(groups.values())} == find_successors(
        {page: number[group] for page, group in groups.items()}, groups
    )
