"""Choose pages from all parts of a site where there are too many for a repair to look at.

Paper:      none; the paper clusters what its crawl brought.
Notation:   A stratum is a set of pages that are probably of one type: those of a cluster, or those whose
            addresses have one pattern.
Readings:   Each stratum gives MIN_PAGES_OF_STRATUM, or equally many where these are too many together, so
            that small clusters get a plan too; the others come from the strata in proportion to what they
            have left.
Cost:       Linear in pages, but for the sort.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from clustering.dom.addresses import url_hash

MIN_PAGES_OF_STRATUM: Final = 20


def sample_strata(
    stratum_by_url: Mapping[str, str], n: int, *, preferred: Collection[str] = ()
) -> list[str]:
    """Return at most so many pages from all strata, sorted; all pages where there are no more.

    Of a stratum, those that are preferred come first, then those of least hash.
    """
    if len(stratum_by_url) <= n:
        return sorted(stratum_by_url)
    urls_by_stratum: dict[str, list[str]] = {}
    for url, stratum in stratum_by_url.items():
        urls_by_stratum.setdefault(stratum, []).append(url)
    sizes = {stratum: len(urls) for stratum, urls in urls_by_stratum.items()}
    sampled: list[str] = []
    for stratum, n_sampled in share_out(sizes, n).items():
        urls = urls_by_stratum[stratum]
        urls.sort(key=lambda url: (url not in preferred, url_hash(url)))
        sampled += urls[:n_sampled]
    return sorted(sampled)


def share_out(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """Return how many pages each stratum gives, so many at most together."""
    if sum(sizes.values()) <= n:
        return dict(sizes)
    n_each = min(MIN_PAGES_OF_STRATUM, n // len(sizes))
    n_by_stratum = {stratum: min(size, n_each) for stratum, size in sizes.items()}
    n_left = n - sum(n_by_stratum.values())
    n_others = sum(sizes.values()) - sum(n_by_stratum.values())
    for stratum, size in sizes.items():
        n_by_stratum[stratum] += n_left * (size - n_by_stratum[stratum]) // n_others
    return n_by_stratum
