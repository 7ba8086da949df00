"""Learn what the fields of a vertical look like."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.models import Vertical
from rules.services.fields import field_profiles
from vertex.core.management.output import WorkCommand


class Command(WorkCommand):
    help = (
        "Learn the fields of VERTICAL from the published rules of its sites and what they extract "
        "from the stored pages. Drafts do so by themselves for rules that were published since."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("vertical", metavar="VERTICAL")
        parser.add_argument(
            "--sites", nargs="+", default=[], metavar="SITE", help="only these (default: all)"
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        vertical = Vertical.objects.filter(name=options["vertical"]).first()
        if vertical is None:
            raise CommandError(
                f"there is no vertical {options['vertical']!r}; load it with: "
                "manage.py load_vertical"
            )
        sites = [self.site(name) for name in options["sites"]]
        with self.open_output(options["output"]) as lines:
            request = field_profiles.training_request(vertical=vertical, sites=sites)
            result = self.run_here(request, report=lines.write)
        self.notice(
            f"{vertical.name}: learnt from {result['pages']:,} pages of {result['sites']:,} sites"
        )
