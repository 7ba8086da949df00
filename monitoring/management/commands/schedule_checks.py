"""Set when a site is checked from now on."""

from __future__ import annotations

import argparse
from datetime import time
from typing import Any

from django.core.management.base import CommandParser

from monitoring.models import Schedule
from monitoring.services.checks import schedules
from vertex.core.management.output import WorkCommand

DAY_AND_NIGHT = "00:00-00:00"


def hours(text: str) -> tuple[time, time]:
    """Read `HH:MM-HH:MM`."""
    start, _, end = text.partition("-")
    try:
        return time.fromisoformat(start.strip()), time.fromisoformat(end.strip())
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be like 22:00-06:00, not {text!r}") from None


class Command(WorkCommand):
    help = (
        "Give SITE a schedule of checks, or change the one it has; what no option names stays as it is. "
        "A new schedule is daily, at any hour. The clock of `manage.py up` begins the checks."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument("--every", type=int, metavar="N", help="so many hours or days")
        parser.add_argument("--unit", choices=Schedule.Unit.values)
        parser.add_argument(
            "--hours",
            type=hours,
            metavar="HH:MM-HH:MM",
            help=f"within which the checks lie; {DAY_AND_NIGHT}: the whole day",
        )
        parser.add_argument(
            "--time-zone", metavar="ZONE", help="of these hours, such as Europe/Vienna"
        )
        parser.add_argument(
            "--repair",
            choices=Schedule.Repair.values,
            help="after a site change; with accept, what passes the field test comes into force, with alone "
            "also where the site asks for a second person",
        )
        state = parser.add_mutually_exclusive_group()
        state.add_argument("--pause", dest="is_active", action="store_false", default=None)
        state.add_argument("--resume", dest="is_active", action="store_true", default=None)
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        start, end = options["hours"] or (None, None)
        settings = {
            "every": options["every"],
            "unit": options["unit"],
            "time_zone": options["time_zone"],
            "repair": options["repair"],
            "is_active": options["is_active"],
            "window_start": start,
            "window_end": end,
        }
        given = {name: value for name, value in settings.items() if value is not None}
        schedule = schedules.change_schedule(site=site, **given)
        with self.open_output(options["output"]) as lines:
            lines.write(schedules.schedule_json(schedule))
        if schedule.is_active:
            self.notice(f"{site.name} is checked {schedule}")
        else:
            self.notice(f"{site.name} is not checked any more")
