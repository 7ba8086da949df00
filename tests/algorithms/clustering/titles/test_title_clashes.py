"""Clusters of one title."""

from __future__ import annotations

from clustering.algorithms.titles.title_clashes import Marks, tell_apart


def told(*marks: Marks) -> list[str]:
    return tell_apart(["Post"] * len(marks), marks)


def test_the_words_of_addresses_come_first() -> None:
    assert ["Post (news)", "Post (blog)"] == told(Marks(9, "News"), Marks(3, "Blog"))


def test_words_that_the_title_has_tell_nothing() -> None:
    assert ["Post", "Post (blog)"] == told(Marks(9, "Post"), Marks(3, "Blog"))


def test_a_single_page_has_a_name() -> None:
    assert ["Post", "Post “About us”"] == told(Marks(2), Marks(1, example="About us"))


def test_a_label_of_its_own_tells_a_cluster() -> None:
    polls = Marks(3, labels=[{"Reply", "Vote", "12 votes"}] * 3)

    assert ["Post with “Vote”", "Post"] == told(polls, Marks(5, labels=[{"Reply"}] * 5))


def test_addresses_and_letters_are_no_labels() -> None:
    assert ["Post", "Post 2"] == told(
        Marks(5, labels=[set()] * 5), Marks(3, labels=[{"me@a.b", "H"}] * 3)
    )


def test_a_class_of_its_own_tells_a_cluster() -> None:
    plain, sold = (
        Marks(5, tokens=[["post"]] * 5),
        Marks(3, tokens=[["post", "sold-out", "mx-2"]] * 3),
    )

    assert ["Post", "Post (sold out)"] == told(plain, sold)


def test_the_rest_is_numbered_the_larger_first() -> None:
    assert ["Post 3", "Post", "Post 2"] == told(Marks(3), Marks(5), Marks(4))


def test_no_number_makes_the_title_of_another() -> None:
    assert ["Post", "Post 3", "Post 2"] == tell_apart(
        ["Post", "Post", "Post 2"], [Marks(3), Marks(2), Marks(9)]
    )


def test_nothing_is_told_apart_from_nothing() -> None:
    assert [] == tell_apart([], [])
