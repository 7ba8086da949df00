"""Small web sites made from templates, with the truth about every page.

Each site exists in three editions: "1", the small drift of the same look "1b", and the redesign
"2". They serve as the demo, as pages for tests and as development truth for everything that looks
at pages. `load` makes one in memory.
"""

from __future__ import annotations

import importlib
from functools import cache

from vertex.demo.sites.site import DemoPage, DemoSite, Record, Values

__all__ = ["EDITIONS", "NAMES", "DemoPage", "DemoSite", "Record", "Values", "load"]

NAMES = ("alpine-shop", "town-guide", "the-courier", "tinker-board")
EDITIONS = ("1", "1b", "2")


def load(name: str, edition: int | str = 1) -> DemoSite:
    """Return a site in one of its editions; treat it as read-only, it is shared.

    Raises ValueError for a name or an edition that does not exist.
    """
    if name not in NAMES or str(edition) not in EDITIONS:
        raise ValueError(
            f"no site {name!r} in edition {edition!r}; there are {NAMES} in {EDITIONS}"
        )
    return _load(name, str(edition))


# Saves rendering a site, 0.4 s, for each page that is asked for.
@cache
def _load(name: str, edition: str) -> DemoSite:
    module = importlib.import_module(f"vertex.demo.sites.{name.replace('-', '_')}")
    site: DemoSite = module.build(edition)
    return site
