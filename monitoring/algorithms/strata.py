"""Choose pages of all clusters of a site where there are too many for a repair to look at.

Paper:      none; the paper clusters what its crawl brought.
Notation:   A stratum is a set of pages that are probably of one type: those of a cluster, or those
            whose addresses have one pattern.
Readings:   How many pages each stratum gives is decided as for the sample of a clustering
            (`share_out`), so that small clusters get a plan too.
Cost:       Linear in pages, but for the sort.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from clustering.algorithms.page_sampling import share_out
from clustering.dom.addresses import url_hash


def sample_strata(
    stratum_by_url: Mapping[str, str], n: int, *, preferred: Collection[str] = ()
) -> list[str]:
    """Return at most so many pages from all strata, sorted; all pages where there are no more.

    Of a stratum, those that are preferred come first, then those of least hash.
    """
    urls_by_stratum: dict[str, list[str]] = {}
    for url in sorted(stratum_by_url):
        urls_by_stratum.setdefault(stratum_by_url[url], []).append(url)
    strata = [urls for _, urls in sorted(urls_by_stratum.items())]
    sampled: list[str] = []
    for urls, share in zip(strata, share_out([len(urls) for urls in strata], n), strict=True):
        urls.sort(key=lambda url: (url not in preferred, url_hash(url)))
        sampled += urls[:share]
    return sorted(sampled)
