"""Give each attribute a key: a letter of its name where one is free."""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase, ascii_uppercase

# What these do is the same on every page.
RESERVED = frozenset("gjkux")
RESERVED_CAPITALS = frozenset("UX")


def keys_of(names: Iterable[str]) -> dict[str, str]:
    """Return a key for each name, no key twice; blank for those beyond the letters.

    >>> keys_of(["price", "place", "unit"])
    {'price': 'p', 'place': 'l', 'unit': 'n'}
    """
    key_by_name: dict[str, str] = {}
    small = [letter for letter in ascii_lowercase if letter not in RESERVED]
    capitals = [letter for letter in ascii_uppercase if letter not in RESERVED_CAPITALS]
    used: set[str] = set()
    for name in names:
        own = [letter for letter in name.lower() if letter in small]
        key = next((letter for letter in (*own, *small, *capitals) if letter not in used), "")
        key_by_name[name] = key
        used.add(key)
    return key_by_name
