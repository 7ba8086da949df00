"""Group pages by where they are linked from, where their addresses tell nothing.

Notation:   The place of a link is its XPath without positions together with the group of the page
            that it stands on: pages that are linked from the same place of the same kind of page
            are often of one type.
Cost:       Linear in the links.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from clustering.algorithms.grouping import SiteLink
from clustering.dom.paths import without_positions

MOST_LINKED = 0.5  # of a site's pages; what more pages link to is navigation


def inbound_places(
    urls: Sequence[str], links: Sequence[SiteLink], group_by_url: Mapping[str, int]
) -> list[str]:
    """Return the commonest of the places that each page is linked from; blank where there is none."""
    sources: defaultdict[str, set[str]] = defaultdict(set)
    places: defaultdict[str, set[str]] = defaultdict(set)
    known = set(urls)
    for link in links:
        if link.target in known and link.source in group_by_url and link.source != link.target:
            sources[link.target].add(link.source)
            places[link.target].add(f"{group_by_url[link.source]} {without_positions(link.xpath)}")
    is_linked = {url for url in known if len(sources[url]) <= MOST_LINKED * len(known)}
    n_targets = Counter(place for url in is_linked for place in places[url])
    commonest = {
        url: max(places[url], key=lambda place: (n_targets[place], place), default="")
        for url in is_linked
    }
    return [commonest.get(url, "") for url in urls]
