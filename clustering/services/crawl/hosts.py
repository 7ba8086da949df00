"""Share the hosts among crawls: one at a time fetches from a host, as politely as it asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from clustering.fetching.robots import RobotsFile
from clustering.models import Host
from vertex.core.models import Job

LEASE: Final = timedelta(seconds=60)
WISH: Final = timedelta(seconds=10)  # for how long a job that waits for a host is taken to wait
ROBOTS_VALIDITY: Final = timedelta(days=1)
# A host of a crawl has a row in each batch: objects for them would cost more than all the rest.
_ADD_ANSWERS: Final = (
    "UPDATE clustering_host SET n_answers = n_answers + %s, n_bytes = n_bytes + %s WHERE id = %s"
)


class HostTaken(Exception):
    """Another job fetches from a host, or it asked to be left alone until some time."""

    def __init__(self, reason: str, until: datetime | None = None) -> None:
        super().__init__(reason)
        self.until = until


class HostAnswer(NamedTuple):
    """An answer of a host, or why there was none."""

    host: int
    was_asked: bool
    n_bytes: int
    problem: str  # a word, or a status that is an error; blank: none


def find_host(*, origin: str) -> Host:
    """Return the row of `scheme://host:port`, created if there is none."""
    return Host.objects.get_or_create(name=origin)[0]


def lease_host(*, host: Host, job: Job) -> bool:
    """Lease a host for a job's crawl; return False where another crawl has it."""
    now = timezone.now()
    is_free = Q(leased_until__isnull=True) | Q(leased_until__lt=now) | Q(leased_by=_name_of(job))
    if _is_left_behind(host):
        is_free |= Q(leased_by=host.leased_by)
    n_leased = Host.objects.filter(is_free, pk=host.pk).update(
        leased_by=_name_of(job),
        leased_until=now + LEASE,
        wanted_at=None,
        counted_since=now,
        n_answers=0,
        n_bytes=0,
        problems={},
    )
    host.refresh_from_db()
    return n_leased == 1


def keep_hosts(hosts_by_job: Sequence[tuple[Job, Collection[int]]]) -> list[bool]:
    """Renew the leases of hosts; return for each job whether all of its hosts were still held."""
    name_by_host = {host: _name_of(job) for job, hosts in hosts_by_job for host in hosts}
    with transaction.atomic():
        rows = Host.objects.select_for_update(no_key=True).filter(pk__in=name_by_host)
        holders = rows.order_by("pk").values_list("pk", "leased_by")
        held = {pk for pk, leased_by in holders if leased_by == name_by_host[pk]}
        Host.objects.filter(pk__in=held).update(leased_until=timezone.now() + LEASE)
    return [held.issuperset(hosts) for _, hosts in hosts_by_job]


def want_host(*, host: Host) -> None:
    """Record that a job with little to ask waits for a host: the crawl that has it gives way."""
    Host.objects.filter(pk=host.pk).update(wanted_at=timezone.now())


def wanted_hosts(hosts: Collection[int]) -> set[int]:
    """Return those of some hosts for which a job waits."""
    rows = Host.objects.filter(pk__in=hosts, wanted_at__gt=timezone.now() - WISH)
    return set(rows.values_list("pk", flat=True))


def release_host(*, host: Host, job: Job) -> None:
    """Release one host of a job's crawl."""
    Host.objects.filter(pk=host.pk, leased_by=_name_of(job)).update(leased_by="", leased_until=None)


def release_hosts(*, job: Job) -> None:
    """Release all hosts of a job's crawl."""
    Host.objects.filter(leased_by=_name_of(job)).update(leased_by="", leased_until=None)


def release_left_hosts() -> None:
    """Release the hosts of jobs whose process ended between the end of the job and this."""
    for host in Host.objects.filter(leased_until__lt=timezone.now()):
        if _is_left_behind(host):
            # The job may just have been taken up again, and have leased the host once more.
            as_seen = Host.objects.filter(pk=host.pk, leased_until=host.leased_until)
            as_seen.update(leased_by="", leased_until=None)


def keep_robots(*, host: Host, file: RobotsFile) -> None:
    """Save a host's robots.txt; it is valid for a day."""
    host.robots_text = file.text
    host.robots_status = file.status
    host.robots_fetched_at = timezone.now()
    host.save(update_fields=["robots_text", "robots_status", "robots_fetched_at"])


def has_fresh_robots(host: Host) -> bool:
    """Return whether the saved robots.txt is still valid."""
    return (
        host.robots_fetched_at is not None
        and host.robots_fetched_at > timezone.now() - ROBOTS_VALIDITY
    )


def keep_pause(*, host: Host, until: datetime) -> None:
    """Save until when a host asked to be left alone."""
    host.retry_after = until
    host.save(update_fields=["retry_after"])


def keep_next_fetches(delay_by_host: Mapping[int, float]) -> None:
    """Save for hosts that were asked just now when they may be asked again, by whoever comes next.

    A longer pause that is saved already stays.
    """
    hosts_by_delay: dict[float, list[int]] = {}
    for host, delay in delay_by_host.items():
        hosts_by_delay.setdefault(delay, []).append(host)
    now = timezone.now()
    for delay, hosts in hosts_by_delay.items():
        at = now + timedelta(seconds=delay)
        is_sooner = Q(next_fetch_at__isnull=True) | Q(next_fetch_at__lt=at)
        Host.objects.filter(is_sooner, pk__in=hosts).update(next_fetch_at=at)


def count_answers(answers: Iterable[HostAnswer]) -> None:
    """Add answers to the counts of their hosts, which the caller's jobs hold."""
    n_answers: Counter[int] = Counter()
    n_bytes: Counter[int] = Counter()
    problems: dict[int, Counter[str]] = {}
    for answer in answers:
        n_answers[answer.host] += answer.was_asked
        n_bytes[answer.host] += answer.n_bytes
        if answer.problem:
            problems.setdefault(answer.host, Counter())[answer.problem] += 1
    rows = [(n, n_bytes[host], host) for host, n in n_answers.items()]
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(_ADD_ANSWERS, rows)
    for host in Host.objects.filter(pk__in=problems).only("problems"):
        host.problems = dict(Counter(host.problems) + problems[host.pk])
        host.save(update_fields=["problems"])


def _name_of(job: Job) -> str:
    return f"job {job.pk}"


def _is_left_behind(host: Host) -> bool:
    """Return whether the job that leased a host is not running any more."""
    number = host.leased_by.removeprefix("job ")
    return (
        number.isdigit()
        and not Job.objects.filter(pk=int(number), state=Job.State.RUNNING).exists()
    )
