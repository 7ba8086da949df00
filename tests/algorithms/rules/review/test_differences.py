"""Where two texts differ, word by word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rules.algorithms.review.differences import MAX_WORDS, Piece, differences


def test_only_the_word_that_changed_is_marked() -> None:
    was, now = differences("Trail Runner 4 black", "Trail Runner 5 black")

    assert [Piece("Trail Runner ", False), Piece("4", True), Piece(" black", False)] == was
    assert [Piece("Trail Runner ", False), Piece("5", True), Piece(" black", False)] == now


def test_long_texts_are_compared_as_wholes() -> None:
    text = "a " * MAX_WORDS

    assert ([Piece(text, False)], [Piece(text, False)]) == differences(text, text)
    assert ([Piece(text, True)], [Piece("b", True)]) == differences(text, "b")


@given(st.text(), st.text())
def test_the_pieces_make_the_texts_again(was: str, now: str) -> None:
    before, after = differences(was, now)

    assert (was, now) == ("".join(p.text for p in before), "".join(p.text for p in after))
    assert [p.text for p in before if not p.is_changed] == [
        p.text for p in after if not p.is_changed
    ]
