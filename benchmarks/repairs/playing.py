"""Repair versions of sites in an installation of its own: `playing DIR DATA [SITE …]`, a line for each version."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import django

N_ANNOTATED: Final = 3  # pages of each cluster
# Versions of the generated sites: a new layout, all new, two fields exchanged.
REPAIRED_VERSIONS: Final = ("v3", "v4", "v5")


def main(arguments: list[str]) -> int:
    """Print a line for each version of the sites, or of those whose names begin with one of the given ones."""
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
    """Return how each new cluster of a site is served, and by which match of the paper its rule was found."""
    from monitoring.models import Proposal

    proposals = Proposal.objects.filter(site__name=site).order_by("name")
    rows = proposals.values("name", "decision", "variant", "n_urls", "url_share")
    return [dict(row) for row in rows]


def cases(data: Path) -> Iterator[Any]:
    """Yield a site for each version that is repaired: what was accepted for one would be known at the next."""
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
            yield replace(
                case,
                site=site,
                group=f"{case.group} {name}" if case.group == "generated" else case.group,
                vertical=case.vertical | {"name": f"{case.vertical['name']}-{name}"},
                later={name: case.later[name]},
                redesigned=frozenset(page.type for page in case.first.values() if page.values),
                kind=site,
            )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
