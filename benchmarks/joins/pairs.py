"""Make pairs of groups of labelled pages, to learn from: which are of one template?

Each site is seen in several variants: some of its types and pages, other addresses, a family of
evidence missing. From the first groups on, those of one type are joined, now and then two of other
types, so that the model knows groups of all sizes, pure and impure.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.joins.rewriting import rewrite_addresses
from benchmarks.joins.sites_to_join import SiteToJoin
from benchmarks.labelled_sites import DRAWERS
from clustering.algorithms.automatic.auto import find_first_groups
from clustering.algorithms.automatic.evidence import FAMILIES
from clustering.algorithms.automatic.first_groups import CLOSE
from clustering.algorithms.automatic.page_features import PageFeatures
from clustering.algorithms.automatic.pair_features import COLUMNS, GroupPairs

RECORDED_AT = (0.0, 0.3, 0.6, 0.85, 1.0)  # shares of the joins
MAX_RECORDED = 400
WEIGHT_OF_WIDER = 0.3
SHARE_REWRITTEN, SHARE_OF_MIXES_REWRITTEN = 0.45, 0.7
SHARE_SILENCED = 0.1
# Variants of a site that are seen in training, and the weight of all of them together.
N_VARIANTS = {"real": 12, "generated": 3, "demo": 3, "single": 3, "mix": 5}
SITE_WEIGHTS = {"real": 1.0, "generated": 0.12, "demo": 0.12, "single": 0.15, "mix": 0.25}
SHARE_OF_PAIRS = 0.3  # that is kept; more changes nothing


class SitePages(NamedTuple):
    """What training needs of a site's pages."""

    urls: Sequence[str]
    types: Sequence[str]
    wider: Sequence[str]
    pages: Sequence[PageFeatures]


class ObservedSite(NamedTuple):
    """A labelled site whose pages were observed."""

    site: SiteToJoin
    pages: SitePages


class SitePairs(NamedTuple):
    """The pairs of all variants of a site, which weigh as much as the site."""

    family: str
    pairs: Pairs


class Pairs(NamedTuple):
    columns: NDArray[np.float32]
    is_one: NDArray[np.bool_]
    weights: NDArray[np.float64]


def pairs_of_sites(sites: Sequence[ObservedSite]) -> list[SitePairs]:
    """Return the pairs of each site. Snapshots of one site weigh together as much as one."""
    n_of_family = Counter(each.site.family for each in sites if each.site.kind == "real")
    results = []
    for site, pages in sites:
        n_variants = N_VARIANTS[site.kind]
        weight = SITE_WEIGHTS[site.kind]
        if site.kind == "real":
            n_variants = -(-n_variants // n_of_family[site.family])
            weight /= n_of_family[site.family]
        variants = []
        for number in range(n_variants):
            rng = random.Random(f"{site.name} {number}")
            if number == 0:  # the site as it is
                variants.append(record_pairs(pages, rng))
            else:
                variants.append(record_pairs(*variant(pages, site.kind, rng)))
        results.append(SitePairs(site.family, _thinned(variants, weight)))
        print(f"pairs of {site.name}", file=sys.stderr)
    return results


def pooled(pairs: Sequence[SitePairs]) -> Pairs:
    """Return the pairs of several sites as one; their mean weight is 1."""
    parts = [each.pairs for each in pairs if len(each.pairs.is_one)]
    columns, is_one, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Pairs(columns, is_one, weights / weights.mean())


def _thinned(variants: Sequence[Pairs], weight: float) -> Pairs:
    """Return a draw of a site's pairs; each variant gets the same share of the site's weight."""
    rng = np.random.default_rng(0)
    parts = []
    for columns, is_one, weights in variants:
        is_drawn = rng.random(len(is_one)) < SHARE_OF_PAIRS
        if is_drawn.any():
            drawn = weights[is_drawn] / weights[is_drawn].sum() * weight / len(variants)
            parts.append(Pairs(columns[is_drawn], is_one[is_drawn], drawn))
    if not parts:
        return Pairs(np.zeros((0, len(COLUMNS)), np.float32), np.zeros(0, np.bool_), np.zeros(0))
    return Pairs(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def variant(
    site: SitePages, kind: str, rng: random.Random
) -> tuple[SitePages, random.Random, float, list[int]]:
    """Return some pages as another site might have them, and how to record their pairs."""
    distinct = sorted(set(site.types))
    some_types = rng.sample(distinct, max(1, round(len(distinct) * rng.uniform(0.4, 1.0))))
    share = rng.uniform(0.55, 1.0)
    drawn = [
        number
        for number, type_ in enumerate(site.types)
        if type_ in some_types and rng.random() < share
    ]
    if len(drawn) < 10:
        drawn = list(range(len(site.urls)))
    urls = [site.urls[number] for number in drawn]
    types = [site.types[number] for number in drawn]
    wider = [site.wider[number] for number in drawn]
    pages = [site.pages[number] for number in drawn]
    rewritten = SHARE_OF_MIXES_REWRITTEN if kind == "mix" else SHARE_REWRITTEN
    if rng.random() < rewritten:
        urls = rewrite_addresses(types, pages, rng)
    silenced = [number for number in range(1, len(FAMILIES)) if rng.random() < SHARE_SILENCED]
    return SitePages(urls, types, wider, pages), rng, rng.uniform(0.35, 0.45), silenced


def record_pairs(
    site: SitePages, rng: random.Random, close: float = CLOSE, silenced: Sequence[int] = ()
) -> Pairs:
    """Join a site's first groups by the truth, with a few errors, and record pairs on the way."""
    start = find_first_groups(site.urls, site.pages, close, silenced)
    group, pairs = start.first, start.pairs
    narrow, broad = count_types(site, group)
    n_errors = rng.randint(1, 4) if rng.random() < 0.4 else 0
    joins: list[tuple[int, int]] = []
    columns: list[NDArray[np.float32]] = []
    labels: list[bool] = []
    weights: list[float] = []

    def record() -> None:
        live = pairs.live
        if len(live) < 2:
            return
        candidates = [(int(a), int(b)) for place, a in enumerate(live) for b in live[place + 1 :]]
        if len(candidates) > MAX_RECORDED:
            near = sorted(candidates, key=lambda pair: float(pairs.D[pair]))
            half = MAX_RECORDED // 2
            candidates = near[:half] + rng.sample(near[half:], half)
        by_first: dict[int, list[int]] = {}
        for a, b in candidates:
            by_first.setdefault(a, []).append(b)
        for a, others in by_first.items():
            rows = pairs.compare(a, np.array(others))
            for row, b in zip(rows, others, strict=True):
                same, certainty = judge(narrow[a], narrow[b], broad[a], broad[b])
                if certainty > 0:
                    columns.append(row)
                    labels.append(same)
                    page_pairs = pairs.sizes[a] * pairs.sizes[b] / pairs.n_pages**2
                    weights.append(page_pairs * certainty)

    total = max(_joins_by_truth(narrow), 1)
    due = [round(share * total) for share in RECORDED_AT]
    while True:
        if due and len(joins) >= due[0]:
            record()
            while due and len(joins) >= due[0]:
                due.pop(0)
        if not due:
            break
        pair = _next_join(
            pairs, narrow, rng, is_error=n_errors > 0 and rng.random() < n_errors / total
        )
        if pair is None:
            record()
            break
        a, b = pair
        joins.append((a, b))
        pairs.join(a, b)
        narrow[a] += narrow[b]
        broad[a] += broad[b]
    return Pairs(
        np.array(columns, np.float32).reshape(len(labels), len(COLUMNS)),
        np.array(labels, np.bool_),
        np.array(weights),
    )


def count_types(
    site: SitePages, group: NDArray[np.intp]
) -> tuple[list[Counter[str]], list[Counter[str]]]:
    """Return how many pages of each type, and of each wider type, the groups have."""
    k = int(group.max()) + 1
    broad = [wider or type_ for type_, wider in zip(site.types, site.wider, strict=True)]
    return _counts(site.types, group, k), _counts(broad, group, k)


def _counts(types: Sequence[str], group: NDArray[np.intp], k: int) -> list[Counter[str]]:
    """Return how many pages of each type each group has; drawers have no type."""
    counts: list[Counter[str]] = [Counter() for _ in range(k)]
    for number, type_ in zip(group.tolist(), types, strict=True):
        if type_ not in DRAWERS:
            counts[number][type_] += 1
    return counts


def _joins_by_truth(counts: Sequence[Counter[str]]) -> int:
    with_types = [count for count in counts if count]
    return len(with_types) - len({count.most_common(1)[0][0] for count in with_types})


def _share_same(a: Counter[str], b: Counter[str]) -> float:
    n = a.total() * b.total()
    return sum(a[type_] * b[type_] for type_ in a) / n if n else 0.5


def judge(
    a: Counter[str], b: Counter[str], wide_a: Counter[str], wide_b: Counter[str]
) -> tuple[bool, float]:
    """Return whether two groups are mostly of one type, and how certainly."""
    if not a or not b:
        return False, 0.0
    same = _share_same(a, b)
    if same > 0.5:
        return True, 2 * same - 1
    widely = _share_same(wide_a, wide_b)
    if widely > 0.5:
        return True, (2 * widely - 1) * WEIGHT_OF_WIDER
    return False, 1 - 2 * same


def _next_join(
    pairs: GroupPairs, counts: Sequence[Counter[str]], rng: random.Random, *, is_error: bool
) -> tuple[int, int] | None:
    """Return two groups of one type, mostly the nearest; if an error is due, of two types."""
    live = pairs.live.tolist()
    top = {
        number: counts[number].most_common(1)[0][0] if counts[number] else None for number in live
    }
    results = [
        (float(pairs.D[a, b]), a, b)
        for place, a in enumerate(live)
        for b in live[place + 1 :]
        if top[a] is not None and top[b] is not None and (top[a] != top[b]) == is_error
    ]
    if not results:
        return None
    results.sort()
    place = 0 if rng.random() < 0.7 else rng.randrange(min(len(results), 10))
    return results[place][1:]
