"""Write the pages of a site as a web archive."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from clustering.models import Page
from clustering.services.pages.warc_export import pack, warc_parts
from vertex.core.management.output import WorkCommand


class Command(WorkCommand):
    help = (
        "Write the pages of SITE as a web archive (WARC) with their links, depths and redirects; "
        "`import_pages` and the tools of other crawlers take it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        is_packed = options["output"].endswith(".gz")
        n_pages = Page.objects.filter(site=site).count()
        with (
            self.open_output(options["output"], is_packed=is_packed) as stream,
            self.progress("Pages", n_pages) as advance,
        ):
            for records in warc_parts(site):
                for record in records:
                    stream.write_bytes(pack(record) if is_packed else record)
                advance()
