"""Mend a site after a change."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.core.management.base import CommandParser

from clustering.services.clusters import clusterings
from monitoring.services.repair import repairing
from vertex.core.management.output import WorkCommand
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs


class Command(WorkCommand):
    help = (
        "Cluster the pages of SITE as they are now, find the rules that still serve them, and propose rules "
        "for the others from golden values that are found again. The pages come from the site itself, or "
        "from SOURCE: a manifest, a WARC, a zip or a folder of HTML. Nothing changes without --accept."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--source", default="", metavar="SOURCE", help="newer pages (default: the site)"
        )
        parser.add_argument(
            "--accept",
            action="store_true",
            help="store the pages and apply what passes the field test",
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        with self.open_output(options["output"]) as lines:
            job = self._request(site, options)
            result = self.run_job(job, partial(repairing.repair_site, report=lines.write))
        told = ", ".join(f"{n:,} {decision.replace('_', ' ')}" for decision, n in result.items())
        self.notice(f"{site.name}: {told}")

    def _request(self, site: Site, options: dict[str, Any]) -> Job:
        """Return a new job, after ending the one that a killed run left behind."""
        asked = {"source": options["source"], "is_accepted": options["accept"]}
        try:
            return repairing.request_healing(site=site, **asked, rings=False)
        except jobs.JobExists as unfinished:
            job = unfinished.job
            if not clusterings.cancel_left_run(job=job) and not clusterings.take_over(job=job):
                raise
        return repairing.request_healing(site=site, **asked, rings=False)
