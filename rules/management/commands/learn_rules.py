"""Learn the rules of a site's annotated clusters."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.core.management.base import CommandParser

from rules.algorithms.learning.learner import LEARNERS
from rules.services.learning import learning
from vertex.core.management.output import WorkCommand
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs


class Command(WorkCommand):
    help = (
        "Learn a rule for each annotated cluster of SITE and publish it with its bellwethers and golden "
        "records. A rule that would change constant values is not published, unless --force."
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
            job = self._request(site, options)
            result = self.run_job(job, partial(learning.learn_rules, report=lines.write))
        self.notice(
            f"{site.name}: {result['rules']:,} rules learnt, {result['published']:,} published"
        )

    def _request(self, site: Site, options: dict[str, Any]) -> Job:
        """Return a new job, or the one that a killed run of the same command left behind."""
        asked = {
            "cluster": options["cluster"],
            "learner": options["learner"],
            "is_draft": options["draft"],
            "is_forced": options["force"],
        }
        try:
            return learning.request_learning(site=site, **asked, rings=False)
        except jobs.JobExists as unfinished:
            if unfinished.job.params != asked:
                raise
            return unfinished.job
