"""Arguments of commands that start something: how often, within which hours, whether at all."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import time
from typing import Any

from django.core.management.base import CommandParser

from monitoring.models import Timetable

DAY_AND_NIGHT = "00:00-00:00"


def add_timetable_arguments(parser: CommandParser) -> None:
    """Declare the options; none of them is needed."""
    parser.add_argument("--every", type=int, metavar="N", help="so many hours or days")
    parser.add_argument("--unit", choices=Timetable.Unit.values)
    parser.add_argument(
        "--hours",
        type=_hours,
        metavar="HH:MM-HH:MM",
        help=f"within which it begins; {DAY_AND_NIGHT}: the whole day",
    )
    parser.add_argument("--time-zone", metavar="ZONE", help="of these hours, such as Europe/Vienna")
    state = parser.add_mutually_exclusive_group()
    state.add_argument("--pause", dest="is_active", action="store_false", default=None)
    state.add_argument("--resume", dest="is_active", action="store_true", default=None)


def given_timetable(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the options say, without what they leave open."""
    start, end = options["hours"] or (None, None)
    values = {
        "every": options["every"],
        "unit": options["unit"],
        "time_zone": options["time_zone"],
        "is_active": options["is_active"],
        "window_start": start,
        "window_end": end,
    }
    return {name: value for name, value in values.items() if value is not None}


def _hours(text: str) -> tuple[time, time]:
    """Read `HH:MM-HH:MM`."""
    start, _, end = text.partition("-")
    try:
        return time.fromisoformat(start.strip()), time.fromisoformat(end.strip())
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be like 22:00-06:00, not {text!r}") from None
