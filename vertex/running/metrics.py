"""Figures for Prometheus: requests counted by each process, all else asked of the database."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from hmac import compare_digest
from ipaddress import ip_address

import structlog
from django.conf import settings
from django.db import DatabaseError
from django.db.models import Count, F, FloatField, Min, Sum
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from monitoring.models import FreshnessGoal
from monitoring.services.checks.site_states import counts_by_state
from monitoring.services.stream.stream_figures import oldest_due
from vertex.core.models import Job, Site

# Each process writes its counts to files of its own there, and a scrape adds them up. The library
# looks at the variable when it is imported.
FOLDER = settings.VAR_DIR / "metrics"
FOLDER.mkdir(parents=True, exist_ok=True)
os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", str(FOLDER))

from prometheus_client import (  # noqa: E402 - after the folder is named
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
    multiprocess,
    values,
)
from prometheus_client.core import GaugeMetricFamily  # noqa: E402 - after the folder is named
from prometheus_client.registry import Collector  # noqa: E402 - after the folder is named

# What names the files of a process that goes on with the counts of one before it; others have
# their number.
COUNTS_OF = "PROMETHEUS_COUNTS_OF"
values.ValueClass = values.MultiProcessValue(  # type: ignore[no-untyped-call]  # the library has few types
    lambda: os.environ.get(COUNTS_OF) or os.getpid()
)

METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
REQUESTS = Counter("vertex_requests", "Requests answered.", ["method", "route", "status"])
SECONDS = Histogram(
    "vertex_request_seconds",
    "Time to the answer.",
    ["area"],
    buckets=[0.01, 0.03, 0.1, 0.3, 1, 3, 10],
)

log = structlog.get_logger(__name__)


def metrics(request: HttpRequest) -> HttpResponse:
    """Answer a scrape by whoever knows the token; without a token, by this machine only."""
    if not may_scrape(request):
        challenge = {"WWW-Authenticate": "Bearer"} if settings.METRICS_TOKEN else {}
        text = (
            "Send the token of VERTEX_METRICS_TOKEN as Bearer;"
            " without that setting, ask from this machine.\n"
        )
        return HttpResponse(
            text, status=401 if challenge else 403, headers=challenge, content_type="text/plain"
        )
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # the library has few types
    registry.register(DatabaseFigures())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def may_scrape(request: HttpRequest) -> bool:
    """Return whether the request carries the token, or comes from this machine if none is set."""
    if settings.METRICS_TOKEN:
        sent = request.headers.get("Authorization", "").encode(errors="replace")
        return compare_digest(sent, f"Bearer {settings.METRICS_TOKEN}".encode())
    is_forwarded = "HTTP_X_FORWARDED_FOR" in request.META or "HTTP_FORWARDED" in request.META
    try:
        return not is_forwarded and ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


def count_request(method: str, route: str, status: int, seconds: float) -> None:
    """Count a request that was answered."""
    REQUESTS.labels(method if method in METHODS else "other", route, str(status)).inc()
    SECONDS.labels("api" if route.startswith("api/") else "browser").observe(seconds)


class DatabaseFigures(Collector):
    """What the database says at the time of the scrape: the same from whichever process answers."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        figures = [_disk_free()]
        try:
            figures += [*_jobs(), *_stock(), _states(), *_stream()]
            is_up = 1
        except DatabaseError as error:
            log.warning("metrics_without_database", error=str(error))
            is_up = 0
        yield GaugeMetricFamily("vertex_database_up", "Whether the database answers.", value=is_up)
        yield from figures


def _disk_free() -> GaugeMetricFamily:
    free = shutil.disk_usage(settings.VAR_DIR).free
    return GaugeMetricFamily(
        "vertex_disk_free_bytes", "Room left where the page store is.", value=free
    )


def _jobs() -> Iterator[GaugeMetricFamily]:
    by_state = GaugeMetricFamily(
        "vertex_jobs", "Jobs by queue and state.", labels=["queue", "state"]
    )
    for row in Job.objects.order_by().values("queue", "state").annotate(n=Count("pk")):
        by_state.add_metric([row["queue"], row["state"]], row["n"])
    yield by_state
    now = timezone.now()
    age = GaugeMetricFamily(
        "vertex_queue_age_seconds", "How long the oldest due job waits.", labels=["queue"]
    )
    due = Job.objects.filter(state=Job.State.DUE, due_at__lte=now).order_by()
    oldest = dict(due.values_list("queue").annotate(Min("due_at")))
    for queue in Job.Queue.values:
        age.add_metric([queue], (now - oldest[queue]).total_seconds() if queue in oldest else 0)
    yield age
    abandoned = Job.objects.filter(state=Job.State.RUNNING, leased_until__lt=now).count()
    yield GaugeMetricFamily(
        "vertex_jobs_abandoned", "Running jobs whose worker gave no sign of life.", value=abandoned
    )


def _states() -> GaugeMetricFamily:
    by_state = GaugeMetricFamily(
        "vertex_sites_by_state", "Sites by their state of watching.", labels=["state"]
    )
    for key, n_sites in counts_by_state(Site.objects.all()).items():
        by_state.add_metric([key], n_sites)
    return by_state


def _stream() -> Iterator[GaugeMetricFamily]:
    now = timezone.now()
    oldest = oldest_due(now)
    lag = (now - oldest).total_seconds() if oldest else 0
    yield GaugeMetricFamily(
        "vertex_stream_lag_seconds", "How long the oldest due visit of a page waits.", value=lag
    )
    planned = FreshnessGoal.objects.exclude(planned_at=None)
    late = F("n_pages") * (1.0 - F("reached_share"))
    sums = planned.aggregate(pages=Sum("n_pages"), late=Sum(late, output_field=FloatField()))
    yield GaugeMetricFamily(
        "vertex_stream_pages", "Pages that are visited again.", value=sums["pages"] or 0
    )
    yield GaugeMetricFamily(
        "vertex_stream_late_pages",
        "Pages whose records are expected to be stale for longer than their goal.",
        value=sums["late"] or 0,
    )


def _stock() -> Iterator[GaugeMetricFamily]:
    stock = Site.objects.aggregate(sites=Count("pk"), pages=Sum("n_pages"))
    yield GaugeMetricFamily("vertex_sites", "Sites.", value=stock["sites"])
    yield GaugeMetricFamily("vertex_pages", "Pages of all sites.", value=stock["pages"] or 0)
