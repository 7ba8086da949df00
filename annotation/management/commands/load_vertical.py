"""Create or update a vertical from a JSON file."""

from __future__ import annotations

from django.core.management.base import CommandError, CommandParser

from annotation.services.verticals.verticals import BadVertical, read_vertical, save_vertical
from vertex.core.management.output import WorkCommand
from vertex.core.services.files.files import read_whole

MAX_BYTES = 1024 * 1024


class Command(WorkCommand):
    help = (
        'Create or update the vertical that FILE describes: {"name", "attributes": '
        '[{"name", "type",'
        ' "constant", "mandatory", "multi", "regex"}]}. '
        "An attribute that FILE no longer has is hidden;"
        " its annotations are kept."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE.json")

    def handle(self, *args: str, **options: str) -> None:
        text = read_whole(options["file"], MAX_BYTES)
        try:
            plan = read_vertical(text)
            vertical = save_vertical(
                name=plan.name, attributes=plan.attributes, description=plan.description, actor=None
            )
        except BadVertical as error:
            raise CommandError(f"{options['file']}: {error}") from error
        self.notice(f"{vertical.name}: {len(plan.attributes)} attributes")
