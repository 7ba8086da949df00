"""Keep a list of addresses that is visited at certain times."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from clustering.services.crawl.limits import MAX_DELAY
from monitoring.management.timetable_arguments import add_timetable_arguments, given_timetable
from monitoring.models import KeptList
from monitoring.services.stream import kept_lists
from vertex.core.management.output import WorkCommand, open_input
from vertex.core.models import Site


class Command(WorkCommand):
    help = (
        "Keep the addresses in FILE, one a line, as the list NAME of SITE, "
        "or change the list of this name;"
        " what no option names stays as it is. A new list is visited daily, at any hour. "
        "The clock of"
        " `manage.py up` begins the visits."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument("name", metavar="NAME")
        source = parser.add_mutually_exclusive_group()
        source.add_argument("file", metavar="FILE", nargs="?", default="")
        source.add_argument(
            "--url", default="", help="of such a file on the site, read anew at each visit"
        )
        add_timetable_arguments(parser)
        parser.add_argument(
            "--delay",
            type=float,
            metavar="SECONDS",
            help=f"between two requests to a host, at most {MAX_DELAY:.0f} (default: "
            "the site's own)",
        )
        parser.add_argument("--rename", default="", metavar="NAME", help="call it so from now on")
        presence = parser.add_mutually_exclusive_group()
        presence.add_argument("--delete", action="store_true", help="its pages stay")
        presence.add_argument(
            "--restore", action="store_true", help="take a deletion back, for a month"
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        values = given_timetable(options)
        if options["url"]:
            values["url"] = options["url"]
        if options["file"]:
            with open_input(options["file"]) as file:
                values["addresses"] = kept_lists.addresses_of_file(file)
        if options["delay"] is not None:
            values["delay"] = options["delay"]
        if options["rename"]:
            values["name"] = options["rename"]
        if options["delete"] or options["restore"]:
            if values:
                raise CommandError("a list that is deleted or restored is not changed as well")
            self._delete_or_restore(site, options)
            return
        kept_list = KeptList.objects.present().filter(site=site, name=options["name"]).first()
        if kept_list is None:
            kept_list = kept_lists.add_list(site=site, **{"name": options["name"], **values})
        else:
            kept_list = kept_lists.change_list(kept_list=kept_list, **values)
        with self.open_output(options["output"]) as lines:
            lines.write(kept_lists.list_json(kept_list))
        often = kept_list.words if kept_list.is_active else "only when somebody asks for it"
        self.notice(f"“{kept_list.name}” of {site.name} is visited {often}")

    def _delete_or_restore(self, site: Site, options: dict[str, Any]) -> None:
        named = KeptList.objects.filter(site=site, name=options["name"])
        named = named.filter(dropped_at__isnull=options["delete"])
        kept_list = named.select_related("site").order_by("dropped_at").last()
        if kept_list is None:
            state = "kept" if options["delete"] else "deleted"
            raise CommandError(f"{site.name} has no {state} list {options['name']!r}")
        if options["delete"]:
            kept_lists.drop_list(kept_list=kept_list)
            self.notice(f"“{kept_list.name}” of {site.name} is deleted; its pages stay")
        else:
            kept_lists.restore_list(kept_list=kept_list)
            self.notice(f"“{kept_list.name}” of {site.name} is back")
