"""Sample the pages of a site, or of a cluster, from all parts of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.db.models import Min

from clustering.algorithms.grouping import Clusterer
from clustering.algorithms.page_sampling import Candidate, sample_by_strata
from clustering.dom.paths import without_positions
from clustering.models import Link
from clustering.services.pages.stored_pages import StoredPage, sample_pages
from vertex.core.models import Site

MIN_SAMPLE = 2_000  # pages; a site of so many is its own sample
SAMPLED_SHARE = 0.2
MAX_SAMPLE = 20_000
# What an algorithm groups by default; where people ask for more, as many as it takes.
DEFAULT_SAMPLE_BY_ALGORITHM = {"auto": 2_000}
LINK_READERS = frozenset({"site_model"})  # a sample would have no links between its pages


def sample_size(clusterer: Clusterer, n_pages: int, wanted: int | None = None) -> int:
    """Return how many of so many pages an algorithm groups itself.

    As many as are asked for, within its bounds; by default all of a small site and a fifth of a
    large one.
    """
    size = max(MIN_SAMPLE, min(MAX_SAMPLE, round(SAMPLED_SHARE * n_pages)))
    if clusterer.name in LINK_READERS:
        size = MAX_SAMPLE
    size = DEFAULT_SAMPLE_BY_ALGORITHM.get(clusterer.name, size)
    if wanted is not None:
        size = wanted
        if clusterer.name in DEFAULT_SAMPLE_BY_ALGORITHM and clusterer.max_pages is not None:
            size = min(wanted, clusterer.max_pages)
    return min(n_pages, size)


def sample_by_parts(
    site: Site, pages: Sequence[StoredPage], size: int, *, always: Collection[str] = ()
) -> list[StoredPage]:
    """Return so many pages from all parts of a site, always the same ones and in the same order.

    Pages whose URL is in `always` come first.
    """
    first = sample_pages([page for page in pages if page.url in always], size)
    others = [page for page in pages if page.url not in always]
    n_others = size - len(first)
    place_by_hash = _link_places(site) if len(others) > n_others else {}
    candidates = [
        Candidate(page.url, page.url_hash, page.depth, place_by_hash.get(page.url_hash, ""))
        for page in others
    ]
    return [*first, *[others[index] for index in sample_by_strata(candidates, n_others)]]


def _link_places(site: Site) -> dict[bytes, str]:
    """Return where on a page a link to each address of a site stands, the first place by its name.

    It is the same whatever order the pages came in.
    """
    links = Link.objects.filter(page__site=site).order_by().values_list("url_hash")
    return {
        bytes(address): without_positions(xpath)
        for address, xpath in links.annotate(place=Min("xpath")).iterator(chunk_size=5_000)
    }
