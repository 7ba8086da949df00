"""Show what the clustering of a site is not sure of."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from clustering.models import Clustering
from clustering.services.clusters.doubts import doubt_lines, unfollowed_answers
from vertex.core.management.output import WorkCommand, whole_number

DEFAULT_MOST = 3


class Command(WorkCommand):
    help = (
        "Write the decisions of SITE's current clustering that people may settle, most worth a "
        "look first. Answer them with settle_doubt."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--most",
            type=whole_number,
            default=DEFAULT_MOST,
            metavar="N",
            help=f"show at most so many (default: {DEFAULT_MOST})",
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        current = Clustering.objects.current().filter(site=site).without_model().first()
        if current is None:
            raise CommandError(
                f"{site.name} has no clusters yet; cluster it with: "
                f"manage.py cluster_site {site.name}"
            )
        n_doubts = 0
        with self.open_output(options["output"]) as lines:
            for line in doubt_lines(site, most=options["most"]):
                lines.write(line)
                n_doubts += 1
        if n_doubts == 0:
            self.notice(f"{site.name}: nothing needs a look")
        if unfollowed_answers(current):
            self.notice(
                f"{site.name}: answers were given since it was clustered; follow them with: "
                f"manage.py cluster_site {site.name} --algorithm {current.algorithm}"
            )
