"""Sum up the stream of a site in one row, and how each step of the chain stands there."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, F, FloatField, Max, Min, Q, Sum
from django.db.models.functions import Cast

from annotation.models import Sample
from monitoring.models import ChainStep, FreshnessGoal, Revisit, Schedule
from monitoring.services.stream.chain import CHAIN, STEP_BY_KEY, DeclaredStep
from rules.models import Record, Rule
from vertex.core.models import Job, Site


class SiteStream(NamedTuple):
    """The stream of one site."""

    goal_hours: int  # the shortest of its clusters
    n_pages: int
    reached_share: float  # of its records, expected
    n_stale: int  # records that are known to be from before a redesign
    n_requests: int
    n_saved: int  # against a visit of each page once a goal
    planned_at: datetime | None  # when these were reckoned
    next_at: datetime | None  # the next visit


class StepState(NamedTuple):
    """How a step of the chain stands at a site."""

    step: DeclaredStep
    key: str  # paused, off, running, waiting, failed, done, person or idle
    word: str
    tone: str
    job: Job | None  # the last that did it
    since: datetime | None

    @property
    def is_pausable(self) -> bool:
        return self.step.start is not None

    @property
    def follower_title(self) -> str:
        return STEP_BY_KEY[self.step.follower].title


def streams_of(sites: Iterable[int]) -> dict[int, SiteStream]:
    """Return the stream of each site that has a goal, in three queries for all."""
    sites = list(sites)
    goals = FreshnessGoal.objects.filter(cluster__site__in=sites, planned_at__isnull=False)
    goals = goals.filter(n_pages__gt=0)
    weight = Cast(F("n_pages"), FloatField())
    rows = (
        goals.order_by()
        .values("cluster__site")
        .annotate(
            shortest=Min("goal_hours"),
            pages=Sum("n_pages"),
            reached=Sum(F("reached_share") * weight),
            requests=Sum("n_requests"),
            saved=Sum("n_saved"),
            planned=Min("planned_at"),
        )
    )
    waiting = Revisit.objects.filter(site__in=sites, next_at__isnull=False).order_by()
    next_at = dict(waiting.values_list("site").annotate(Min("next_at")))
    stale = Record.objects.there().filter(site__in=sites, stale_since__isnull=False).order_by()
    n_stale = dict(stale.values_list("site").annotate(Count("pk")))
    return {
        row["cluster__site"]: SiteStream(
            row["shortest"],
            row["pages"],
            row["reached"] / row["pages"],
            n_stale.get(row["cluster__site"], 0),
            row["requests"],
            row["saved"],
            row["planned"],
            next_at.get(row["cluster__site"]),
        )
        for row in rows
    }


def goals_of(site: Site) -> list[FreshnessGoal]:
    """Return the goals of a site's clusters with a rule."""
    goals = FreshnessGoal.objects.in_force().filter(cluster__site=site)
    return list(goals.select_related("cluster__site").order_by("cluster__name"))


def oldest_due(now: datetime) -> datetime | None:
    """Return since when the longest waiting visit of all sites is due."""
    oldest: datetime | None = Revisit.objects.due(now).aggregate(oldest=Min("next_at"))["oldest"]
    return oldest


def step_states(site: Site) -> list[StepState]:
    """Return how each step of the chain stands at a site, in its order."""
    rows = {row.step: row for row in ChainStep.objects.filter(site=site)}
    tasks = [task for step in CHAIN for task in step.tasks]
    of_site = Job.objects.filter(site=site, task__in=tasks).order_by()
    newest = of_site.values("task").annotate(newest=Max("pk")).values_list("newest", flat=True)
    job_by_task = {job.task: job for job in Job.objects.filter(pk__in=list(newest))}
    is_watched = not Schedule.objects.filter(site=site, is_active=False).exists()
    states = []
    for step in CHAIN:
        jobs = [job_by_task[task] for task in step.tasks if task in job_by_task]
        job = max(jobs, key=lambda job: job.pk, default=None)
        row = rows.get(step.key)
        if row is not None and row.is_paused:
            states.append(StepState(step, "paused", "Paused", "unknown", job, row.changed_at))
        elif step.key == "check" and not is_watched:
            states.append(StepState(step, "off", "Schedule is off", "unknown", job, None))
        elif step.start is None:
            states.append(_state_of_person(site, step))
        else:
            states.append(_state_by_job(step, job))
    return states


def _state_by_job(step: DeclaredStep, job: Job | None) -> StepState:
    if job is None:
        return StepState(step, "idle", "Not begun", "unknown", None, None)
    if job.state == Job.State.RUNNING:
        return StepState(step, "running", "At work", "busy", job, job.started_at)
    if job.state == Job.State.DUE:
        return StepState(step, "waiting", "Waits for a worker", "busy", job, job.created_at)
    if job.state == Job.State.DONE:
        return StepState(step, "done", "Done", "good", job, job.finished_at)
    return StepState(step, "failed", job.get_state_display(), "bad", job, job.finished_at)


def _state_of_person(site: Site, step: DeclaredStep) -> StepState:
    """Return whether the site waits for a person: samples or drafts are there, and no rule."""
    rules = Rule.objects.filter(cluster__site=site)
    published = rules.published().aggregate(last=Max("published_at"))["last"]
    open_drafts = rules.filter(Q(state=Rule.State.DRAFT) | Q(state=Rule.State.PROPOSED)).exists()
    if published is not None and not open_drafts:
        return StepState(step, "done", "Done", "good", None, published)
    if open_drafts or Sample.objects.filter(cluster__site=site).exists():
        return StepState(step, "person", "Waits for a person", "warning", None, None)
    return StepState(step, "idle", "Not begun", "unknown", None, None)
