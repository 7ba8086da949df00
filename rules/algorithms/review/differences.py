"""Where two texts differ, word by word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Final, NamedTuple

MAX_WORDS: Final = 2_000  # of one text; beyond it the texts differ as wholes
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


class TextPiece(NamedTuple):
    """A stretch of a text, and whether the other text lacks it."""

    text: str
    is_changed: bool


def differences(old: str, new: str) -> tuple[list[TextPiece], list[TextPiece]]:
    """Return both texts in pieces that are common and pieces that are not.

    >>> differences("25 EUR", "27 EUR")[1]
    [TextPiece(text='27', is_changed=True), TextPiece(text=' EUR', is_changed=False)]
    """
    old_words, new_words = _WORD.findall(old), _WORD.findall(new)
    if max(len(old_words), len(new_words)) > MAX_WORDS:
        is_changed = old != new
        return [TextPiece(old, is_changed)], [TextPiece(new, is_changed)]
    before, after = [], []
    for tag, old_start, old_end, new_start, new_end in SequenceMatcher(
        None, old_words, new_words, autojunk=False
    ).get_opcodes():
        before.append(TextPiece("".join(old_words[old_start:old_end]), tag != "equal"))
        after.append(TextPiece("".join(new_words[new_start:new_end]), tag != "equal"))
    return [piece for piece in before if piece.text], [piece for piece in after if piece.text]
