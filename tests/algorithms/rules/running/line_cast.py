"""Lines as tests compare them: one record with these values."""

from __future__ import annotations

from typing import Any

from rules.algorithms.running.record_lines import Line
from rules.algorithms.running.records import ExtractedRecord


def line_of(values: dict[str, Any], *, key: str | None = None, index: int | None = None) -> Line:
    record = ExtractedRecord(
        values=values,
        raw={},
        normalized={},
        missing=[],
        failed={},
        confidence={},
        index=index,
        key=key,
    )
    return Line("http://s.example/", "products", "products@3", record)
