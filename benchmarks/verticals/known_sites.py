"""Sites of SWDE as the fields of their verticals are learnt from them and compared with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.algorithms.fields.matching import (
    KnownFields,
    Table,
    compare_words,
    matching_features,
)
from annotation.algorithms.fields.profiles import SiteProfile, profile_site
from annotation.algorithms.fields.recognising import MAX_PAGES, find_described_slots
from annotation.algorithms.fields.slot_features import SlotDescription
from benchmarks.verticals.slots import slot_f1
from benchmarks.verticals.swde import SwdeSite


@dataclass(frozen=True)
class KnownSite:
    """Some pages of a site with their slots, and how well each slot shows each attribute."""

    site: SwdeSite  # with those pages only
    slots: Sequence[SlotDescription]
    fits: dict[str, list[float]]
    profile: SiteProfile

    @property
    def vertical(self) -> str:
        return self.site.vertical


def know(site: SwdeSite) -> KnownSite:
    """Return what the first pages of a site show."""
    pages = list(site.trees)[:MAX_PAGES]
    some = replace(
        site,
        trees={page: site.trees[page] for page in pages},
        truth={page: site.truth[page] for page in pages},
    )
    descriptions = find_described_slots(list(some.trees.values()))
    fits = {a: [slot_f1(slot.slot, some, a) for slot in descriptions] for a in some.attributes}
    return KnownSite(some, descriptions, fits, profile_site(site.name, descriptions, fits))


class Verticals:
    """All known sites by vertical."""

    def __init__(self, sites: Iterable[KnownSite]) -> None:
        self._words: dict[tuple[str, ...], Table] = {}
        self.sites: dict[str, list[KnownSite]] = defaultdict(list)
        for site in sites:
            self.sites[site.vertical].append(site)

    def fields(self, vertical: str) -> list[str]:
        return sorted({a for site in self.sites[vertical] for a in site.site.attributes})

    def known(self, vertical: str, sites: Sequence[KnownSite]) -> KnownFields:
        """Return what some sites tell of the fields of their vertical."""
        multi = self.sites[vertical][0].site.multi
        return KnownFields(self.fields(vertical), multi, [site.profile for site in sites])

    def others(self, site: KnownSite) -> list[KnownSite]:
        return [other for other in self.sites[site.vertical] if other is not site]

    def match(self, site: KnownSite, sites: Sequence[KnownSite], spreads: Table) -> Table:
        """Return the matching features of a site's slots; words are compared once."""
        known = self.known(site.vertical, sites)
        key = (site.site.name, *(other.site.name for other in sites))
        if key not in self._words:
            self._words[key] = compare_words(known, site.slots)
        return matching_features(known, site.slots, self._words[key], spreads)

    def spreads(self, verticals: Iterable[str], least: float) -> Table:
        """Return how far each number of a field's slots spreads between its vertical's sites."""
        variances = []
        for vertical in verticals:
            by_field: dict[str, list[Table]] = defaultdict(list)
            for site in self.sites[vertical]:
                for field, examples in site.profile.examples.items():
                    by_field[field].append(np.mean([e.numbers for e in examples], axis=0))
            variances += [
                np.var(rows, axis=0, ddof=1) for rows in by_field.values() if len(rows) > 1
            ]
        spreads: Table = np.sqrt(np.mean(variances, axis=0)).clip(least)
        return spreads
