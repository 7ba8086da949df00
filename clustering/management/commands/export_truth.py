"""Write the types that people confirmed by looking at a site's clusters."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from clustering.services.clusters.cluster_reviews import truth_lines
from vertex.core.management.output import WorkCommand


class Command(WorkCommand):
    help = (
        "Write the pages of SITE's clusters that people judged to be one type, with the cluster's "
        "name as type; pages that they marked as strangers are left out. `evaluate_clusters` takes "
        "it as truth."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        types: set[str] = set()
        n_pages = 0
        with self.open_output(options["output"]) as lines:
            for line in truth_lines(site):
                lines.write(line)
                types.add(line["type"])
                n_pages += 1
        if not n_pages:
            self.notice(
                f"{site.name}: no cluster was judged to be one type; "
                "review some in the browser first"
            )
            return
        self.notice(f"{site.name}: {n_pages:,} pages of {len(types):,} types")
