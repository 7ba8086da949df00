"""Set when a site is checked from now on."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from monitoring.management.timetable_arguments import add_timetable_arguments, given_timetable
from monitoring.models import Schedule
from monitoring.services.checks import schedules
from vertex.core.management.output import WorkCommand


class Command(WorkCommand):
    help = (
        "Give SITE a schedule of checks, or change the one it has; "
        "what no option names stays as it is. "
        "A new schedule is daily, at any hour. The clock of `manage.py up` begins the checks."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        add_timetable_arguments(parser)
        parser.add_argument(
            "--repair",
            choices=Schedule.Repair.values,
            help="after a site change; with accept, what passes the field test comes into "
            "force, with alone "
            "also where the site asks for a second person",
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        repair = {"repair": options["repair"]} if options["repair"] else {}
        given = given_timetable(options) | repair
        schedule = schedules.change_schedule(site=site, **given)
        with self.open_output(options["output"]) as lines:
            lines.write(schedules.schedule_json(schedule))
        if schedule.is_active:
            self.notice(f"{site.name} is checked {schedule}")
        else:
            self.notice(f"{site.name} is not checked any more")
