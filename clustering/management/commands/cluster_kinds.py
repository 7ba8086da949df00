"""Show what the clusters of a site are for."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from clustering.models import Clustering
from clustering.services.clusters.kinds import kind_lines
from vertex.core.management.output import WorkCommand


class Command(WorkCommand):
    help = (
        "Write of what kind each cluster of SITE is, with what certainty, and its layouts: detail, "
        "list, navigation, search, error, login or other. Only detail clusters are asked for in "
        "the queue."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        if not Clustering.objects.current().filter(site=site).exists():
            raise CommandError(
                f"{site.name} has no clusters yet; cluster it with: "
                f"manage.py cluster_site {site.name}"
            )
        with self.open_output(options["output"]) as lines:
            for line in kind_lines(site):
                lines.write(line)
