"""Show the lists of addresses that sites keep."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from monitoring.models import KeptList
from monitoring.services.stream.kept_lists import list_json
from vertex.core.management.output import WorkCommand


class Command(WorkCommand):
    help = (
        "Show the kept lists of all sites, or of SITE: when they are visited, and what came of it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE", nargs="?", default="")
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        kept_list = KeptList.objects.present().select_related("site", "last_job").defer("addresses")
        name = options["site"]
        if name:
            kept_list = kept_list.filter(site=self.site(name))
        with self.open_output(options["output"]) as lines:
            for row in kept_list.order_by("site__name", "name").iterator(chunk_size=500):
                lines.write(list_json(row))
        if name and not kept_list.exists():
            self.notice(
                f"{name} keeps no list; keep one with: manage.py keep_list {name} NAME FILE"
            )
