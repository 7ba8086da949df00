"""Tell whether pages fit the profile of their own group better than that of another.

Notation:   p, the share of a group's pages that have a feature, with half a page more on both
            sides; n, how many have it; w, the features' weights. The fit of a page is the
            log-likelihood of the features that it has, log p, and of those that it lacks, log(1 -
            p), weighed by w, as if they were independent. Its own fit is by the profile of the
            other pages of its group.
Readings:   What a cut by chance made of one template is told apart no better than by lot, however
            far the profiles lie; two templates are told apart even where little differs.
Cost:       A group against all pages is linear in the features of the pages.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.automatic.feature_table import FeatureSet
from clustering.algorithms.automatic.profiles import Matrix

HALF = 0.5  # of a page, so that nothing is impossible


class PageFits:
    """How well each page fits the profile of each group, in one family of features."""

    def __init__(
        self, features: FeatureSet, group: NDArray[np.intp], n: Matrix, sizes: Matrix
    ) -> None:
        """Take n, groups by features, and the groups' sizes; both change when groups are joined."""
        self.pages = features.incidence
        self.w = features.weights.astype(np.float32)
        self.group = group.copy()
        self.n, self.sizes = n, sizes
        self.fits = np.zeros((len(group), len(sizes)), np.float32)  # pages by groups
        self.own_fits = np.zeros(len(group), np.float32)
        for number in range(len(sizes)):
            self._renew(number)

    def join(self, a: int, b: int) -> None:
        """Add group b to group a, whose n and size count the pages of b already."""
        self.group[self.group == b] = a
        self._renew(a)

    def _renew(self, a: int) -> None:
        n, size = self.n[a], self.sizes[a]
        lacked = self.w * np.log((size - n + HALF) / (size + 1))
        gained = self.w * np.log((n + HALF) / (size + 1)) - lacked
        self.fits[:, a] = self.pages @ gained + lacked.sum()
        # Without the page itself; what all pages of the group have, none of them lacks.
        lacked = np.where(n < size, self.w * np.log(np.maximum(size - n - HALF, HALF) / size), 0)
        gained = self.w * np.log(np.maximum(n - HALF, HALF) / size) - lacked
        members = self.group == a
        self.own_fits[members] = self.pages[members] @ gained + lacked.sum()

    def told_apart(self, a: int, others: NDArray[np.intp]) -> tuple[Matrix, Matrix]:
        """Return which shares of a's pages, and of each other group's, fit their own group better.

        Equal fits count half. A single page has no others that it could fit, so the share of the
        other group stands for it; it is nan between two single pages.
        """
        members = self.group == a
        by_page = np.sign(self.own_fits[members, None] - self.fits[np.ix_(members, others)])
        here = (1 + by_page.mean(axis=0)) / 2
        total = np.bincount(self.group, np.sign(self.own_fits - self.fits[:, a]), len(self.sizes))
        there = (1 + total[others] / self.sizes[others]) / 2
        here = np.where(self.sizes[a] > 1, here, np.nan)
        there = np.where(self.sizes[others] > 1, there, np.nan)
        return np.where(np.isnan(here), there, here), np.where(np.isnan(there), here, there)
