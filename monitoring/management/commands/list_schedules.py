"""Show when sites are checked."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from monitoring.models import Schedule, Slot
from monitoring.services.checks.schedules import schedule_json
from vertex.core.management.output import WorkCommand


class Command(WorkCommand):
    help = "Show the schedules of all sites, or that of SITE with its last slots."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE", nargs="?", default="")
        parser.add_argument(
            "--slots", type=int, default=10, metavar="N", help="of SITE (default: 10)"
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        schedules = Schedule.objects.select_related("site").order_by("site__name")
        name = options["site"]
        if name:
            schedules = schedules.filter(site=self.site(name))
        with self.open_output(options["output"]) as lines:
            for schedule in schedules.iterator(chunk_size=500):
                lines.write(schedule_json(schedule))
                if not name:
                    continue
                for slot in Slot.objects.filter(schedule=schedule)[: max(0, options["slots"])]:
                    lines.write(_slot_json(slot))
        if name and not schedules.exists():
            self.notice(
                f"{name} has no schedule; it gets a daily one with its first published rule, "
                f"or set one with: manage.py schedule_checks {name}"
            )


def _slot_json(slot: Slot) -> dict[str, Any]:
    """Return a slot as a line; a reason only where it has one."""
    line = {"slot": slot.at, "state": slot.state, "missed": slot.n_missed}
    if slot.why:
        line["why"] = slot.why
    return line
