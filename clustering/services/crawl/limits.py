"""The limits of a crawl and its entry: checked here, whoever gives them.

Forms, the API and commands convert what they are given; they show these bounds and leave the check
to the service.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from django.core.exceptions import ValidationError

from clustering.dom.addresses import BadAddress, belongs_to_site, normalise_url
from vertex.core.models import Site

MAX_PAGES: Final = 10_000_000
DEFAULT_PAGES: Final = 1_000  # of a crawl started in the browser, and of a list with its details
MAX_DELAY: Final = 3_600.0  # seconds between two requests to a host


@dataclass(frozen=True, slots=True)
class CrawlLimits:
    """How far a crawl goes, and how fast. Raises ValidationError where it cannot be so."""

    max_pages: int | None = None  # None: all
    delay: float | None = None  # seconds between two requests to a host; None: the site's

    def __post_init__(self) -> None:
        if self.max_pages is not None and not 1 <= self.max_pages <= MAX_PAGES:
            raise ValidationError(
                f"the number of pages must be at least 1 and at most {MAX_PAGES:,}, "
                f"not {self.max_pages}"
            )
        if self.delay is not None and not is_delay(self.delay):
            raise ValidationError(
                f"the delay must be between 0 and {MAX_DELAY:.0f} seconds, not {self.delay}"
            )


def is_delay(seconds: float) -> bool:
    """Return whether one may wait so long between two requests."""
    return math.isfinite(seconds) and 0 <= seconds <= MAX_DELAY


def entry_at(site: Site, url: str) -> str:
    """Return an address at which a crawl of a site begins, normalised. Raises ValidationError."""
    try:
        entry = normalise_url(url)
    except BadAddress as error:
        raise ValidationError(str(error)) from None
    if not belongs_to_site(entry, site.root_url, site.extra_hosts):
        raise ValidationError(
            f"{entry} does not belong to the site {site.name}, whose root is {site.root_url}"
        )
    return entry
