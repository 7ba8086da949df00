"""Labelled sites' types in plain words, by one who has not seen the code: page_kinds.tsv."""

from __future__ import annotations

import csv
import re
from typing import NamedTuple

from benchmarks.labelled_sites import SWDE, TRUTH

_SWDE_NAME = re.compile(r"-.*")


class Description(NamedTuple):
    """What a type of pages is, in plain words."""

    kind: str  # detail, list, navigation …
    words: str  # its name and its description


def descriptions() -> dict[tuple[str, str], Description]:
    """Return the description of each type of each site."""
    with TRUTH.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {
        (row["site"], row["type"]): Description(
            row["kind"], f"{_plain_name(row['site'], row['type'])}; {row['words']}"
        )
        for row in rows
    }


def _plain_name(site: str, type_: str) -> str:
    """Return the name of a type in words; a type of SWDE is named after site and vertical."""
    return _SWDE_NAME.sub("", type_) if site == SWDE else type_.replace("_", " ")
