"""Keep a stylesheet that somebody wrote as a draft of a cluster's rule."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from clustering.models import Cluster
from rules.algorithms.by_hand.sandbox import MAX_STYLESHEET
from rules.services.learning.trial_runs import HandEdit, trial_json, try_edit
from rules.services.review.hand_versions import keep_version
from vertex.core.management.output import WorkCommand, open_input
from vertex.core.models import Site
from vertex.core.services.jobs.step_limits import limited_steps


class Command(WorkCommand):
    help = (
        "Check the XSLT 1.0 stylesheet FILE (- is standard input), score it on the samples of "
        "CLUSTER, and keep it as a draft of the cluster's rule. What the sandbox refuses is told "
        "with its line, not kept."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument("cluster", metavar="CLUSTER")
        parser.add_argument("file", metavar="FILE")
        parser.add_argument(
            "--why", default="", help="why it is written by hand; needed to keep it"
        )
        parser.add_argument("--check", action="store_true", help="score it only, keep nothing")
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        cluster = self._cluster(site, options["cluster"])
        with open_input(options["file"]) as stream:
            edit = HandEdit(stylesheet=stream.read(MAX_STYLESHEET + 1))
        with limited_steps():
            trial, name = try_edit(cluster, edit), "not kept"
        if trial.refused:
            raise CommandError(f"{options['file']} is refused: {trial.refused}")
        if not options["check"]:
            rule = keep_version(cluster=cluster, edit=edit, why=options["why"], trial=trial)
            name = f"kept as {rule}, a draft"
        with self.open_output(options["output"]) as lines:
            for line in trial_json(trial)["attributes"]:
                lines.write({"cluster": cluster.name, **line})
        self.notice(
            f"{site.name}: {name}; {trial.n_run} of {len(trial.runs)} samples in "
            f"{trial.seconds:.2f} s"
        )

    def _cluster(self, site: Site, name: str) -> Cluster:
        cluster = Cluster.objects.filter(site=site, name=name).select_related("site").first()
        if cluster is None:
            names = ", ".join(
                Cluster.objects.present().filter(site=site).values_list("name", flat=True)[:20]
            )
            raise CommandError(f"{site.name} has no cluster {name!r}; it has: {names or 'none'}")
        return cluster
