"""Show and change how a site is fetched, from the command line."""

from __future__ import annotations

from typing import Any

import orjson
from django.core.management.base import CommandError, CommandParser

from clustering.services.sites.site_fetching import (
    PLAIN,
    SECRETS_BY_NAME,
    change_fetching,
    fetching_json,
    fetching_of,
)
from clustering.services.sites.sites import BadSite
from vertex.core.management.output import STANDARD, WorkCommand, open_input

MAX_BYTES = 1024 * 1024
KIND_BY_KEY = {
    "crawl_delay": "number",
    **dict.fromkeys(("obey_robots", "render"), "true or false"),
    "rendered_clusters": "list of texts",
    **dict.fromkeys(PLAIN, "text"),
    "proxy_password": "text",
    **dict.fromkeys(SECRETS_BY_NAME, "object of names with texts or null"),
}


class Command(WorkCommand):
    help = (
        "Write how SITE is fetched: pause, fetcher, user agent, proxy, log-in, and the names of "
        "its headers, cookies and fields. Their values are never shown."
    )
    failures = (BadSite,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--change",
            metavar="FILE",
            help="change what this JSON object names, as the API takes it; - is standard input, so "
            "that no secret stands in a command line",
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        row = fetching_of(site)
        if options["change"]:
            row = change_fetching(site=site, actor=None, **_read_changes(options["change"]))
        with self.open_output(options["output"]) as lines:
            lines.write({"site": site.name, **fetching_json(site, row)})


def _read_changes(path: str) -> dict[str, Any]:
    name = "standard input" if path == STANDARD else path
    with open_input(path) as file:
        written = file.read(MAX_BYTES)
    try:
        changes = orjson.loads(written)
    except orjson.JSONDecodeError:
        raise CommandError(f"{name} is no JSON") from None
    if not isinstance(changes, dict):
        raise CommandError(f"{name} holds no JSON object")
    for key, value in changes.items():
        kind = KIND_BY_KEY.get(key)
        if kind is None:
            raise CommandError(f"{name}: unknown {key!r}; known are {', '.join(KIND_BY_KEY)}")
        if not _is_of_kind(value, kind):
            raise CommandError(f"{name}: {key} is no {kind}")
    return changes


def _is_of_kind(value: object, kind: str) -> bool:
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "text":
        return isinstance(value, str)
    if kind == "true or false":
        return isinstance(value, bool)
    if kind == "list of texts":
        return isinstance(value, list) and all(isinstance(part, str) for part in value)
    return isinstance(value, dict) and all(
        part is None or isinstance(part, str) for part in value.values()
    )
