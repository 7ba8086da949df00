"""Learn the rules of a site's annotated clusters."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from rules.algorithms.learning.learner import LEARNERS
from rules.services.learning import learning
from vertex.core.management.output import WorkCommand


class Command(WorkCommand):
    help = (
        "Learn a rule for each annotated cluster of SITE and publish it with its bellwethers and "
        "golden records. A rule that would change constant values is not published, unless --force."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--cluster", default="", metavar="C", help="only this cluster (default: all)"
        )
        parser.add_argument("--draft", action="store_true", help="keep the rules as drafts")
        parser.add_argument(
            "--force", action="store_true", help="publish also where constant values change"
        )
        parser.add_argument(
            "--learner", choices=list(LEARNERS), default="default", help="(default: default)"
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        with self.open_output(options["output"]) as lines:
            request = learning.learning_request(
                site=site,
                cluster=options["cluster"],
                learner=options["learner"],
                is_draft=options["draft"],
                is_forced=options["force"],
            )
            result = self.run_here(request, report=lines.write)
        self.notice(
            f"{site.name}: {result['rules']:,} rules learnt, {result['published']:,} published"
        )
