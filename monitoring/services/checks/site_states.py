"""A site's state of watching: one word, the same on every page, in the API and in metrics."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from django.db.models import Case, CharField, Exists, Min, OuterRef, Q, Subquery, Value, When

from monitoring.models import Alert, Check, Schedule
from rules.models import Record
from vertex.core.models import Site
from vertex.core.models.sites import SiteQuerySet

Kind = Alert.Kind


class SiteState(NamedTuple):
    """A state of watching."""

    key: str
    word: str
    tone: str
    meaning: str


UNWATCHED = SiteState("unwatched", "Not watched", "unknown", "It has no schedule of checks.")
PAUSED = SiteState("paused", "Paused", "unknown", "Its schedule is switched off.")
CHANGED = SiteState("changed", "Failing: changed", "bad", "A template is another one.")
UNREACHABLE = SiteState(
    "unreachable", "Failing: not reached", "warning", "Most of its pages are not there."
)
OVERDUE = SiteState("overdue", "Failing: overdue", "warning", "Its checks come to nothing.")
SECOND_LOOK = SiteState(
    "second_look",
    "Waits for a second look",
    "warning",
    "A check left it undecided, or is not sure.",
)
NEVER_CHECKED = SiteState(
    "never_checked", "Never checked", "unknown", "No check came to a verdict yet."
)
STALE = SiteState(
    "stale",
    "Stale",
    "warning",
    "Records are from before a redesign, until their pages are extracted again.",
)
DOUBTFUL = SiteState("doubtful", "Look at it", "warning", "Something looks odd and breaks nothing.")
WATCHED = SiteState("watched", "Watched", "good", "Its last check found nothing.")
# The first that holds.
STATES = (
    PAUSED,
    UNWATCHED,
    CHANGED,
    UNREACHABLE,
    OVERDUE,
    SECOND_LOOK,
    NEVER_CHECKED,
    STALE,
    DOUBTFUL,
    WATCHED,
)
STATE_BY_KEY = {state.key: state for state in STATES}


class SiteFigures(NamedTuple):
    """A site's state with the age of what it rests on."""

    state: SiteState
    checked_at: datetime | None
    again_at: datetime | None  # when it is checked next
    stale_since: datetime | None  # of the oldest record from before a redesign
    changed_at: datetime | None  # when a record last changed


def with_state(sites: SiteQuerySet) -> SiteQuerySet:
    """Return sites with the key of their state as `watch_state`."""
    alerts = Alert.objects.open().filter(site=OuterRef("pk"))
    schedules = Schedule.objects.filter(site=OuterRef("pk"))
    checks = Check.objects.filter(site=OuterRef("pk"))
    last_verdict = Subquery(checks.done().order_by("-pk").values("verdict")[:1])
    is_looked_at_twice = Exists(checks.filter(state=Check.State.RUNNING, n_rounds__gt=1))
    stale = Record.objects.filter(site=OuterRef("pk"), stale_since__isnull=False, gone_at=None)
    conditions = {
        PAUSED: Q(Exists(schedules)) & ~Q(Exists(schedules.running())),
        UNWATCHED: ~Q(Exists(schedules)),
        CHANGED: Q(Exists(alerts.filter(kind=Kind.SITE_CHANGED))),
        UNREACHABLE: Q(Exists(alerts.filter(kind=Kind.UNREACHABLE))),
        OVERDUE: Q(Exists(alerts.filter(kind=Kind.OVERDUE))),
        SECOND_LOOK: Q(is_looked_at_twice) | Q(last_verdict=Check.Verdict.UNDECIDED),
        NEVER_CHECKED: Q(last_verdict=None),
        STALE: Q(Exists(stale)),
        DOUBTFUL: Q(Exists(alerts)),
    }
    whens = [When(condition, then=Value(state.key)) for state, condition in conditions.items()]
    return sites.alias(last_verdict=last_verdict).annotate(
        watch_state=Case(*whens, default=Value(WATCHED.key), output_field=CharField())
    )


def of_state(sites: SiteQuerySet, key: str) -> SiteQuerySet:
    """Return the sites in a state; all for a blank."""
    return with_state(sites).filter(Q(watch_state=key)) if key else sites


def figures_of(sites: Iterable[int]) -> dict[int, SiteFigures]:
    """Return the state of each site with its ages, in a few queries for all."""
    sites = list(sites)
    newest = Check.objects.done().filter(site=OuterRef("pk")).order_by("-pk").values("made_at")[:1]
    # By the change number, of which there is an index: a site may have millions of records.
    last_changed = Record.objects.there().filter(site=OuterRef("pk")).order_by("-change_number")
    stated = with_state(Site.objects.filter(pk__in=sites)).annotate(
        checked_at=Subquery(newest), changed_at=Subquery(last_changed.values("changed_at")[:1])
    )
    rows = stated.values_list("pk", "watch_state", "checked_at", "changed_at")
    plans = dict(Schedule.objects.filter(site__in=sites).values_list("site", "next_at"))
    records = Record.objects.there().filter(site__in=sites).order_by().values("site")
    stale = records.filter(stale_since__isnull=False).annotate(oldest=Min("stale_since"))
    stale_since = {row["site"]: row["oldest"] for row in stale}
    return {
        pk: SiteFigures(
            STATE_BY_KEY[key], checked_at, plans.get(pk), stale_since.get(pk), changed_at
        )
        for pk, key, checked_at, changed_at in rows
    }


def counts_by_state(sites: SiteQuerySet) -> dict[str, int]:
    """Return how many sites are in each state, those that none is in included."""
    counts = dict.fromkeys(STATE_BY_KEY, 0)
    keys = with_state(sites).values_list("watch_state", flat=True)  # type: ignore[misc]  # annotated
    for key in keys:
        counts[key] += 1
    return counts
