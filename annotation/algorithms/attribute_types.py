"""What is known of an attribute's values before any is seen."""

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
