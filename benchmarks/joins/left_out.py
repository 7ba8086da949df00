"""Judge the joins on sites the model was not trained on, with and without a person's answers."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from statistics import mean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.joins.likeliest import SeenJoin, joins_of_site, learn_likeliest
from benchmarks.joins.pairs import ObservedSite, SitePages, SitePairs, pooled
from benchmarks.joins.sites_to_join import SiteToJoin, cut
from benchmarks.joins.training import model_of
from benchmarks.labelled_sites import DRAWERS
from clustering.algorithms.automatic.auto import FirstGroups, find_first_groups
from clustering.algorithms.automatic.feature_table import tabulate
from clustering.algorithms.automatic.join_model import JoinModel
from clustering.algorithms.automatic.joining import (
    STOP,
    Decision,
    GroupAnswer,
    Joined,
    join_groups,
)
from clustering.algorithms.automatic.page_features import PageFeatures, observe
from clustering.algorithms.automatic.profiles import grouped, join_profiles, numbered
from clustering.algorithms.doubts import CERTAIN
from clustering.algorithms.measures import Measures
from clustering.algorithms.url_patterns import address_patterns

N_FOLDS = 9
N_ANSWERS = 3
PLAIN_WINDOW = (0.65, 0.80)  # of heights, in which the baseline cuts
STOPS = (-0.5, 0.0, 0.5)
MIN_GOOD = 0.8
MIN_SHARE_IN_ONE = 0.95


class SiteFigures(NamedTuple):
    """How well a site was grouped."""

    site: SiteToJoin
    alone: Measures
    answered: Measures  # after at most N_ANSWERS answers of a person
    by_stop: Sequence[float]  # adjusted Rand at each of STOPS
    plain: float  # adjusted Rand of the baselines
    by_address: float
    largest_share: float  # of the pages, in the largest cluster


def observe_sites(sites: Iterable[SiteToJoin]) -> list[ObservedSite]:
    """Return sites with what their pages have; large sites are cut."""
    observed = []
    for site in sites:
        site_pages = cut(site.pages)
        pages = SitePages(
            [page.page.url for page in site_pages],
            [page.type for page in site_pages],
            [page.wider for page in site_pages],
            [observe(replace(page.page)) for page in site_pages],  # copies, so that no tree is kept
        )
        observed.append(ObservedSite(replace(site, pages=site_pages), pages))
    return observed


class LeftOut(NamedTuple):
    """Trees, the families that they have not seen, and how they join the sites of these."""

    families: set[str]
    model: JoinModel
    joins: Sequence[SeenJoin]


def leave_out(
    sites: Sequence[ObservedSite], pairs: Sequence[SitePairs], n_fits: int
) -> list[LeftOut]:
    """Train trees without the families of each fold, and let them join the sites of these."""
    parts = []
    for families in folds(sites):
        model = model_of(pooled([each for each in pairs if each.family not in families]), n_fits)
        joins = [
            join
            for site in sites
            if site.site.family in families
            for join in joins_of_site(site, model)
        ]
        parts.append(LeftOut(families, model, joins))
        print(f"joined {', '.join(sorted(families))}", file=sys.stderr)
    return parts


def judge_left_out(sites: Sequence[ObservedSite], parts: Sequence[LeftOut]) -> list[SiteFigures]:
    """Judge each site by trees and worths of their joins that were learned without its family."""
    figures = []
    for part in parts:
        likeliest = learn_likeliest(
            [join for other in parts if other is not part for join in other.joins], sites
        )
        model = replace(part.model, likeliest=likeliest)
        figures += [figures_of(site, model) for site in sites if site.site.family in part.families]
        print(f"judged {', '.join(sorted(part.families))}", file=sys.stderr)
    return figures


def folds(sites: Sequence[ObservedSite]) -> list[set[str]]:
    """Return families of sites that are left out together: real ones in each fold, and others."""
    parts: list[set[str]] = [set() for _ in range(N_FOLDS)]
    rng = random.Random(5)
    for is_real in (True, False):
        families = sorted(
            {each.site.family for each in sites if (each.site.kind == "real") == is_real}
        )
        rng.shuffle(families)
        for number, family in enumerate(families):
            parts[number % N_FOLDS].add(family)
    return parts


def figures_of(observed: ObservedSite, model: JoinModel) -> SiteFigures:
    """Group a site, then again with the answers that its types give to the first doubts."""
    site, pages = observed
    start = find_first_groups(pages.urls, pages.pages)
    run = _run(start, model)
    lowest = _run(start, model, stop=min(STOPS))
    by_stop = [site.score(lowest.groups_at(stop)).adjusted_rand for stop in STOPS]
    answers: list[GroupAnswer] = []
    again = run
    for _ in range(N_ANSWERS):
        doubts = [each for each in again.joined.decisions if each.certainty < CERTAIN]
        decision = max(doubts, key=lambda each: each.weight, default=None)
        if decision is None:
            break
        answers.append(_answer(site, again, decision))
        again = _run(start, model, answers)
    patterns = numbered(np.array(address_patterns(pages.urls))).tolist()
    return SiteFigures(
        site=site,
        alone=site.score(run.groups),
        answered=site.score(again.groups),
        by_stop=by_stop,
        plain=site.score(plain_groups(pages.pages)).adjusted_rand,
        by_address=site.score(patterns).adjusted_rand,
        largest_share=Counter(run.groups).most_common(1)[0][1] / len(run.groups),
    )


def plain_groups(pages: Sequence[PageFeatures]) -> list[int]:
    """Group pages by structure alone: profiles are joined up to the widest gap of heights."""
    table = tabulate(pages)
    w = table.weighed.weights.astype(np.float32)
    profiles = np.ascontiguousarray(table.weighed.incidence.toarray().T)
    joins = join_profiles(profiles, w, np.ones(len(pages), np.intp), float("inf"))
    heights = np.maximum.accumulate([join.height for join in joins]) if joins else np.zeros(0)
    low, high = PLAIN_WINDOW
    points = sorted({low, high, *(height for height in heights.tolist() if low < height < high)})
    widest = max(pairwise(points), key=lambda pair: pair[1] - pair[0])
    n_joins = int((heights < sum(widest) / 2).sum())
    groups: list[int] = grouped(len(pages), joins[:n_joins]).tolist()
    return groups


class _Run(NamedTuple):
    first: NDArray[np.intp]
    joined: Joined

    @property
    def groups(self) -> list[int]:
        """Return the group of each page."""
        groups: list[int] = self.joined.group[self.first].tolist()
        return groups

    def groups_at(self, stop: float) -> list[int]:
        """Return the group of each page, had the run without answers stopped earlier."""
        group = np.arange(len(self.joined.group))
        for decision in self.joined.decisions:
            if not decision.is_joined or decision.log_odds < stop:
                break
            group[decision.right] = group[decision.left[0]]
        groups: list[int] = group[self.first].tolist()
        return groups


def _run(
    start: FirstGroups, model: JoinModel, answers: Sequence[GroupAnswer] = (), stop: float = STOP
) -> _Run:
    pairs = deepcopy(start.pairs)  # whose groups are joined
    return _Run(start.first, join_groups(pairs, model, answers, stop))


def _answer(site: SiteToJoin, run: _Run, decision: Decision) -> GroupAnswer:
    """Return what a person says who knows the types; one who cannot tell leaves it as it is."""
    types = site.best_types(run.groups)
    sizes = np.bincount(run.first)
    sides = []
    for side in (decision.left.tolist(), decision.right.tolist()):
        counts = Counter(
            types[page]
            for page in np.flatnonzero(np.isin(run.first, side)).tolist()
            if types[page] not in DRAWERS
        )
        sides.append((sorted(side, key=lambda group: -sizes[group]), counts))
    (left, n_left), (right, n_right) = sides
    is_same = decision.is_joined
    if n_left and n_right:
        n_same = sum(n_left[type_] * n_right[type_] for type_ in n_left)
        is_same = n_same > n_left.total() * n_right.total() / 2
    return GroupAnswer(left, right, is_same)


def table_of(figures: Sequence[SiteFigures]) -> str:
    """Return the figures as Markdown: the means by kind, then the real sites one by one."""
    lines = [
        "| sites | n | mean | worst | >= .80 | homogeneity | completeness | after 3 "
        "answers | worst | "
        + " | ".join(f"stop {stop:g}" for stop in STOPS)
        + " | plain | address |",
        "|---" * (11 + len(STOPS)) + "|",
    ]
    for kind in ("real", "generated", "demo", "mix"):
        some = [each for each in figures if each.site.kind == kind]
        if some:
            lines.append(_row_of_kind(kind, some))
    real = [each for each in figures if each.site.kind == "real"]
    if real:
        rands = _at_stops_chosen_elsewhere(real)
        lines += [
            "",
            (
                f"Real sites, each at the stop that is best on the others: mean {mean(rands):.3f}, "
                f"worst {min(rands):.2f}."
            ),
        ]
    singles = [each for each in figures if each.site.kind == "single"]
    if singles:
        n_in_one = sum(each.largest_share >= MIN_SHARE_IN_ONE for each in singles)
        lines += ["", f"One template each: {n_in_one} of {len(singles)} sites in one cluster."]
    lines += [
        "",
        (
            "| site | pages | types | rand | homogeneity | completeness | clusters | answered | "
            "plain | address |"
        ),
        "|---" * 10 + "|",
    ]
    for each in sorted(figures, key=lambda each: each.site.name):
        if each.site.kind == "real":
            alone = each.alone
            lines.append(
                f"| {each.site.name} | {alone.n_pages} | {alone.n_types} | "
                f"{alone.adjusted_rand:.2f} "
                f"| {alone.homogeneity:.2f} | {alone.completeness:.2f} | {alone.n_clusters} "
                f"| {each.answered.adjusted_rand:.2f} | {each.plain:.2f} | {each.by_address:.2f} |"
            )
    return "\n".join(lines)


def _at_stops_chosen_elsewhere(figures: Sequence[SiteFigures]) -> list[float]:
    """Return each site's adjusted Rand at the one of STOPS best on sites of other families."""
    rands = []
    for each in figures:
        others = [other for other in figures if other.site.family != each.site.family]
        means = [mean(other.by_stop[number] for other in others) for number in range(len(STOPS))]
        rands.append(each.by_stop[means.index(max(means))])
    return rands


def _row_of_kind(kind: str, figures: Sequence[SiteFigures]) -> str:
    alone = [each.alone.adjusted_rand for each in figures]
    answered = [each.answered.adjusted_rand for each in figures]
    cells = [
        kind,
        str(len(figures)),
        f"{mean(alone):.3f}",
        f"{min(alone):.2f}",
        f"{mean(rand >= MIN_GOOD for rand in alone):.0%}",
        f"{mean(each.alone.homogeneity for each in figures):.2f}",
        f"{mean(each.alone.completeness for each in figures):.2f}",
        f"{mean(answered):.3f}",
        f"{min(answered):.2f}",
        *(f"{mean(each.by_stop[number] for each in figures):.3f}" for number in range(len(STOPS))),
        f"{mean(each.plain for each in figures):.3f}",
        f"{mean(each.by_address for each in figures):.3f}",
    ]
    return f"| {' | '.join(cells)} |"
