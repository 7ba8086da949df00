"""How few requests keep records fresh, over simulated pages that change in stated ways."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from benchmarks.report import markdown_table
from benchmarks.stream.best_schedules import best_intervals
from benchmarks.stream.least_learning import least_requests
from benchmarks.stream.simulated_pages import SimulatedPages, make_pages
from benchmarks.stream.simulation import FixedVisits, LearntVisits, Result, simulate
from monitoring.algorithms.stream.change_rates import FloatArray, default_shares
from monitoring.algorithms.stream.revisits import MAX_LATE_SHARE

TITLE = "The stream: visits by measured change rates"
GOAL_HOURS: Final = 24.0
DAYS: Final = 30
N_PAGES: Final = 1200
SEED, OTHER_SEED = 11, 12
MAX_AGAINST_BEST, MAX_AGAINST_ALL = 1.3, 0.5
# From how often to how seldom the pages that change do, in hours, spread evenly over the logarithm.
RANGES: Final = {
    "12 hours to 2 days": (12.0, 48.0),
    "12 hours to 8 days": (12.0, 192.0),
    "1 to 14 days": (24.0, 336.0),
}
ALL_KINDS: Final = ("constant", "poisson", "bursts")


class Case(NamedTuple):
    """Pages of one cluster, and what was known of them on the first day that counts."""

    periods: str
    kinds: tuple[str, ...]
    start: str
    days_before: int = 0
    is_prior_learnt: bool = False


CASES: Final = (
    *(Case(periods, ALL_KINDS, "after 30 days of visits", DAYS) for periods in RANGES),
    *(Case("12 hours to 8 days", (kind,), "after 30 days of visits", DAYS) for kind in ALL_KINDS),
    *(
        Case(periods, ALL_KINDS, "new, another cluster is known", is_prior_learnt=True)
        for periods in RANGES
    ),
    *(Case(periods, ALL_KINDS, "new, nothing is known") for periods in RANGES),
)


def run(_data: Path | None) -> str:
    """Return the figures as a section in Markdown."""
    rows = []
    for case in CASES:
        best, ours = measure(case)
        rows.append(
            (
                f"{case.periods}, {', '.join(case.kinds)}; {case.start}",
                f"{ours.late_share:.3f}",
                f"{ours.worst_day:.3f}",
                f"{best.late_share:.3f}",
                f"{ours.requests_per_page:.1f}",
                f"{best.requests_per_page:.1f}",
                f"{ours.requests_per_page / best.requests_per_page:.2f}",
                f"{ours.requests_per_page / (24 * DAYS / GOAL_HOURS):.2f}",
                "-" if case.days_before else f"{least_against_best(case):.2f}",
            )
        )
    header = (
        "pages that change once in …; at the start",
        "late",
        "late on the worst day",
        "late, best",
        "requests a page",
        "best",
        "against the best",
        "against each once a goal",
        "least for a learner, against the best",
    )
    return f"{_EXPLANATION}\n\n{markdown_table(header, rows)}"


def measure(case: Case) -> tuple[Result, Result]:
    """Return what the best schedule and ours do on a case's pages, over the days that count."""
    pages = _pages_of(case, SEED, case.days_before + DAYS)
    days = (case.days_before, case.days_before + DAYS)
    prior = _learnt_prior(case) if case.is_prior_learnt else default_shares()
    best = FixedVisits(best_intervals(pages, GOAL_HOURS, MAX_LATE_SHARE))
    ours = LearntVisits(N_PAGES, GOAL_HOURS, prior)
    return simulate(pages, best, GOAL_HOURS, days), simulate(pages, ours, GOAL_HOURS, days)


def least_against_best(case: Case) -> float:
    """Return the least requests of a learner, over those that the best schedule plans."""
    pages = _pages_of(case, SEED, DAYS)
    hours = 24.0 * DAYS
    best = float((hours / best_intervals(pages, GOAL_HOURS, MAX_LATE_SHARE)).mean())
    return least_requests(pages, GOAL_HOURS, MAX_LATE_SHARE, hours) / best


def _learnt_prior(case: Case) -> FloatArray:
    """Return the shares of another cluster after 30 days; none of its pages is measured."""
    others = LearntVisits(N_PAGES, GOAL_HOURS, default_shares())
    simulate(_pages_of(case, OTHER_SEED, DAYS), others, GOAL_HOURS, (0, DAYS))
    return others.plan.shares


def _pages_of(case: Case, seed: int, days: int) -> SimulatedPages:
    return make_pages(
        np.random.default_rng(seed), N_PAGES, case.kinds, RANGES[case.periods], 24.0 * days
    )


_EXPLANATION = f"""
A record is stale from the moment its page shows another value until the page is visited; it is late
while it is stale for longer than the goal of {GOAL_HOURS:.0f} hours. "Late" is the share of the
records that are, on average over {DAYS} days looked at hour by hour; the bar is
{MAX_LATE_SHARE:.2f}. Each row has {N_PAGES:,} pages of one cluster: half never change, the others

- **constant**: change after the same time, again and again;
- **poisson**: change at any moment alike;
- **bursts**: five changes within half a day, then nothing for five times as long.

The **best** schedule is told of each page in which of these ways it changes and how often, not
when. Each page has an interval of its own then, chosen so that {MAX_LATE_SHARE:.2f} of the records
are late at the fewest requests. Ours is told nothing but what its own visits saw. A visit that is
answered "not modified" is a request like any other. The bars are {MAX_AGAINST_BEST} times the
requests of the best schedule, and {MAX_AGAINST_ALL} of those of visiting each page once a goal.

A cluster of which nothing is known has to learn which half of its pages never changes, and that
takes three to five visits of each of them: the rows of new clusters count these visits, the rows
"after 30 days of visits" do not. "Least for a learner" is a bound from below: it is told which
share of the pages changes in which way and how often, and of a page so with the first visit that
sees a change. Only which pages never change it has to find out, at the times that cost least. What
is known of "another cluster" stands for the other clusters of the same site, from which a new one
begins.
""".strip()
