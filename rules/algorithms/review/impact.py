"""What changes about records when another rule extracts them: gained, lost, changed, by field.

Records of a page are paired by their keys; what is left on both sides is paired in its order, so a
record whose key changed counts as changed and not as one lost and one gained.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from rules.algorithms.running.record_lines import Line

GAINED, LOST, CHANGED, SAME = "gained", "lost", "changed", "same"
KINDS: Final = (GAINED, LOST, CHANGED, SAME)
Values = Mapping[str, Any]  # of a record, by attribute

NO_VALUES: Final[Values] = {}
RECORDS: Final = ""  # stands for a record as a whole where others stand for an attribute


class FieldChange(NamedTuple):
    """What became of one attribute of one record, or of the record itself."""

    attribute: str
    kind: str
    old: Any
    new: Any


def changes_of_page(
    old: Iterable[Line], new: Iterable[Line], attributes: Sequence[str]
) -> list[FieldChange]:
    """Return what became of each record of a page and of each of its fields.

    The first change of a record is that of the record as a whole.
    """
    changes = []
    for before, after in _pairs(_records(old), _records(new)):
        fields = [
            FieldChange(name, *_compare(before.get(name), after.get(name))) for name in attributes
        ]
        fields = [change for change in fields if change.old is not None or change.new is not None]
        changes += [_of_record(before, after, fields), *fields]
    return changes


def count_changes(changes: Iterable[FieldChange]) -> dict[str, dict[str, int]]:
    """Return how many changes of each kind an attribute has; those of whole records under ""."""
    counted = Counter((change.attribute, change.kind) for change in changes)
    names = dict.fromkeys(name for name, _ in counted)
    return {name: {kind: counted[name, kind] for kind in KINDS} for name in names}


def add_counts(
    total: Mapping[str, Mapping[str, int]], more: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    """Return the sums of two tables of counts."""
    names = dict.fromkeys([*total, *more])
    return {
        name: {
            kind: total.get(name, {}).get(kind, 0) + more.get(name, {}).get(kind, 0)
            for kind in KINDS
        }
        for name in names
    }


def _records(lines: Iterable[Line]) -> dict[str, Mapping[str, Any]]:
    """Return the records of a page by their keys, a single one by its number."""
    records: dict[str, Mapping[str, Any]] = {}
    filled = [line.record for line in lines if line.record is not None and line.record.values]
    for number, record in enumerate(filled):
        records[str(number) if record.key is None else record.key] = record.values
    return records


def _pairs(old: Mapping[str, Values], new: Mapping[str, Values]) -> list[tuple[Values, Values]]:
    """Return the old and new record of each pair: first those of one key, then others in order.

    Where one side has more records than the other, the missing partner is a record without values.
    """
    pairs = [(old[key], new[key]) for key in old if key in new]
    lost = [record for key, record in old.items() if key not in new]
    gained = [record for key, record in new.items() if key not in old]
    return [*pairs, *zip_longest(lost, gained, fillvalue=NO_VALUES)]


def _compare(old: Any, new: Any) -> tuple[str, Any, Any]:
    if old is None:
        return GAINED, old, new
    if new is None:
        return LOST, old, new
    return (SAME if old == new else CHANGED), old, new


def _of_record(
    old: Mapping[str, Any], new: Mapping[str, Any], fields: Iterable[FieldChange]
) -> FieldChange:
    if not old:
        return FieldChange(RECORDS, GAINED, None, dict(new))
    if not new:
        return FieldChange(RECORDS, LOST, dict(old), None)
    is_same = all(change.kind == SAME for change in fields)
    return FieldChange(RECORDS, SAME if is_same else CHANGED, dict(old), dict(new))
