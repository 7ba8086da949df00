"""Signatures of tag sequences as values and texts; `shingles` computes them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

N_BYTES: Final = 8
_TEXT: Final = re.compile(r"(?:[0-9a-f]{2}|\*\*){8}")


class Masked(NamedTuple):
    """A vector some of whose bytes match anything."""

    value: int  # wild bytes are 0
    wild: int  # 0xFF at each wild byte

    def covers(self, vector: int) -> bool:
        return vector & ~self.wild == self.value

    def __str__(self) -> str:
        """Return the bytes in hexadecimal, `**` for a wild card: `0a1b**2c…`."""
        value = self.value.to_bytes(N_BYTES, "big")
        wild = self.wild.to_bytes(N_BYTES, "big")
        return "".join(
            "**" if is_wild else f"{byte:02x}" for byte, is_wild in zip(value, wild, strict=True)
        )


def read_signature(text: str) -> Masked:
    """Return a signature from its text form.

    Raises ValueError.

    >>> read_signature("0a1b**2c00000000").covers(0x0A1BFF2C00000000)
    True
    """
    if not _TEXT.fullmatch(text):
        raise ValueError(f"{text!r} is no signature; one has eight bytes, each two digits or **")
    pairs = [text[start : start + 2] for start in range(0, len(text), 2)]
    value = "".join("00" if pair == "**" else pair for pair in pairs)
    mask = "".join("ff" if pair == "**" else "00" for pair in pairs)
    return Masked(int(value, 16), int(mask, 16))
