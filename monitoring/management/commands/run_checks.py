"""Check a site's bellwethers."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.core.management.base import CommandParser

from clustering.services.clusters import clusterings
from monitoring.services.checks import checking
from vertex.core.management.output import WorkCommand
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs


class Command(WorkCommand):
    help = (
        "Run the shingle test and the field test on the bellwethers of SITE and say whether it changed. "
        "The pages come from the site itself, or from SOURCE: a manifest, a WARC, a zip or a folder of HTML."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--source", default="", metavar="SOURCE", help="newer pages (default: the site)"
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        with self.open_output(options["output"]) as lines:
            job = self._request(site, options["source"])
            result = self.run_job(job, partial(checking.run_checks, report=lines.write))
        told = (
            f"changed: {', '.join(result['broken'])}" if result["site_changed"] else "not changed"
        )
        self.notice(f"{site.name}: {told}. {result['reason']}")

    def _request(self, site: Site, source: str) -> Job:
        """Return a new job, after ending one that a killed run left behind or that waits for a worker."""
        try:
            return checking.request_checks(site=site, source=source, rings=False)
        except jobs.JobExists as unfinished:
            job = unfinished.job
            if not clusterings.cancel_left_run(job=job) and not clusterings.take_over(job=job):
                raise
        return checking.request_checks(site=site, source=source, rings=False)
