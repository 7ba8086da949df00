"""Score the clusters of pages against their true types."""

from __future__ import annotations

from django.core.management.base import CommandError, CommandParser

from clustering.algorithms.measures import NothingInCommon
from clustering.services.clusters.evaluation import evaluate, read_assignments, read_truth
from vertex.core.management.output import STANDARD, WorkCommand


class Command(WorkCommand):
    help = (
        "Compare the clusters of --assignments with the types of --truth on the pages that are in "
        "both, and write one line of figures. A page in no cluster counts as a cluster of its own."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--assignments",
            required=True,
            metavar="FILE",
            help='lines {"url", "cluster"}',
        )
        parser.add_argument("--truth", required=True, metavar="FILE", help='lines {"url", "type"}')
        self.add_output_argument(parser)

    def handle(self, *args: str, **options: str) -> None:
        if options["assignments"] == options["truth"] == STANDARD:
            raise CommandError(
                "only one of --assignments and --truth can be standard input", returncode=2
            )
        clusters = read_assignments(options["assignments"], self.report_bad_line)
        types = read_truth(options["truth"], self.report_bad_line)
        try:
            figures, n_without_type, n_without_cluster = evaluate(clusters, types)
        except NothingInCommon:
            raise CommandError(
                f"none of the {len(clusters):,} URL(s) of {options['assignments']} is among the "
                f"{len(types):,} of {options['truth']}"
            ) from None
        if n_without_type or n_without_cluster:
            self.notice(
                f"not scored: {n_without_type:,} page(s) without a type, {n_without_cluster:,} "
                "without an assignment"
            )
        with self.open_output(options["output"]) as lines:
            lines.write(figures)
