"""Give each attribute a key: a letter of its name where one is free."""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase, ascii_uppercase

RESERVED = frozenset("gjkux")  # what they do is the same on every page


def keys_of(names: Iterable[str]) -> dict[str, str]:
    """Return a key for each name, no key twice; blank for those beyond the letters.

    >>> keys_of(["price", "place", "unit"])
    {'price': 'p', 'place': 'l', 'unit': 'n'}
    """
    key_by_name: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        wanted = [
            letter
            for letter in name.lower()
            if letter in ascii_lowercase and letter not in RESERVED
        ]
        others = [letter for letter in ascii_lowercase if letter not in RESERVED]
        capitals = [letter for letter in ascii_uppercase if letter not in {"U", "X"}]
        key = next((key for key in (*wanted, *others, *capitals) if key not in taken), "")
        key_by_name[name] = key
        taken.add(key)
    return key_by_name
