"""What is known of an attribute's values before any is seen.

Readings:   An attribute of several values whose name has a dot is a field of a nested list:
            `offers.price` is the price of each entry of `offers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class AttributeType:
    """An attribute of a vertical: its name, and what values it may have."""

    name: str
    type: str = "text"  # text, price, date …
    is_constant: bool = False  # the value of a page does not change with time
    is_mandatory: bool = False
    is_multi: bool = False
    regex: str = ""  # of RE2; the part of the text that is the value

    @property
    def list_name(self) -> str:
        """The nested list that the attribute is a field of, blank where it is of none.

        >>> AttributeType("offers.price", is_multi=True).list_name
        'offers'
        """
        return list_name_of(self.name, is_multi=self.is_multi)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Return the attribute that `as_json` describes. Raises TypeError for other keys.

        >>> AttributeType.from_json({"name": "price", "type": "price"}).is_multi
        False
        """
        return cls(**document)

    def as_json(self) -> dict[str, Any]:
        """Return the attribute as rules and bundles store it."""
        return asdict(self)


def list_name_of(name: str, *, is_multi: bool) -> str:
    """Return the nested list that an attribute of this name is a field of; blank if of none.

    >>> list_name_of("address.city", is_multi=False)
    ''
    """
    list_name, _, field = name.rpartition(".")
    return list_name if is_multi and field else ""


def field_name_of(name: str) -> str:
    """Return what a field of a nested list is called within its entries.

    >>> field_name_of("offers.price")
    'price'
    """
    return name.rpartition(".")[2]
