"""Bring the values of a nested list into line: the n-th place of each field is its n-th entry.

Readings:   The stylesheet says to which entry a value belongs. An entry without any value is none.
            A second value of a field in one entry is an entry of its own behind it, so that none is
            lost. Where no entry is known, values are told apart by their number: right where all
            fields have as many, and a problem of the record where they do not.
Cost:       Sorting the values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.running.records import RawRecord, RawValue

RawValues = Sequence[RawValue | None]


def lists_of(attributes: Sequence[AttributeType]) -> dict[str, list[str]]:
    """Return the attributes of each nested list, by its name."""
    names_by_list: dict[str, list[str]] = {}
    for attribute in attributes:
        if attribute.list_name:
            names_by_list.setdefault(attribute.list_name, []).append(attribute.name)
    return names_by_list


def align(raw: RawRecord, attributes: Sequence[AttributeType]) -> dict[str, RawValues]:
    """Return the values of each field of the nested lists, with None where an entry has none."""
    aligned: dict[str, RawValues] = {}
    for names in lists_of(attributes).values():
        place_by_value: dict[tuple[str, int], tuple[int, int]] = {}
        for name in names:
            n_in_item: Counter[int] = Counter()
            for number, value in enumerate(raw.values.get(name, [])):
                place_by_value[name, number] = (value.item, n_in_item[value.item])
                n_in_item[value.item] += 1
        places = sorted(set(place_by_value.values()))
        has_entries = any(item for item, _ in places)
        for name in names:
            values = raw.values.get(name, [])
            if not has_entries or not values:
                aligned[name] = values
                continue
            value_by_place = {
                place_by_value[name, number]: value for number, value in enumerate(values)
            }
            aligned[name] = [value_by_place.get(place) for place in places]
    return aligned


def uneven_fields(raw: RawRecord, attributes: Sequence[AttributeType]) -> dict[str, str]:
    """Return why it is not known which values of a list belong together, by attribute."""
    problems: dict[str, str] = {}
    for list_name, names in lists_of(attributes).items():
        present = [name for name in names if raw.values.get(name)]
        has_entries = any(value.item for name in present for value in raw.values[name])
        counts = {len(raw.values[name]) for name in present}
        if len(counts) > 1 and not has_entries:
            for name in present:
                problems[name] = (
                    f"nothing tells the entries of {list_name} apart, and its fields have "
                    f"{min(counts)} to {max(counts)} values"
                )
    return problems
