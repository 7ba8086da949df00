"""Repair versions of sites in an own installation: `playing DIR DATA [SITE …]`, a line each."""

from __future__ import annotations

import html
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import django

N_ANNOTATED: Final = 3  # pages of each cluster
# Versions of the generated sites: a new layout, all new, two fields exchanged.
REPAIRED_VERSIONS: Final = ("v3", "v4", "v5")
MOVED_VERSION: Final = "v4"  # of which all addresses are others as well
LINK: Final = re.compile(rb'href="([^"]*)"')


def main(arguments: list[str]) -> int:
    """Print a line for each version of the sites, or of those with a name that begins as given."""
    folder, data = Path(arguments[0]), Path(arguments[1])
    os.environ["DJANGO_SETTINGS_MODULE"] = "vertex.settings"
    django.setup()
    from benchmarks.redesigns.playing import call, play

    call("migrate", "--no-input", "-v0")
    for case in cases(data):
        if not arguments[2:] or case.site.startswith(tuple(arguments[2:])):
            row = play(case, folder / case.site, N_ANNOTATED)
            print(json.dumps(row | {"decisions": decisions(case.site)}), flush=True)
    return 0


def decisions(site: str) -> list[dict[str, Any]]:
    """Return how each new cluster is served, and by which match of the paper its rule was found."""
    from monitoring.models import Proposal

    proposals = Proposal.objects.filter(site__name=site).order_by("name")
    rows = proposals.values("name", "decision", "variant", "n_urls", "url_share")
    return [dict(row) for row in rows]


def cases(data: Path) -> Iterator[Any]:
    """Yield a site for each version that is repaired.

    In one site, what was accepted for one version would be known at the next.
    """
    from benchmarks.site_changes.histories import STATES_OF_KIND, histories

    for history in histories(data):
        case = history.case
        if case.group == "generated":
            names: tuple[str, ...] = REPAIRED_VERSIONS
        elif case.group == "real":
            redesign = STATES_OF_KIND["redesign"]
            names = tuple(name for name in case.later if history.right_states[name] == redesign)
        else:
            names = ()
        for name in names:
            site = f"{case.site}-{name}"
            repaired = replace(
                case,
                site=site,
                group=f"{case.group} {name}" if case.group == "generated" else case.group,
                vertical=case.vertical | {"name": f"{case.vertical['name']}-{name}"},
                later={name: case.later[name]},
                redesigned=frozenset(page.type for page in case.first.values() if page.values),
                kind=site,
            )
            yield repaired
            if name == MOVED_VERSION and case.group == "generated":
                yield at_other_addresses(repaired)


def at_other_addresses(case: Any) -> Any:
    """Return a site whose later pages all stand at, and link to, other addresses."""
    site = f"{case.site}-moved"
    ((name, edition),) = case.later.items()
    new_by_former = {path: f"/moved/{number}" for number, path in enumerate(edition)}

    def moved_link(match: re.Match[bytes]) -> bytes:
        path = html.unescape(match[1].decode())
        return f'href="{new_by_former.get(path, path)}"'.encode()

    moved = {
        new_by_former[path]: replace(page, body=LINK.sub(moved_link, page.body))
        for path, page in edition.items()
    }
    return replace(
        case,
        site=site,
        group=f"{case.group}, all at other addresses",
        vertical=case.vertical | {"name": site},
        later={name: moved},
        kind=site,
        former_paths={new: former for former, new in new_by_former.items()},
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
