"""Delete a site with all it owns."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from clustering.services.sites import retention
from vertex.core.management.output import WorkCommand
from vertex.core.services.jobs.requests import create_here


class Command(WorkCommand):
    help = (
        "Delete a site with its pages, snapshots, jobs and all that was made of them. "
        "It cannot be undone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--yes", action="store_true", help="needed, because it cannot be undone"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        if not options["yes"]:
            raise CommandError(
                f"this deletes {site.name} and its {site.n_pages:,} pages for good; say --yes, "
                f"and keep a copy with: manage.py export_site {site.name} --output FOLDER"
            )
        job = retention.start_deletion(site=site, actor=None, create=create_here)
        self.finish_here(job, retention.delete_site)
