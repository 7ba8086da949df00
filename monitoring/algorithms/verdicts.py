"""The verdicts on a cluster or a site, and from when on a cluster counts as broken.

They stand apart from `site_change`, which comes to them: whoever stores or shows verdicts does not
load all that they are made from, at the start of each command.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

AS_IT_WAS: Final = "as_it_was"
CONTENT_CHANGED: Final = "content_changed"
PARTLY_REDESIGNED: Final = "partly_redesigned"
REDESIGNED: Final = "redesigned"
UNDECIDED: Final = "undecided"
UNREACHABLE: Final = "unreachable"  # of a page too
BROKEN: Final = frozenset({PARTLY_REDESIGNED, REDESIGNED})


@dataclass(frozen=True)
class Thresholds:
    """When a cluster counts as broken; the paper's are 0.5 for both majorities."""

    pages: float = 0.5  # share of the reachable bellwethers above which a test fails
    quorum: float = 0.1  # share of them that must fail before a part of them counts as redesigned
    coverage_drop: float = 0.1  # of the pages with all mandatory values, that confirms it as well
    # Share of the bellwethers that must be seen; with fewer nothing is broken.
    reachable: float = 0.5
    # Share of a site's rules; when no more break, the paper takes it for a false alarm.
    rules: float = 0.1
    # Of the pages, or of the records with an attribute, among all that come in.
    crawl_drop: float = 0.2


USUAL_THRESHOLDS: Final = Thresholds()
