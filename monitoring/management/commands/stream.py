"""Show how fresh the records of a site are, and choose how fresh they are to be."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from clustering.models import Cluster
from monitoring.services.stream.chain import CHAIN, pause_step
from monitoring.services.stream.goals import choose_goal, goal_json, make_default_goals
from monitoring.services.stream.stream_figures import goals_of, step_states, streams_of
from vertex.core.management.output import WorkCommand
from vertex.core.models import Site

PAUSABLE = [step.key for step in CHAIN if step.start is not None]


class Command(WorkCommand):
    help = (
        "Show for each cluster of SITE with a rule for how long its records may be stale and "
        "how far that is "
        "reached, then each step of the chain; or change it first."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument("--cluster", metavar="CLUSTER", help="whose goal is chosen")
        parser.add_argument("--hours", type=int, metavar="N", help="that its records may be stale")
        parser.add_argument(
            "--requests", type=int, metavar="N", help="a day at most (default: as many as it takes)"
        )
        parser.add_argument("--pause", choices=PAUSABLE, help="a step of the chain")
        parser.add_argument("--resume", choices=PAUSABLE, help="a step of the chain")
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        try:
            self._change(site, options)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
        make_default_goals()
        with self.open_output(options["output"]) as lines:
            for goal in goals_of(site):
                lines.write(goal_json(goal))
            for state in step_states(site):
                lines.write({"step": state.step.key, "state": state.key, "since": state.since})
        stream = streams_of([site.pk]).get(site.pk)
        if stream is None:
            self.notice(f"{site.name}: no visit is planned yet")
        else:
            self.notice(
                f"{site.name}: goal {stream.goal_hours} hours, "
                f"reached for {stream.reached_share:.1%} "
                f"of the records, {stream.n_saved:,} requests saved, next visit {stream.next_at}"
            )

    def _change(self, site: Site, options: dict[str, Any]) -> None:
        """Change what the options name. Raises ValidationError, CommandError."""
        if options["hours"] is not None:
            name = options["cluster"]
            cluster = Cluster.objects.filter(site=site, name=name).first()
            if cluster is None:
                raise CommandError(f"{site.name} has no cluster {name!r}; name one by --cluster")
            choose_goal(
                cluster=cluster, goal_hours=options["hours"], requests_per_day=options["requests"]
            )
        elif options["cluster"] or options["requests"]:
            raise CommandError("say by --hours for how long records may be stale")
        if options["pause"]:
            pause_step(site=site, step=options["pause"], is_paused=True, actor=None)
        if options["resume"]:
            pause_step(site=site, step=options["resume"], is_paused=False, actor=None)
