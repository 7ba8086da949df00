"""Create a site, and say which vertical its pages describe."""

from __future__ import annotations

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from annotation.models import Vertical
from annotation.services.verticals.verticals import assign_vertical
from clustering.services.sites.sites import SiteExists, add_site
from vertex.core.management.output import WorkCommand


class Command(WorkCommand):
    help = "Create SITE; the vertical is assigned to its clusters unless a cluster says otherwise."
    failures = (SiteExists,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument("--url", required=True, metavar="ROOT", help="the site's root URL")
        parser.add_argument(
            "--vertical", default="", metavar="V", help="the name of a vertical that was loaded"
        )

    def handle(self, *args: str, **options: str) -> None:
        with transaction.atomic():
            site = add_site(name=options["site"], root_url=options["url"], actor=None)
            if options["vertical"]:
                assign_vertical(site=site, vertical=_vertical(options["vertical"]), actor=None)
        self.notice(f"{site.name}: {site.root_url}")


def _vertical(name: str) -> Vertical:
    vertical = Vertical.objects.filter(name=name).first()
    if vertical is None:
        known = ", ".join(Vertical.objects.values_list("name", flat=True)) or "none so far"
        raise CommandError(
            f"there is no vertical {name!r}; load one with load_vertical FILE.json "
            f"(loaded: {known})"
        )
    return vertical
