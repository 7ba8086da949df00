"""Export annotations."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.services.files.exporting import export_annotations
from clustering.models import Cluster
from vertex.core.management.output import WorkCommand


class Command(WorkCommand):
    help = (
        "Write what is said of the pages of SITE: W3C Web Annotations, "
        "or lines as an import takes them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--cluster", default="", metavar="C", help="only this cluster's pages (default: all)"
        )
        parser.add_argument(
            "--format", choices=["w3c", "lines"], default="w3c", help="(default: w3c)"
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        cluster = None
        if options["cluster"]:
            cluster = Cluster.objects.filter(site=site, name=options["cluster"]).first()
            if cluster is None:
                raise CommandError(f"{site.name} has no cluster {options['cluster']!r}")
        with self.open_output(options["output"]) as lines:
            for line in export_annotations(site, cluster=cluster, w3c=options["format"] == "w3c"):
                lines.write(line)
