"""Repair real sites in an own installation: `playing DIR DATA [SITE …]` prints a line a step."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Final

import django

N_ANNOTATED: Final = 3  # pages of each cluster


def main(arguments: list[str]) -> int:
    """Print a line for each step of the sites, or of those whose names begin with a given one."""
    folder, data = Path(arguments[0]), Path(arguments[1])
    os.environ["DJANGO_SETTINGS_MODULE"] = "vertex.settings"
    django.setup()
    from benchmarks.real_repairs.described import cases
    from benchmarks.redesigns.playing import call, play
    from monitoring.models import Check

    call("migrate", "--no-input", "-v0")
    for case in cases(data):
        if arguments[2:] and not case.site.startswith(tuple(arguments[2:])):
            continue
        row = play(case, folder / case.site, N_ANNOTATED)
        check = Check.objects.filter(site__name=case.site).latest("pk")
        print(json.dumps(row | {"verdict": check.verdict}, ensure_ascii=False), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
