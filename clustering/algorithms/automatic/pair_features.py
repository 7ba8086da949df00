"""Describe two groups of pages by numbers: how like they are, by every family of evidence.

Notation:   p, q: the share of the pages of each group that has a feature; w its weight; a, b the
            numbers of pages. s = sum w min(p, q); masses m = sum w p; inner I = sum w p(1 - p).
            `distance` = 1 - s / (m_p + m_q - s). `corrected`: the same after what chance makes of
            small groups is taken off each |p - q|. `between` = B / (B + I_p + I_q) with B = sum
            w|p - q|. `containment` = 1 - s / min(m_p, m_q): is one the other with sections
            missing? A contrast is a feature that nearly all pages of one group have and next to
            none of the other; contrasts in one direction only tell an optional section from
            another type. Two groups are `told apart` by the share of pages that fit their own
            group better (`page_fits`).
Readings:   What cannot be computed, since neither group has a feature of the family, is missing
            (nan); the trees know that case.
Cost:       Linear in groups times features for one group against all others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.automatic.evidence import FAMILIES, SiteEvidence
from clustering.algorithms.automatic.feature_table import FeatureSet
from clustering.algorithms.automatic.page_features import COUNTED
from clustering.algorithms.automatic.page_fits import PageFits
from clustering.algorithms.automatic.profiles import Matrix, counts_of, numbered
from clustering.algorithms.url_patterns import beginnings

CHANCE: Final = 0.8  # standard deviations of |p - q| that chance may make
CORE_SHARE, STRANGE_SHARE = 0.85, 0.1  # of a contrast in the two groups

OF_FAMILY: Final = (
    "distance",
    "corrected",
    "between",
    "containment",
    "fewer contrasts",
    "more contrasts",
    "lower contrast share",
    "higher contrast share",
    "told apart",
    "less told apart",
)
OF_ADDRESSES: Final = (
    "depth in common",
    "share of the site below",
    "words that stand there",
    "pages a word",
    "pages of the rarer word",
    "words tell",
    "either ends",
    "length difference",
)
OF_SITE: Final = ("patterns tell", "patterns a page", "rare patterns", "pages", "groups")
OF_SIZES: Final = ("smaller", "larger", "smaller share", "larger share")
OF_RANK: Final = (
    "lower rank",
    "higher rank",
    "lower excess",
    "higher excess",
    "quantile",
    "times the median",
)
OF_COUNTS: Final = ("mean difference", "largest difference", "links", "text")

COLUMNS: Final = (
    *(f"{family}: {name}" for family in FAMILIES for name in OF_FAMILY),
    *(f"addresses: {name}" for name in OF_ADDRESSES),
    *(f"counts: {name}" for name in OF_COUNTS),
    *(f"rank: {name}" for name in OF_RANK),
    *(f"sizes: {name}" for name in OF_SIZES),
    *(f"site: {name}" for name in OF_SITE),
)
# -1 where a larger number can only speak against one template.
DIRECTIONS: Final = tuple(
    -1 if name.partition(":")[0] in (*FAMILIES, "rank", "counts") else 0 for name in COLUMNS
)


class FamilyProfiles:
    """The profiles of groups in one family."""

    def __init__(self, features: FeatureSet, group: NDArray[np.intp]) -> None:
        self.w = features.weights.astype(np.float32)
        self.n = np.ascontiguousarray(counts_of(features.incidence, group).T)  # groups by features
        self.sizes = np.bincount(group).astype(np.float32)
        n_groups = len(self.sizes)
        self.p = np.zeros_like(self.n)
        self.masses, self.inner = np.zeros(n_groups, np.float32), np.zeros(n_groups, np.float32)
        self.is_core, self.is_strange = np.zeros((2, *self.n.shape), np.bool_)
        self.n_core = np.zeros(n_groups, np.intp)
        self._measure(slice(None))
        self.page_fits = PageFits(features, group, self.n, self.sizes)

    def join(self, a: int, b: int) -> None:
        """Add group b to group a; b is not asked for any more."""
        self.n[a] += self.n[b]
        self.sizes[a] += self.sizes[b]
        self._measure(slice(a, a + 1))
        self.page_fits.join(a, b)

    def _measure(self, groups: slice) -> None:
        """Compute what follows from the counts and sizes of some groups."""
        n, sizes = self.n[groups], self.sizes[groups, np.newaxis]
        p = self.p[groups] = n / sizes
        self.masses[groups] = p @ self.w
        self.inner[groups] = (p * (1 - p)) @ self.w
        is_core = self.is_core[groups] = (n + 0.5) / (sizes + 1) >= CORE_SHARE
        self.is_strange[groups] = p <= STRANGE_SHARE
        self.n_core[groups] = is_core.sum(axis=1)

    def distances(self, a: int, others: NDArray[np.intp]) -> Matrix:
        """Return the distance of one group to others; nan where none has a feature."""
        shared = self._shared(a, others)
        return _rest(shared, self.masses[a] + self.masses[others] - shared)

    def _shared(self, a: int, others: NDArray[np.intp]) -> Matrix:
        """Return the weight of what a group shares with others: each feature's smaller share."""
        present = np.flatnonzero(self.p[a])
        shared: Matrix = (
            np.minimum(self.p[np.ix_(others, present)], self.p[a, present]) @ self.w[present]
        )
        return shared

    def compare(self, a: int, others: NDArray[np.intp]) -> Matrix:
        """Return the columns OF_FAMILY of one group with others, a pair a row."""
        p, q = self.p[a], self.p[others]
        n_a, n_others = self.sizes[a], self.sizes[others]

        shared = self._shared(a, others)
        either = self.masses[a] + self.masses[others] - shared
        between = either - shared

        pooled = (self.n[a] + self.n[others]) / (n_a + n_others)[:, None]
        noise = CHANCE * np.sqrt(pooled * (1 - pooled) * (1 / n_a + 1 / n_others)[:, None])
        beyond_chance = np.maximum(np.abs(p - q) - noise, 0) @ self.w

        # Contrasts: what nearly all pages of the one have, and next to none of the other.
        n_only_a = (self.is_strange[others] & self.is_core[a]).sum(axis=1)
        n_only_others = (self.is_core[others] & self.is_strange[a]).sum(axis=1)
        share_a = n_only_a / (self.n_core[a] + 2)
        share_others = n_only_others / (self.n_core[others] + 2)
        apart_a, apart_others = self.page_fits.told_apart(a, others)

        column_by_name = {
            "distance": _rest(shared, either),
            "corrected": 1 - _rest(beyond_chance, either),
            "between": 1 - _rest(between, between + self.inner[a] + self.inner[others]),
            "containment": _rest(shared, np.minimum(self.masses[a], self.masses[others])),
            "fewer contrasts": np.log1p(np.minimum(n_only_a, n_only_others)),
            "more contrasts": np.log1p(np.maximum(n_only_a, n_only_others)),
            "lower contrast share": np.minimum(share_a, share_others),
            "higher contrast share": np.maximum(share_a, share_others),
            "told apart": (apart_a + apart_others) / 2,
            "less told apart": np.minimum(apart_a, apart_others),
        }
        return np.stack([column_by_name[name] for name in OF_FAMILY], axis=1).astype(np.float32)


def _rest(part: Matrix, whole: Matrix) -> Matrix:
    """Return 1 - part / whole; nan where there is no whole."""
    is_there = whole > 1e-6
    return np.where(is_there, 1 - part / np.where(is_there, whole, 1), np.nan)


class AddressTree:
    """Where the addresses of a site part, and whether what stands there tells of what a page is."""

    def __init__(self, patterns: Sequence[str], group: NDArray[np.intp]) -> None:
        self.patterns = patterns
        self.n_pages = len(patterns)
        pages_below: dict[str, list[int]] = defaultdict(list)
        next_word: dict[str, dict[int, str]] = defaultdict(dict)
        for page, pattern in enumerate(patterns):
            steps = beginnings(pattern)
            for step, longer in zip(steps, [*steps[1:], ""], strict=True):
                pages_below[step].append(page)
                next_word[step][page] = longer
        self.n_below = {step: len(pages) for step, pages in pages_below.items()}
        # Folders in which all pages stand say nothing of two groups.
        self.root_depth = sum(n == self.n_pages for n in self.n_below.values())
        self.n_by_word = {step: Counter(words.values()) for step, words in next_word.items()}
        self.telling = {
            step: _agreement([words[page] for page in pages_below[step]], group[pages_below[step]])
            for step, words in next_word.items()
        }
        counts = Counter(patterns)
        self.of_site = (
            _agreement(patterns, group),
            len(counts) / self.n_pages,
            sum(n <= 2 for n in counts.values()) / len(counts),
        )

    def compare(self, a: Counter[str], b: Counter[str]) -> list[float]:
        """Return the columns OF_ADDRESSES of two groups by the commonest pattern of each."""
        first, second = (beginnings(_commonest(counts)) for counts in (a, b))
        depth = 0
        while depth < min(len(first), len(second)) and first[depth] == second[depth]:
            depth += 1
        depth_below_root = depth - self.root_depth
        ends = depth in (len(first), len(second))
        if depth == 0 or first == second:
            return [depth_below_root, *[np.nan] * 5, float(ends), abs(len(first) - len(second))]
        step = first[depth - 1]
        words = self.n_by_word[step]
        n_words = len(words)
        rarer = min(
            words[first[depth] if depth < len(first) else ""],
            words[second[depth] if depth < len(second) else ""],
        )
        n_below = self.n_below[step]
        return [
            depth_below_root,
            n_below / self.n_pages,
            np.log1p(n_words),
            np.log1p(n_below / n_words),
            np.log1p(rarer),
            self.telling[step],
            float(ends),
            abs(len(first) - len(second)),
        ]


def _commonest(counts: Counter[str]) -> str:
    return min(counts, key=lambda pattern: (-counts[pattern], pattern))


def _agreement(words: Sequence[str], group: NDArray[np.intp]) -> float:
    """Return how well words foretell groups, 0 by chance and 1 for certain; nan with one word."""
    if len(set(words)) < 2:
        return float("nan")
    from sklearn.metrics import (
        adjusted_mutual_info_score,
    )  # takes a second: only who clusters waits

    return float(adjusted_mutual_info_score(words, group))


class GroupPairs:
    """Groups of pages that are joined, and the features of their pairs."""

    def __init__(
        self, evidence: SiteEvidence, group: NDArray[np.intp], structure: NDArray[np.intp]
    ) -> None:
        """Take the first groups, and those by structure alone that addresses are checked by."""
        self.n_pages = len(group)
        self.sizes = np.bincount(group).astype(np.float32)
        self.is_live = self.sizes > 0
        self.families = [FamilyProfiles(features, group) for features in evidence.families]
        self.addresses = AddressTree(evidence.patterns, structure)
        self.patterns: list[Counter[str]] = [Counter() for _ in self.sizes]
        for page, number in enumerate(group.tolist()):
            self.patterns[number][evidence.patterns[page]] += 1
        spread = evidence.counts.std(axis=0) + 1e-3
        sums = np.zeros((len(self.sizes), len(COUNTED)), np.float32)
        np.add.at(sums, group, evidence.counts / spread)
        self.counts = sums / self.sizes[:, None]
        k = len(self.sizes)
        self.D = np.stack([self.families[0].distances(a, np.arange(k)) for a in range(k)])
        self.D = np.nan_to_num(self.D, nan=1.0)
        np.fill_diagonal(self.D, np.nan)

    @property
    def live(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.is_live)

    def join(self, a: int, b: int) -> None:
        """Add group b to group a."""
        total = self.sizes[a] + self.sizes[b]
        self.counts[a] = (self.counts[a] * self.sizes[a] + self.counts[b] * self.sizes[b]) / total
        self.sizes[a] = total
        self.is_live[b] = False
        self.patterns[a] += self.patterns[b]
        for family in self.families:
            family.join(a, b)
        self.D[b, :] = self.D[:, b] = np.nan
        others = self.live[self.live != a]
        row = np.nan_to_num(self.families[0].distances(a, others), nan=1.0)
        self.D[a, others] = self.D[others, a] = row

    def compare(self, a: int, others: NDArray[np.intp]) -> Matrix:
        """Return COLUMNS of one group with others, a pair a row."""
        parts = [family.compare(a, others) for family in self.families]
        parts.append(
            np.array(
                [self.addresses.compare(self.patterns[a], self.patterns[b]) for b in others],
                np.float32,
            ).reshape(-1, len(OF_ADDRESSES))
        )
        difference = np.abs(self.counts[others] - self.counts[a])
        names = list(COUNTED)
        parts.append(
            np.stack(
                [
                    difference.mean(axis=1),
                    difference.max(axis=1),
                    difference[:, names.index("links")],
                    difference[:, names.index("text")],
                ],
                axis=1,
            )
        )
        parts.append(self._ranks(a, others))
        low = np.minimum(self.sizes[a], self.sizes[others])
        high = np.maximum(self.sizes[a], self.sizes[others])
        parts.append(
            np.stack([np.log(low), np.log(high), low / self.n_pages, high / self.n_pages], axis=1)
        )
        of_site = [*self.addresses.of_site, np.log(self.n_pages), np.log(self.is_live.sum())]
        parts.append(np.tile(np.array(of_site, np.float32), (len(others), 1)))
        return np.concatenate(parts, axis=1).astype(np.float32)

    def _ranks(self, a: int, others: NDArray[np.intp]) -> Matrix:
        """Return the columns OF_RANK: how near two groups are beside what is near on this site."""
        live = self.live
        D = self.D[np.ix_(live, live)]
        d = self.D[a, others]
        rank_there = (self.D[np.ix_(others, live)] < d[:, None]).sum(axis=1)
        rank_here = (self.D[a, live][None, :] < d[:, None]).sum(axis=1)
        nearest_there = np.nanmin(self.D[np.ix_(others, live)], axis=1)
        nearest_here = np.nanmin(self.D[a, live])
        upper = np.sort(D[np.triu_indices(len(live), 1)])
        median = max(float(np.median(upper)), 1e-3)
        return np.stack(
            [
                np.log1p(np.minimum(rank_here, rank_there)),
                np.log1p(np.maximum(rank_here, rank_there)),
                d - np.maximum(nearest_here, nearest_there),
                d - np.minimum(nearest_here, nearest_there),
                np.searchsorted(upper, d) / len(upper),
                d / median,
            ],
            axis=1,
        )


def structure_of(group: NDArray[np.intp], patterns: Sequence[str]) -> NDArray[np.intp]:
    """Return groups cut by address pattern."""
    addresses = numbered(np.array(patterns))
    return numbered(group * (int(addresses.max()) + 1) + addresses)
