"""Learn what the likeliest pair is worth, from joins on sites that the trees have not seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.joins.pairs import SITE_WEIGHTS, ObservedSite, count_types, judge
from clustering.algorithms.automatic.auto import find_first_groups
from clustering.algorithms.automatic.join_model import JoinModel, Likeliest
from clustering.algorithms.automatic.joining import join_groups

SURE = 6.0  # log-odds; surer joins, and surer pairs that are no joins, teach nothing
DECIMALS = 4


@dataclass(frozen=True)
class SeenJoin:
    """A join that trees made on a site that they had not seen."""

    family: str
    log_odds: float
    n_groups: int
    is_right: bool
    weight: float


def joins_of_site(site: ObservedSite, model: JoinModel) -> list[SeenJoin]:
    """Return the joins of a site; all together weigh as much as the site."""
    joins = list(_joins(site, model))
    total = sum(join.weight for join in joins)
    weight = SITE_WEIGHTS[site.site.kind]
    return [replace(join, weight=join.weight / total * weight) for join in joins]


def _joins(site: ObservedSite, model: JoinModel) -> Iterator[SeenJoin]:
    """Yield the joins of a site, each weighing as many page pairs as it decides on."""
    start = find_first_groups(site.pages.urls, site.pages.pages)
    joined = join_groups(start.pairs, model, stop=-SURE)
    narrow, broad = count_types(site.pages, start.first)
    n_groups = len(joined.group)
    joins = [decision for decision in joined.decisions if decision.is_joined]
    for join in joins:
        a, b = join.left[0], join.right[0]
        is_right, certainty = judge(narrow[a], narrow[b], broad[a], broad[b])
        weight = certainty * join.n_left * join.n_right
        if weight and join.log_odds <= SURE:
            yield SeenJoin(site.site.family, join.log_odds, n_groups, is_right, weight)
        n_groups -= 1
        narrow[a] += narrow[b]
        broad[a] += broad[b]


def learn_likeliest(joins: Sequence[SeenJoin], sites: Sequence[ObservedSite]) -> Likeliest:
    """Return the weights under which the joins are likeliest to be right where they were.

    Snapshots of one real site weigh together as much as one.
    """
    n_of_family = Counter(each.site.family for each in sites if each.site.kind == "real")
    columns = [[join.log_odds, 1 / join.n_groups] for join in joins]
    weights = [join.weight / max(n_of_family[join.family], 1) for join in joins]
    labels = [join.is_right for join in joins]
    fitted = LogisticRegression(C=np.inf, max_iter=1_000).fit(
        np.array(columns), labels, sample_weight=np.array(weights)
    )
    constant = float(fitted.intercept_[0])
    return Likeliest(*(round(float(weight), DECIMALS) for weight in (*fitted.coef_[0], constant)))
