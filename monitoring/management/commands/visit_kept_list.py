"""Visit a kept list now, from the command line."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from clustering.management.crawl_command import CrawlCommand
from clustering.services.crawl.address_lists import visit_addresses
from monitoring.models import KeptList
from monitoring.services.stream import kept_lists


class Command(CrawlCommand):
    help = (
        "Visit the addresses of the kept list NAME of SITE now, and store their pages; "
        "its times stay as "
        "they are."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument("name", metavar="NAME")
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        present = KeptList.objects.present().select_related("site")
        site = self.site(options["site"])
        kept_list = present.filter(site=site, name=options["name"]).first()
        if kept_list is None:
            raise CommandError(
                f"{site.name} keeps no list {options['name']!r}; see: "
                f"manage.py kept_lists {site.name}"
            )
        with self.reporting(f"Visit “{kept_list.name}”", options["output"]) as report:
            job = kept_lists.visit_here(kept_list=kept_list)
            result = self.finish_here(job, visit_addresses, report=report)
        self.notice(
            f"{result['addresses']:,} address(es), {result.get('stored', 0):,} page(s) stored"
        )
