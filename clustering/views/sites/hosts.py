"""The hosts that are fetched from: who has each, when it is asked next, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.conf import settings
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from clustering.fetching.robots import Robots
from clustering.models import Host
from vertex.core.models import Job, Role
from vertex.core.views.access import needs_role
from vertex.core.views.lists import choice_of, list_part, words

SHOWN = {"": "At work", "waiting": "Left alone", "trouble": "With problems", "all": "All"}
LIVE_EVERY, QUIET_EVERY = 2, 10  # seconds between two looks
MAX_PROBLEMS = 4  # shown of a host, the most frequent ones


class ShownHost(NamedTuple):
    """A host with the job that has it."""

    host: Host
    job: Job | None
    next_at: datetime | None  # None: as soon as there is something to ask for
    is_left_alone: bool  # as it asked to be
    robots: str
    problems: list[tuple[str, int]]
    n_other_problems: int


@needs_role(Role.OPERATOR, everywhere=True)
@require_GET
def hosts(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    query = words(request)
    shown = choice_of(request, "show", SHOWN)
    at_work = Q(leased_until__gt=now)
    conditions = {
        "": at_work,
        "waiting": Q(retry_after__gt=now),
        "trouble": ~Q(problems={}),
        "all": Q(),
    }
    listed = Host.objects.filter(conditions[shown])
    for word in query.split():
        listed = listed.filter(name__icontains=word)
    part = list_part(request, listed, order=["name"])
    is_busy = Host.objects.filter(at_work).exists()
    context = {
        "page": part,
        "rows": _with_jobs(part.rows, now),
        "query": query,
        "shown": shown,
        "choices": SHOWN,
        "is_live": True,
        "live_every": LIVE_EVERY if is_busy else QUIET_EVERY,
    }
    return render(request, "clustering/sites/hosts.html", context)


def _with_jobs(listed: Sequence[Host], now: datetime) -> list[ShownHost]:
    """Return hosts with the jobs that have them now."""
    job_by_host = {host.pk: _job_of(host, now) for host in listed}
    jobs = Job.objects.select_related("site").in_bulk(
        [job for job in job_by_host.values() if job is not None]
    )
    rows = []
    for host in listed:
        job = jobs.get(job_by_host[host.pk] or 0)
        moments = [moment for moment in (host.next_fetch_at, host.retry_after) if moment]
        next_at = max(moments, default=None)
        problems = sorted(host.problems.items(), key=lambda item: (-item[1], item[0]))
        rows.append(
            ShownHost(
                host=host,
                job=job,
                next_at=next_at if next_at and next_at > now else None,
                is_left_alone=host.retry_after is not None and host.retry_after > now,
                robots=_robots_of(host, job),
                problems=problems[:MAX_PROBLEMS],
                n_other_problems=sum(n for _, n in problems[MAX_PROBLEMS:]),
            )
        )
    return rows


def _job_of(host: Host, now: datetime) -> int | None:
    number = host.leased_by.removeprefix("job ")
    is_leased = host.leased_until is not None and host.leased_until > now
    return int(number) if is_leased and number.isdigit() else None


def _robots_of(host: Host, job: Job | None) -> str:
    if job is not None and job.site is not None and not job.site.obey_robots:
        return "not obeyed, by the site's settings"
    if host.robots_fetched_at is None:
        return "not read yet"
    if not host.robots_text:
        return "allows everything" if host.robots_status == 200 else f"none ({host.robots_status})"
    delay = Robots(host.robots_text, settings.USER_AGENT).crawl_delay
    return f"obeyed, asks for {delay:g} s" if delay else "obeyed"
