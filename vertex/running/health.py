"""Whether the process lives, whether it can serve, and what stands in the way."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass

import structlog
from celery import current_app
from django.conf import settings
from django.core.cache import caches
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from kombu.exceptions import OperationalError
from redis import RedisError

from vertex.core.services.jobs.heartbeat import read_machine_health
from vertex.core.storage import StoreAway, page_store
from vertex.running.metrics import may_scrape
from vertex.running.redis_cache import PatientRedisCache

BROKER_WITHIN = 2  # seconds

log = structlog.get_logger(__name__)


class NotReady(Exception):
    """A check failed; the message is for whoever runs the installation and holds no secret."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One thing to be well; one that does not matter is shown and keeps nobody from serving."""

    name: str
    look: Callable[[], str]
    matters: bool = True


def own_name() -> str:
    """Return a name that the application answers to."""
    return (settings.ALLOWED_HOSTS or ["localhost"])[0].lstrip(".*") or "localhost"


@never_cache
def healthz(_request: HttpRequest) -> HttpResponse:
    """Answer that the process is up; nothing else is checked."""
    return HttpResponse("ok\n", content_type="text/plain")


@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """Return by check whether the installation can serve; status 503 if one that matters fails.

    What a check says in words is for whoever may read the metrics.
    """
    checks = {check.name: _outcome(check) for check in CHECKS}
    if not may_scrape(request):
        checks = {
            name: {"ok": outcome["ok"], "matters": outcome["matters"]}
            for name, outcome in checks.items()
        }
    is_ready = all(outcome["ok"] for outcome in checks.values() if outcome["matters"])
    return JsonResponse({"ready": is_ready, "checks": checks}, status=200 if is_ready else 503)


def _outcome(check: Probe) -> dict[str, object]:
    try:
        message, is_ok = check.look(), True
    except NotReady as problem:
        message, is_ok = str(problem), False
    except (DatabaseError, OSError) as error:  # its text may hold addresses and names: the log only
        log.warning("check_failed", check=check.name, error=str(error))
        message, is_ok = f"{type(error).__name__}; the log says more.", False
    return {"ok": is_ok, "matters": check.matters, "message": message}


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return f"{connection.vendor} answers."


def _migrations() -> str:
    executor = MigrationExecutor(connection)
    if missing := executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise NotReady(f"{len(missing)} migrations are not applied; run manage.py migrate.")
    return "All are applied."


def _page_store() -> str:
    store = page_store()
    try:
        store.check()
    except StoreAway as away:
        raise NotReady(f"{away}.") from None
    if not os.access(store.folder, os.W_OK | os.X_OK):
        raise NotReady(f"{store.folder} cannot be written by the user of this process.")
    return "Is this installation's, and can be written."


def _disk() -> str:
    free = shutil.disk_usage(settings.VAR_DIR).free // 2**20
    if free < settings.MIN_FREE_MB:
        raise NotReady(f"{free:,} MB are free, {settings.MIN_FREE_MB:,} are needed. Make room.")
    return f"{free:,} MB are free."


def _cache() -> str:
    cache = caches["default"]
    if not isinstance(cache, PatientRedisCache):
        return "Files on this machine."
    try:
        cache.ping()
    except RedisError as error:
        log.warning("cache_unreachable", error=str(error))
        raise NotReady(
            "The cache does not answer: pages take longer, and API calls are not counted. "
            "Look at CACHE_URL."
        ) from None
    return "Answers."


def _broker() -> str:
    if settings.CELERY_BROKER_URL.startswith("filesystem:"):
        return _folder_broker()
    try:
        with current_app.connection_for_write(connect_timeout=BROKER_WITHIN) as broker:
            broker.ensure_connection(max_retries=0, timeout=BROKER_WITHIN)
    except (OperationalError, OSError) as error:
        log.warning("broker_unreachable", error=str(error))
        raise NotReady(
            "The broker does not answer: jobs wait. Look at BROKER_URL and the broker."
        ) from None
    return "Answers."


def _folder_broker() -> str:
    folder = settings.VAR_DIR / "broker"
    if not os.access(folder, os.W_OK):
        raise NotReady("The broker's folder cannot be written: jobs wait.")
    return "Its folder can be written."


def _workers() -> str:
    health = read_machine_health()
    if health.problems:
        raise NotReady(" ".join(health.problems))
    return "The clock ticks, and every queue has a worker."


def _overdue_jobs() -> str:
    if n_overdue := read_machine_health().n_overdue:
        raise NotReady(f"{n_overdue:,} jobs are overdue.")
    return "None."


# A web process without workers still serves what is stored, so these are told and keep it
# in service.
CHECKS = (
    Probe("database", _database),
    Probe("migrations", _migrations),
    Probe("page_store", _page_store),
    Probe("disk", _disk),
    Probe("cache", _cache, matters=False),
    Probe("broker", _broker, matters=False),
    Probe("workers", _workers, matters=False),
    Probe("overdue_jobs", _overdue_jobs, matters=False),
)
