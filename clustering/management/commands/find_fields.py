"""Show the fields of the pages of a site's clusters, without annotations."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from clustering.algorithms.slots.fields import FIRST_SHOWN
from clustering.services.clusters.found_fields import (
    MIN_PAGES,
    ClusterFields,
    cluster_fields,
    clusters_with_pages,
    field_lines,
)
from vertex.core.management.output import WorkCommand
from vertex.core.services.jobs.step_limits import begin_step, limited_steps

MOST_CHARS = 32  # of a cell of the table


class Command(WorkCommand):
    help = (
        "Write the fields of the pages of SITE's clusters: texts that stand alike and vary from "
        "page to page, each with a name, a type, the share of pages that show it, and examples. "
        "What people are shown first comes first; slots that mostly hold the texts of an earlier "
        "one follow after all others and say into which they are folded. No annotation is needed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--cluster", default="", metavar="C", help="only this cluster (default: all)"
        )
        parser.add_argument(
            "--values", action="store_true", help="add what each page shows, by its address"
        )
        parser.add_argument(
            "--table",
            action="store_true",
            help=f"write the first {FIRST_SHOWN} fields of each cluster as a table to be read",
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        clusters = clusters_with_pages(site, options["cluster"])
        if not clusters:
            missing = f"cluster {options['cluster']!r}" if options["cluster"] else "clusters"
            raise CommandError(
                f"{site.name} has no {missing}; cluster it with: manage.py cluster_site {site.name}"
            )
        with (
            self.open_output(options["output"]) as lines,
            self.progress(f"{site.name}: finding fields", len(clusters)) as advance,
            limited_steps(),
        ):
            for cluster in clusters:
                begin_step()
                of_cluster = cluster_fields(cluster)
                if len(of_cluster.pages) < MIN_PAGES:
                    self.notice(f"{cluster.name}: fewer than {MIN_PAGES} pages, so nothing varies")
                if options["table"]:
                    lines.write_bytes(_table_of(of_cluster).encode())
                else:
                    for line in field_lines(of_cluster, with_values=options["values"]):
                        lines.write(line)
                advance()


def _table_of(of_cluster: ClusterFields) -> str:
    """Return the first fields of a cluster as a table of fixed width."""
    shown = of_cluster.shown()
    rows = [("name", "type", "pages", "several", "examples")]
    for field in shown[:FIRST_SHOWN]:
        examples = " | ".join(_cut(example) for example in field.examples[:3])
        several = (field.list_name or "yes") if field.is_multi else ""
        rows.append((_cut(field.name), field.type, f"{field.slot.fill:.0%}", several, examples))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [f"{of_cluster.cluster.name}: {len(shown)} fields on {len(of_cluster.pages)} pages"]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    return "\n".join(lines) + "\n\n"


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARS else f"{text[: MOST_CHARS - 1]}…"
