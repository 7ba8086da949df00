"""Check a site's bellwethers."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from monitoring.services.checks import checking
from vertex.core.management.output import WorkCommand


class Command(WorkCommand):
    help = (
        "Run the shingle test and the field test on the bellwethers of SITE and say "
        "whether it changed. "
        "The pages come from the site itself, or from SOURCE: a manifest, a WARC, "
        "a zip or a folder of HTML."
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
            request = checking.check_request(site=site, source=options["source"], is_patient=False)
            result = self.run_here(request, report=lines.write)
        verdict = "not changed"
        if result["site_changed"]:
            verdict = f"changed: {', '.join(result['broken'])}"
        self.notice(f"{site.name}: {verdict}. {result['reason']}")
