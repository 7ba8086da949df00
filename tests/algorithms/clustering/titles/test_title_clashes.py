"""Clusters of one title."""

from __future__ import annotations

from clustering.algorithms.titles.title_clashes import tell_apart
from clustering.algorithms.titles.title_evidence import Qualifier
from clustering.algorithms.titles.title_phrases import Source

NEWS, BLOG = Qualifier("News", Source.FOLDER), Qualifier("Blog", Source.FOLDER)
VOTE = Qualifier("Vote", Source.LABEL)


def told(*qualifiers: list[Qualifier], title: str = "Post") -> list[str]:
    """Return the titles of clusters that have these, the largest first."""
    ranks = [(number, "") for number in range(len(qualifiers))]
    return tell_apart([title] * len(qualifiers), ranks, lambda number, *_: qualifiers[number])


def test_the_words_of_addresses_stand_in_brackets() -> None:
    assert ["Post (news)", "Post (blog)"] == told([NEWS], [BLOG])


def test_a_label_of_its_own_tells_all_but_the_first() -> None:
    assert ["Post", "Post with vote"] == told([VOTE], [VOTE])


def test_a_long_label_is_no_part_of_a_title() -> None:
    assert ["Post", "Post 2"] == told([], [Qualifier("Comments on the whole site", Source.LABEL)])


def test_the_next_phrase_is_used_where_one_is_taken() -> None:
    assert ["Post (news)", "Post (blog)"] == told([NEWS], [NEWS, BLOG])


def test_the_rest_is_numbered_the_lowest_rank_first() -> None:
    ranks = [(-3, ""), (-5, "b"), (-5, "a")]

    assert ["Post 3", "Post 2", "Post"] == tell_apart(["Post"] * 3, ranks, lambda *_: [])


def test_plain_titles_are_only_numbered() -> None:
    assert ["Detail pages", "Detail pages 2"] == told([NEWS], [BLOG], title="Detail pages")


def test_no_number_makes_the_title_of_another() -> None:
    assert ["Post", "Post 3", "Post 2"] == tell_apart(
        ["Post", "Post", "Post 2"], [(1, ""), (2, ""), (3, "")], lambda *_: []
    )


def test_titles_that_differ_in_capitals_only_are_one() -> None:
    assert ["Post", "POST 2"] == tell_apart(["Post", "POST"], [(1, ""), (2, "")], lambda *_: [])


def test_nothing_is_told_apart_from_nothing() -> None:
    assert [] == tell_apart([], [], lambda *_: [])
