"""Group pages by type from all that a site offers: the default, right on most sites without parameters.

Paper:      None; the profile distance and what informs it were found by measuring on many sites.
            Tag paths as in Chakrabarti and Mehta (WWW 2010) without their search log, inbound links
            as in Grigalis and Cenys (2014).
Notation:   A profile is the share of a group's pages that have each feature, d the weighted
            difference of two (`profiles`). A feature is a path, a field or a label at its path
            (`feature_table`). Where a page stands is its address pattern (`url_patterns`), refined
            by the place that it is linked from (`inbound`) where the address tells nothing. A look
            is a group of pages of one type that look alike.
Readings:   The steps of `cluster_pages`, in their order: 1. Weigh the features of the pages. 2.
            Join the closest profiles up to FINE: groups so close that they hold one type, or
            near-twins. 3. Part these by address patterns: cells, which are often parts of a type.
            4. Join the closest cells until none are closer than their bound (`kinship`): a low one
            where addresses and looks differ, a high one where addresses are the same and looks do
            not differ clearly. 5. Join looks that stand at the same addresses and show the same
            labels. 6. Split near-twins, by an address or a section of their own (`near_twins`), or
            by fields that exclude each other (`exclusive_fields`). A later page goes to the nearest
            look within its reach (`profile_model`).
Departures: Search logs are not used; `keyclus` is the algorithm for sites that have one.
Cost:       Quadratic in the distinct pages, about 10 s for 3,000; the product clusters at most so
            many and assigns the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.automatic.exclusive_fields import split_by_fields
from clustering.algorithms.automatic.feature_table import FeatureTable, tabulate
from clustering.algorithms.automatic.group_reasons import describe_groups
from clustering.algorithms.automatic.kinship import (
    KinshipBounds,
    Where,
    join_looks,
    mixed_addresses,
)
from clustering.algorithms.automatic.link_fallback import inbound_places
from clustering.algorithms.automatic.near_twins import split_by_address, split_by_section
from clustering.algorithms.automatic.page_features import PageFeatures, observe
from clustering.algorithms.automatic.profile_model import Grouped, assign, model_of
from clustering.algorithms.automatic.profiles import grouped, join_profiles, numbered, shares_of
from clustering.algorithms.grouping import (
    Clusterer,
    ClusteringInputs,
    Grouping,
    SiteLink,
    TooManyPages,
    grouping_of,
)
from clustering.algorithms.url_patterns import address_patterns

FINE = 0.45  # pages of several types that differ by more than a section are farther apart
MOST_PAGES = 5_000  # distances between all pairs of 5,000 pages take 100 MB and a minute


def cluster_pages(
    urls: Sequence[str], observations: Sequence[PageFeatures], evidence: ClusteringInputs
) -> Grouping:
    """Group pages by type.

    Raises TooManyPages.
    """
    if len(urls) > MOST_PAGES:
        raise TooManyPages(
            f"{len(urls):,} pages; auto clusters at most {MOST_PAGES:,} and assigns the others"
        )
    if not urls:
        return Grouping([], why="There are no pages.")
    # So that no result depends on the pages' order; equal addresses by what stands there.
    order = sorted(
        range(len(urls)), key=lambda page: (urls[page], observations[page].features.tobytes())
    )
    pages = [observations[page] for page in order]
    table = tabulate(pages)
    fine = join_fine(table)
    patterns = address_patterns([urls[page] for page in order])
    addresses = numbered(patterns)
    cell = by_both(fine, addresses)
    where = find_places(table, addresses, cell, [urls[page] for page in order], evidence.links)
    look = join_cells(table, where, cell)
    family = numbered(join_looks(table, where, look))
    group = split_twins(table, patterns, look, family)
    names = [f"g{number:04}" for number in range(int(group.max()) + 1)]
    whys = dict(zip(names, describe_groups(table, group, pages), strict=True))
    name_by_page = {page: names[number] for page, number in zip(order, group.tolist(), strict=True)}
    return grouping_of(
        [name_by_page[page] for page in range(len(urls))],
        why=explain(table, where, look, family, group),
        whys=whys,
        model=model_of(table, Grouped(by_both(look, group), group, family, patterns), names),
    )


def by_both(first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return a number for each page, the same where both of two numbers are."""
    return numbered(first * (int(second.max()) + 1) + second)


def join_fine(table: FeatureTable) -> NDArray[np.intp]:
    """Join the closest profiles up to FINE; return the group of each page."""
    dense = table.weighed.incidence.toarray()
    distinct, page_to_distinct, sizes = np.unique(
        dense, axis=0, return_inverse=True, return_counts=True
    )
    w = table.weighed.weights.astype(np.float32)
    joins = join_profiles(np.ascontiguousarray(distinct.T), w, sizes, FINE)
    return grouped(len(sizes), joins)[page_to_distinct.ravel()]


def find_places(
    table: FeatureTable,
    addresses: NDArray[np.intp],
    cell: NDArray[np.intp],
    urls: Sequence[str],
    links: Sequence[SiteLink],
) -> Where:
    """Add to addresses that tell nothing the place that each page is linked from."""
    is_mixed = mixed_addresses(table, addresses, cell)[addresses]
    if not links or not is_mixed.any():
        return Where(addresses, addresses)
    inbound = inbound_places(urls, links, dict(zip(urls, cell.tolist(), strict=True)))
    places = by_both(addresses, np.where(is_mixed, numbered(inbound) + 1, 0))
    is_untold = is_mixed & (np.array(inbound) == "")
    return Where(addresses, places, frozenset(places[is_untold].tolist()))


def join_cells(table: FeatureTable, where: Where, cell: NDArray[np.intp]) -> NDArray[np.intp]:
    """Join the closest cells until none are closer than their bound."""
    P, w = shares_of(table.weighed.incidence, cell), table.weighed.weights.astype(np.float32)
    joins = join_profiles(P, w, np.bincount(cell), 1.0, KinshipBounds(table, where, cell))
    return grouped(P.shape[1], joins)[cell]


def split_twins(
    table: FeatureTable, patterns: Sequence[str], look: NDArray[np.intp], group: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Split the groups that hold near-twins; groups are numbered by their first pages."""
    split = group.copy()
    for number in range(int(group.max()) + 1):
        for part in split_by_address(table, patterns, np.flatnonzero(group == number)):
            for kind in split_by_section(table, look, part):
                for twin in split_by_fields(table, kind):
                    split[twin] = twin.min()
    return numbered(split)


def explain(
    table: FeatureTable,
    where: Where,
    look: NDArray[np.intp],
    family: NDArray[np.intp],
    group: NDArray[np.intp],
) -> str:
    """Return on what evidence it was decided."""
    n_addresses = int(where.addresses.max()) + 1
    is_telling = ~mixed_addresses(table, where.addresses, look)[where.addresses]
    parts = [f"Decided on {len(table.weighed.hashes):,} paths, fields and labels of the pages"]
    if is_telling.all() and n_addresses > 1:
        parts.append(f"on {n_addresses:,} kinds of address")
    elif is_telling.any() and n_addresses > 1:
        parts.append(
            f"on the addresses of {is_telling.mean():.0%} of the pages, the others tell nothing"
        )
    if where.places is not where.addresses:
        parts.append("on where pages are linked from")
    n_looks, n_types, n_groups = (len(np.unique(numbers)) for numbers in (look, family, group))
    if n_looks > n_types:
        parts.append(f"on labels, by which {n_looks} looks are {n_types} types")
    if n_groups > n_types:
        n_twins = n_groups - n_types
        apart = "1 near-twin is apart" if n_twins == 1 else f"{n_twins:,} near-twins are apart"
        parts.append(f"on sections, fields and labels of their own, by which {apart}")
    return "; ".join(parts) + "."


CLUSTERER = Clusterer("auto", "All evidence", observe, cluster_pages, assign, max_pages=MOST_PAGES)
