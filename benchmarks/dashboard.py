"""Monitoring's pages with 1,000 sites of ten clusters on PostgreSQL, and how checks are planned."""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
from django.test import Client

from benchmarks.report import markdown_table
from tests.servers import postgres

TITLE = "Dashboards of a thousand sites"
ROOT = Path(__file__).resolve().parent.parent
N_SITES, N_CLUSTERS, N_DAYS, N_ALERTS, N_CHANGES, N_REQUESTS = 1_000, 10, 45, 150, 60, 40
N_PAGES = 5  # of a cluster, each with a record that the stream keeps fresh
BATCH = 5_000  # rows
# Of schedules that are the same each day.
SIMULATED_HOURS = 7 * 24 if os.environ.get("VERTEX_FULL") else 24
TICK = timedelta(seconds=15)  # of the clock, as beat has it
LAG_BAR = 60  # seconds
BAR = 300  # ms
FIGURES = ("processor", "processor_p95", "median", "p95")
PATHS = {
    "overview": "/monitoring/",
    "overview, sites that changed": "/monitoring/?show=changed",
    "overview, a search": "/monitoring/?q=site-09",
    "overview: coverage and records, drawn after it": "/monitoring/course/",
    "overview: work, drawn after it": "/monitoring/work/",
    "a site": "/sites/site-0003/monitoring/",
    "how a site is watched": "/sites/site-0003/monitoring/settings/",
    "stream of a site": "/sites/site-0003/stream/",
    "site changes": "/monitoring/site-changes/",
    "history": "/monitoring/history/",
}


def run(_data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    with postgres() as url:
        environment = {**os.environ, "DATABASE_URL": url}
        command = [sys.executable, "-m", "benchmarks.dashboard"]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE
        )
    line = orjson.loads(done.stdout.splitlines()[-1])
    rows = [
        [
            name,
            *(f"{line[name][key]:.0f}" for key in FIGURES),
            line[name]["queries"],
        ]
        for name in PATHS
    ]
    planned = line["planned"]
    return (
        f"{N_SITES:,} sites with {N_CLUSTERS} clusters each, {N_DAYS} days of checks and coverage, "
        f"{N_ALERTS} open alerts and {N_CHANGES} site changes, and the stream on: "
        f"{N_SITES * N_CLUSTERS:,} freshness goals and {N_SITES * N_CLUSTERS * N_PAGES:,} pages "
        "with records that are "
        f"visited again. {N_REQUESTS} requests a page, through all of the application but "
        "the socket: the "
        "milliseconds of processor time that this process and the one of the database take "
        "together, and those "
        "that pass by the clock, which other work on the machine draws out: "
        f"{line['load']:.0f} processes wanted "
        f"its {os.cpu_count()} cores meanwhile. Bar: p95 of {BAR} ms for the overview.\n\n"
        + markdown_table(
            ["page", "processor, median", "p95", "clock, median", "p95", "queries"], rows
        )
        + f"\n\nThe daily round: {planned['sites']:,} sites planned in "
        f"{planned['seconds']:.1f} s, from "
        f"{planned['least']} to {planned['most']} checks in each hour of the day; "
        "a tick starts the "
        f"{planned['due']} that are due in one minute in {planned['tick']:.2f} s by the clock, "
        "and as many again after a "
        f"restart: {planned['again']}.\n\n" + lag_message(line["simulated"])
    )


def lag_message(simulated: dict[str, Any]) -> str:
    """Say how late checks and visits began in the simulated hours."""
    return (
        f"{SIMULATED_HOURS} simulated hours: the clock ticks every {TICK.total_seconds():.0f} "
        "seconds, and each job that "
        f"it starts ends at once. {simulated['checks']:,} checks and {simulated['visits']:,} jobs "
        "that visit pages were "
        f"started; what was due began {simulated['median']:.0f} s later (median), "
        f"{simulated['p99']:.0f} s at the 99th "
        f"percentile, the time that the tick itself takes included (bar: {LAG_BAR} s). "
        "Started twice: "
        f"{simulated['twice']}. A tick takes {simulated['tick']:.2f} s (median)."
    )


def make() -> None:
    """Fill the database with sites, their rules and what was found of them."""
    from annotation.models import Vertical
    from clustering.models import Cluster
    from monitoring.models import Alert, Check, Coverage, SiteChange
    from rules.models import Rule
    from vertex.core.models import Membership, Site, User

    chance = random.Random(7)
    now = time_now()
    ada = User.objects.create_user("ada", password="x")
    Membership.objects.create(user=ada, role="administrator")
    vertical = Vertical.objects.create(name="product")
    sites = Site.objects.bulk_create(
        Site(name=f"site-{n:04}", root_url=f"https://s{n}.example/") for n in range(N_SITES)
    )
    clusters = Cluster.objects.bulk_create(
        Cluster(site=site, name=f"c{n}", title=f"Cluster {n}")
        for site in sites
        for n in range(N_CLUSTERS)
    )
    rules = Rule.objects.bulk_create(
        Rule(
            cluster=cluster,
            version=1,
            state="published",
            vertical=vertical,
            stylesheet="",
            published_at=now - timedelta(days=chance.randrange(300)),
        )
        for cluster in clusters
    )
    lines = [_line(n) for n in range(N_CLUSTERS)]
    for day in range(N_DAYS):
        at = now - timedelta(days=day, hours=1)
        line: dict[str, Any] = {"clusters": lines, "n_pages": 150, "n_reachable": 150}
        line["verdict"] = "as_it_was"
        Check.objects.bulk_create(
            Check(site=site, made_at=at, started_at=at, **line) for site in sites
        )
        Coverage.objects.bulk_create(
            [
                Coverage(
                    site_id=site_id, rule=rule, day=at.date(), n_pages=30, n_served=28, n_records=28
                )
                for site_id, rule in _by_site(clusters, rules)
            ],
            batch_size=5_000,
        )
    kinds = ["site_changed", "unreachable", "warning"]
    Alert.objects.bulk_create(
        Alert(site=site, kind=chance.choice(kinds), text="as it was before")
        for site in sites[:N_ALERTS]
    )
    SiteChange.objects.bulk_create(
        SiteChange(
            site_id=cluster.site_id,
            cluster=cluster,
            reason="most values are lost",
            evidence=_line(1),
            found_at=now - timedelta(days=chance.randrange(30)),
        )
        for cluster in clusters[: N_CHANGES * N_CLUSTERS : N_CLUSTERS]
    )


def make_stream() -> None:
    """Give each cluster a freshness goal, and pages with records that are visited again."""
    from clustering.models import Page, Snapshot
    from monitoring.models import FreshnessGoal, Revisit
    from rules.models import Record, Rule

    chance = random.Random(8)
    now = time_now()
    rules = list(Rule.objects.select_related("cluster").order_by("pk"))
    goals = FreshnessGoal.objects.bulk_create(
        FreshnessGoal(
            cluster=rule.cluster,
            planned_at=now,
            n_pages=N_PAGES,
            reached_share=0.96,
            n_requests=40,
            n_saved=60,
        )
        for rule in rules
    )
    pages = Page.objects.bulk_create(
        (
            Page(
                site_id=rule.cluster.site_id,
                url=f"https://s.example/{rule.pk}/{number}",
                url_hash=(rule.pk * N_PAGES + number).to_bytes(16, "big"),
                given_url=f"https://s.example/{rule.pk}/{number}",
                state=Page.State.STORED,
                status=200,
                visited_at=now,
            )
            for rule in rules
            for number in range(N_PAGES)
        ),
        batch_size=BATCH,
    )
    snapshots = Snapshot.objects.bulk_create(
        (
            Snapshot(
                page=page,
                body="0" * 64,
                n_bytes=1,
                requested_url=page.url,
                final_url=page.url,
                fetched_at=now,
                seen_at=now,
            )
            for page in pages
        ),
        batch_size=BATCH,
    )
    of_pages = [
        (rule, goal) for rule, goal in zip(rules, goals, strict=True) for _ in range(N_PAGES)
    ]
    Record.objects.bulk_create(
        (
            Record(
                site_id=page.site_id,
                page=page,
                cluster=rule.cluster,
                rule=rule,
                snapshot=snapshot,
                values={"name": "Rope"},
                change_number=number,
                changed_at=now - timedelta(hours=chance.randrange(500)),
            )
            for number, (page, snapshot, (rule, _)) in enumerate(
                zip(pages, snapshots, of_pages, strict=True), 1
            )
        ),
        batch_size=BATCH,
    )
    Revisit.objects.bulk_create(
        (
            Revisit(
                page=page,
                site_id=page.site_id,
                goal=goal,
                visited_at=now,
                next_at=now + timedelta(minutes=chance.uniform(10, 5_000)),
            )
            for page, (_, goal) in zip(pages, of_pages, strict=True)
        ),
        batch_size=BATCH,
    )


def plan() -> dict[str, Any]:
    """Plan the daily round of all sites; return how evenly, and what a tick makes of a minute."""
    from monitoring.models import Schedule
    from monitoring.services.checks.schedules import make_default_schedules, plan_checks
    from vertex.core.models import Job

    now = time_now()
    began = time.monotonic()
    make_default_schedules(now)
    seconds = time.monotonic() - began
    planned = list(Schedule.objects.values_list("next_at", flat=True))
    hours = Counter(int((at - now).total_seconds() // 3600) for at in planned if at)
    minute = min(at for at in planned if at) + timedelta(minutes=10)
    began = time.monotonic()
    n_due = plan_checks(minute)
    line = {
        "sites": len(planned),
        "seconds": seconds,
        "least": min(hours.values()),
        "most": max(hours.values()),
    }
    tick = time.monotonic() - began
    again = plan_checks(minute)  # another clock, or the same one after a restart
    Job.objects.all().delete()
    return line | {"due": n_due, "tick": tick, "again": again}


def simulate(hours: float = SIMULATED_HOURS) -> dict[str, Any]:
    """Tick the clock for some hours in which each job ends at once; return how late due work began.

    A tick at which nothing is due starts nothing, and is left out.
    """
    from django.db.models import Min

    from monitoring.models import Revisit, Schedule, Slot
    from monitoring.services.checks.schedules import plan_checks
    from monitoring.services.stream.planning import start_visits
    from vertex.core.models import Job

    chance = random.Random(9)
    began_at = time_now()
    end = began_at + timedelta(hours=hours)
    now = began_at
    lags: list[float] = []
    seconds_by_tick: list[float] = []
    n_checks = n_visits = n_twice = 0
    while True:
        next_due = min(
            rows.aggregate(first=Min("next_at"))["first"] or end
            for rows in (Schedule.objects.running(), Revisit.objects.all())
        )
        now = max(now + TICK, began_at + -(-(next_due - began_at) // TICK) * TICK)
        if now >= end:
            break
        due_checks = dict(Schedule.objects.due(now).values_list("site", "next_at"))
        due_visits = Revisit.objects.due(now).order_by().values_list("site")
        due_visits_by_site = dict(due_visits.annotate(Min("next_at")))
        tick_began = time.monotonic()
        n_checks += plan_checks(now)
        n_visits += start_visits(now)
        seconds_by_tick.append(time.monotonic() - tick_began)
        started = list(Job.objects.unfinished().values_list("site", "task"))
        n_twice += len(started) - len(set(started))
        lags += [
            (now - due_at).total_seconds() + seconds_by_tick[-1]
            for due_at in (*due_checks.values(), *due_visits_by_site.values())
        ]
        Job.objects.all().delete()
        Slot.objects.open().update(state=Slot.State.DONE, ended_at=now)
        visited = list(Revisit.objects.filter(next_at=None))
        for row in visited:
            row.visited_at, row.asked_at = now, None
            row.next_at = now + timedelta(hours=chance.uniform(12, 160))
        Revisit.objects.bulk_update(visited, ["visited_at", "asked_at", "next_at"])
    return {
        "checks": n_checks,
        "visits": n_visits,
        "twice": n_twice,
        "median": statistics.median(lags),
        "p99": statistics.quantiles(lags, n=100)[-1],
        "tick": statistics.median(seconds_by_tick),
    }


def measure(client: Client, path: str) -> dict[str, float]:
    """Return how long a page takes, and how much of it this process is at work."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        answer = client.get(path)
    n_queries = len(queries)
    if answer.status_code != 200:
        raise ValueError(f"{path} answers {answer.status_code}")
    waited, worked = [], []
    for _ in range(N_REQUESTS):
        began, worked_before = time.perf_counter(), processor_seconds()
        client.get(path)
        waited.append(1000 * (time.perf_counter() - began))
        worked.append(1000 * (processor_seconds() - worked_before))
    return {
        "processor": statistics.median(worked),
        "processor_p95": statistics.quantiles(worked, n=20)[-1],
        "median": statistics.median(waited),
        "p95": statistics.quantiles(waited, n=20)[-1],
        "queries": n_queries,
    }


def processor_seconds() -> float:
    """Return what this process and the one that serves it in the database took of a processor."""
    from django.db import connection

    process = connection.connection.info.backend_pid
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])  # in user and in system mode
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def time_now() -> Any:
    from django.utils import timezone

    return timezone.now()


def _line(number: int) -> dict[str, Any]:
    shares = {"shingle_share": 0.0, "field_share": 0.0, "structure_share": 0.0, "coverage": None}
    line = {
        "cluster": f"c{number}",
        "state": "as_it_was",
        "is_broken": False,
        "is_changed_for_the_paper": False,
        "warnings": [],
    }
    return {**line, **shares, "reason": "as it was", "n_reachable": 15, "n_pages": 15}


def _by_site(clusters: Any, rules: Any) -> Iterator[tuple[int, Any]]:
    yield from ((cluster.site_id, rule) for cluster, rule in zip(clusters, rules, strict=True))


def main() -> int:
    """Measure on the database of the environment, which is empty, and print what came out."""
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "vertex.settings"
    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection
    from django.test import Client

    settings.ALLOWED_HOSTS = ["*"]
    call_command("migrate", verbosity=0)
    make()
    make_stream()
    line: dict[str, Any] = {"planned": plan()}
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
        # Helpers of a query would be processes of their own, which nobody counts.
        cursor.execute("SET max_parallel_workers_per_gather = 0")
    client = Client()
    client.force_login(_ada())
    line |= {name: measure(client, path) for name, path in PATHS.items()}
    line["load"] = os.getloadavg()[1]
    line["simulated"] = simulate()
    print(orjson.dumps(line).decode(), flush=True)
    return 0


def _ada() -> Any:
    from vertex.core.models import User

    return User.objects.get(username="ada")


if __name__ == "__main__":
    sys.exit(main())
