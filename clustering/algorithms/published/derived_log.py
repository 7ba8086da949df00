"""Make a search log from the words with which a site's pages link to each other.

Paper:      none; Chakrabarti and Mehta, "The Paths More Taken" (WWW 2010) has the log of a search
            engine.
Readings:   An anchor's text stands for a query, the pages that bear it for clicks: both name the
            page in a few words of other people. A log made so is called a derived log wherever it
            is used.
Departures: Left out are links of a page to itself, texts without a term, and texts that lead to
            more than 5 pages (`next`, `details`, `2`): they name none of them.
Cost:       Linear in the links.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from clustering.algorithms.grouping import Click, SiteLink
from clustering.algorithms.published.attributed_paths import terms_of

MAX_TARGETS = 5  # pages that a text leads to


def derive_clicks(links: Iterable[SiteLink]) -> list[Click]:
    """Return a click for each text and page it leads to, counting the pages that link so.

    >>> links = [SiteLink("/", "/a[1]", "/p", "Rope"), SiteLink("/q", "/a[1]", "/p", "rope!")]
    >>> derive_clicks(links)
    [Click(query='rope', url='/p', clicks=2)]
    """
    sources: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    targets: defaultdict[str, set[str]] = defaultdict(set)
    for link in links:
        query = " ".join(terms_of(link.text))
        if query and link.source != link.target:
            sources[link.target, query].add(link.source)
            targets[query].add(link.target)
    return [
        Click(query, url, len(pages))
        for (url, query), pages in sorted(sources.items())
        if len(targets[query]) <= MAX_TARGETS
    ]
