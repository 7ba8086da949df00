"""Describe the records of a vertical as a JSON Schema, for programs that check what they pull."""

from __future__ import annotations

from typing import Any, Final

from annotation.models import Attribute, Vertical

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
TEXT: Final = {"type": "string"}
NORMALISED: Final[dict[str, dict[str, Any]]] = {
    "price": {
        "type": "object",
        "properties": {"amount": TEXT, "currency": {"type": ["string", "null"]}},
        "required": ["amount", "currency"],
    },
    "number": {"type": ["number", "string"]},  # a text where JSON would round it
    "rating": {
        "type": "object",
        "properties": {"value": {"type": "number"}, "best": {"type": ["number", "null"]}},
        "required": ["value", "best"],
    },
    "phone": TEXT,
    "zip": TEXT,
    "date": {"type": "string", "description": "ISO 8601; a month alone is written as 2024-03."},
    "url": {"type": "string", "format": "uri"},
    "image": {"type": "string", "format": "uri"},
}


def record_schema(vertical: Vertical) -> dict[str, Any]:
    """Return the JSON Schema of a vertical's records as the API gives them."""
    attributes = list(vertical.attributes.live())
    names = {"enum": [attribute.name for attribute in attributes]}
    per_value: dict[str, Any] = {"type": "object", "propertyNames": names}
    return {
        "$schema": DIALECT,
        "title": vertical.name,
        "description": vertical.description,
        "type": "object",
        "properties": {
            "url": {"type": "string", "description": "As it was handed in."},
            "normalized_url": {"type": "string", "format": "uri"},
            "details_url": {
                "type": "string",
                "description": "Of a list's record: the normalised address of the page about "
                "the same thing.",
            },
            "values": _object(
                {attribute.name: _listed(attribute, TEXT) for attribute in attributes},
                "As displayed.",
            ),
            "normalized": _object(
                {
                    attribute.name: _listed(
                        attribute, _or_none(attribute, NORMALISED[attribute.type])
                    )
                    for attribute in attributes
                    if attribute.type in NORMALISED
                },
                "By the type of the attribute; a value that cannot be read has none.",
            ),
            "missing": {
                "type": "array",
                "items": names,
                "description": "Attributes without a value.",
            },
            "failed": per_value
            | {"additionalProperties": TEXT, "description": "Why they have none."},
            "problems": per_value
            | {"additionalProperties": TEXT, "description": "Why a value could not be read."},
            "confidence": per_value
            | {"additionalProperties": {"type": "number", "minimum": 0, "maximum": 1}},
        },
        "required": ["url", "values", "missing"],
    }


def _object(properties: dict[str, Any], description: str) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "additionalProperties": False,
    }


def _listed(attribute: Attribute, value: dict[str, Any]) -> dict[str, Any]:
    if not attribute.is_multi:
        return dict(value)
    if not attribute.as_type().list_name:
        return {"type": "array", "items": value}
    return {
        "type": "array",
        "items": value if "anyOf" in value else {"anyOf": [value, {"type": "null"}]},
        "description": "The n-th place is of the n-th entry of its list, null where that has none.",
    }


def _or_none(attribute: Attribute, value: dict[str, Any]) -> dict[str, Any]:
    """Allow one of several values to have no normalised form: so the list keeps its order."""
    return {"anyOf": [value, {"type": "null"}]} if attribute.is_multi else value
