"""Show the product on sites of its own."""

from __future__ import annotations

import signal
import sys
from typing import Any, TextIO, cast

from django.core.management.base import CommandError, CommandParser
from rich.console import Console

from clustering.services.sites.sites import SiteExists
from vertex.core.management.output import WorkCommand
from vertex.demo import demo, serving, sites


class Command(WorkCommand):
    help = (
        "Serve four small sites on this machine and take them through everything: crawl, "
        "search logs, "
        "clusters, samples, annotations, rules, records. "
        "Add a person of each role and say what to open in "
        "the browser. Doing it again is quick, goes on where it stopped and undoes nothing."
    )
    failures = (serving.DemoRefused, demo.DemoIncomplete, SiteExists)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--serve",
            "--serve-only",
            action="store_true",
            help="only serve the sites, until the command is stopped",
        )
        parser.add_argument(
            "--redesign",
            choices=sites.NAMES,
            metavar="SITE",
            help="serve a site of the demo in its redesign, and check it: an alarm is raised",
        )
        parser.add_argument(
            "--max-pages", type=int, metavar="N", help="crawl at most this many pages of each site"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["max_pages"] is not None and options["max_pages"] < 1:
            raise CommandError("--max-pages: at least 1", returncode=2)
        self.stdout.ending = ""  # rich writes its own line ends
        console = Console(file=cast("TextIO", self.stdout), highlight=False)
        if options["redesign"]:
            demo.redesign(console, options["redesign"])
        elif options["serve"]:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: sys.exit(0))
            serving.serve_sites(console)
        else:
            demo.take_tour(console, max_pages=options["max_pages"])
