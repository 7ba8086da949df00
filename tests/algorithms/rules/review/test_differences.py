"""Where two texts differ, word by word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rules.algorithms.review.differences import MAX_WORDS, TextPiece, differences


def test_only_the_word_that_changed_is_marked() -> None:
    was, now = differences("Trail Runner 4 black", "Trail Runner 5 black")

    assert [
        TextPiece("Trail Runner ", False),
        TextPiece("4", True),
        TextPiece(" black", False),
    ] == was
    assert [
        TextPiece("Trail Runner ", False),
        TextPiece("5", True),
        TextPiece(" black", False),
    ] == now


def test_long_texts_are_compared_as_wholes() -> None:
    text = "a " * MAX_WORDS

    assert ([TextPiece(text, False)], [TextPiece(text, False)]) == differences(text, text)
    assert ([TextPiece(text, True)], [TextPiece("b", True)]) == differences(text, "b")


@given(st.text(), st.text())
def test_the_pieces_make_the_texts_again(was: str, now: str) -> None:
    before, after = differences(was, now)

    assert (was, now) == ("".join(p.text for p in before), "".join(p.text for p in after))
    assert [p.text for p in before if not p.is_changed] == [
        p.text for p in after if not p.is_changed
    ]
