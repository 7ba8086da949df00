"""Group pages by type from all a site offers: the default, right on most sites without parameters.

Paper:      None. Tag paths as in Chakrabarti and Mehta (WWW 2010) without their search log; the
            joins are learned from sites whose types are known.
Notation:   A first group is small and surely of one template (`first_groups`). Log-odds are those
            of two groups being of one template, by trained trees over all families of evidence
            (`evidence`, `pair_features`, `join_model`). A layout is a part of a group that looks
            different, or has a section that others lack.
Readings:   One decision, one stop: join the two groups of the highest log-odds, until those are
            below STOP (`joining`). What a person answered always holds. Addresses, titles, labels
            and structure are weighed against each other by the trees, site by site; near-twins stay
            together as layouts, since one rule serves them. Addresses count without their language,
            the page of a list and the index file (`plain_addresses`).
Departures: Search logs and links are not used: they were measured to add nothing on sites of which
            some hundred pages are stored. `keyclus` is the algorithm for sites with a log.
Cost:       Quadratic in the distinct pages and in the first groups; some seconds for 2,000 pages.
            The product clusters so many and assigns the others.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.automatic.doubts import describe_doubts, groups_of_answers
from clustering.algorithms.automatic.evidence import collect_evidence
from clustering.algorithms.automatic.feature_table import FeatureTable, tabulate
from clustering.algorithms.automatic.first_groups import (
    CLOSE,
    find_structure,
    part_by_addresses,
)
from clustering.algorithms.automatic.group_reasons import describe_groups
from clustering.algorithms.automatic.join_model import trained_model
from clustering.algorithms.automatic.joining import Joined, join_groups
from clustering.algorithms.automatic.layouts import describe_layouts, find_layouts, layout_name
from clustering.algorithms.automatic.page_features import PageFeatures, observe
from clustering.algorithms.automatic.pair_features import GroupPairs
from clustering.algorithms.automatic.placing import NAME, TITLE
from clustering.algorithms.automatic.plain_addresses import plain_address
from clustering.algorithms.automatic.profile_model import assign, model_of, place
from clustering.algorithms.automatic.profiles import numbered
from clustering.algorithms.grouping import (
    Clusterer,
    ClusteringInputs,
    Grouping,
    TooManyPages,
    grouping_of,
)
from clustering.algorithms.url_patterns import address_patterns

MAX_PAGES = 5_000  # distances between all pairs of 5,000 pages take 100 MB and a minute

Pages = NDArray[np.intp]


class FirstGroups(NamedTuple):
    """A site's pages before the first join."""

    table: FeatureTable
    patterns: Sequence[str]
    structure: Pages  # the group of each page by structure alone
    first: Pages  # the first group of each page
    pairs: GroupPairs


def cluster_pages(
    urls: Sequence[str], observations: Sequence[PageFeatures], inputs: ClusteringInputs
) -> Grouping:
    """Group pages by type.

    Raises TooManyPages.
    """
    if len(urls) > MAX_PAGES:
        raise TooManyPages(
            f"{len(urls):,} pages; auto clusters at most {MAX_PAGES:,} and assigns the others"
        )
    if not urls:
        return Grouping([], why="There are no pages.")
    # So that no result depends on the pages' order; equal addresses by what stands there.
    order = sorted(
        range(len(urls)), key=lambda page: (urls[page], observations[page].features.tobytes())
    )
    pages = [observations[page] for page in order]
    ordered_urls = [urls[page] for page in order]
    model = trained_model()
    start = find_first_groups(ordered_urls, pages)
    answers = groups_of_answers(inputs.answers, ordered_urls, start.first)
    joined = join_groups(start.pairs, model, answers)
    group = numbered(joined.group[start.first])
    names = [f"g{number:04}" for number in range(int(group.max()) + 1)]
    whys = dict(zip(names, describe_groups(start.table, group, pages), strict=True))
    parts = _find_layouts(start, group)
    look, layout_by_look = _looks(start.structure, group, parts)
    return grouping_of(
        _by_page(order, [names[number] for number in group.tolist()]),
        why=_explain(start, joined, group),
        whys=whys,
        layouts={
            names[number]: describe_layouts(start.table, layouts, order, pages)
            for number, layouts in enumerate(parts)
        },
        model=model_of(start.table, look, group, start.patterns, names, layout_by_look),
        doubts=describe_doubts(joined.decisions, model, start.first, order),
    )


def find_first_groups(
    urls: Sequence[str],
    pages: Sequence[PageFeatures],
    close: float = CLOSE,
    silenced: Collection[int] = (),
) -> FirstGroups:
    """Return small groups that surely are of one template, ready to be joined.

    Training varies how close pages are, and silences families of evidence by their index.
    """
    table = tabulate(pages)
    addresses = [plain_address(url) for url in urls]
    patterns = address_patterns(addresses)
    structure = find_structure(table, close)
    first = part_by_addresses(structure, addresses, patterns)
    evidence = collect_evidence(table, pages, addresses, patterns).silencing(silenced)
    return FirstGroups(table, patterns, structure, first, GroupPairs(evidence, first, structure))


def _find_layouts(start: FirstGroups, group: Pages) -> list[list[Pages]]:
    """Return the layouts of each group."""
    return [
        find_layouts(start.table, start.patterns, start.structure, np.flatnonzero(group == number))
        for number in range(int(group.max()) + 1)
    ]


def _looks(
    structure: Pages, group: Pages, parts: Sequence[Sequence[Pages]]
) -> tuple[Pages, dict[int, str]]:
    """Return the look of each page, of one layout and one structure, and the layout of each look.

    A look of a group with one layout has none.
    """
    layout = np.zeros(len(group), np.intp)
    for layouts in parts:
        for number, members in enumerate(layouts):
            layout[members] = number
    look = numbered(np.array([f"{of}" for of in zip(group, layout, structure, strict=True)]))
    layout_by_look = {
        number: layout_name(kind)
        for number, kind, its_group in zip(
            look.tolist(), layout.tolist(), group.tolist(), strict=True
        )
        if len(parts[its_group]) > 1
    }
    return look, layout_by_look


def _by_page(order: Sequence[int], names: Sequence[str]) -> list[str]:
    name_by_page = dict(zip(order, names, strict=True))
    return [name_by_page[page] for page in range(len(order))]


def _explain(start: FirstGroups, joined: Joined, group: Pages) -> str:
    """Return on what evidence it was decided."""
    n_first, n_groups = len(joined.group), int(group.max()) + 1
    n_patterns = len(set(start.patterns))
    return (
        f"{n_first:,} small groups were joined to {n_groups:,}, weighing structure, labels, titles "
        f"and {n_patterns:,} kinds of address against each other."
    )


CLUSTERER = Clusterer(
    NAME,
    TITLE,
    observe,
    cluster_pages,
    assign,
    place_in_layout=place,
    max_pages=MAX_PAGES,
)
