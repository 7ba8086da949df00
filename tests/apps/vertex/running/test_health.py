import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
from celery import current_app
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone

from vertex.core.models import Heartbeat, Job
from vertex.core.services.jobs import heartbeat
from vertex.core.storage import OWNER_FILE, page_store, write_owner
from vertex.running import health
from vertex.running.page_answers import answer_request
from vertex.running.page_requests import health_request

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


class Usage(NamedTuple):
    total: int
    used: int
    free: int


@contextmanager
def using_broker(url: str) -> Iterator[None]:
    configured: Any = current_app.conf
    before = configured.broker_url
    configured.broker_url = url
    try:
        yield
    finally:
        configured.broker_url = before


@pytest.fixture(autouse=True)
def all_is_well(settings: Any) -> None:
    """Let the clock tick and a worker serve each queue; each test makes its own failures."""
    for name in [heartbeat.CLOCK, *Job.Queue.values]:
        Heartbeat.objects.create(name=name, at=timezone.now())
    (settings.VAR_DIR / "broker").mkdir(parents=True, exist_ok=True)


def checks() -> tuple[int, dict[str, Any]]:
    response = Client().get("/readyz")
    answer = response.json()
    assert (response.status_code == 200) == answer["ready"]
    return response.status_code, answer["checks"]


def test_a_living_process_says_so_and_asks_nobody(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        response = Client().get("/healthz")

    assert (200, b"ok\n") == (response.status_code, response.content)
    assert "no-store" in response["Cache-Control"]


def test_all_is_well() -> None:
    status, result = checks()

    assert 200 == status
    assert [] == [name for name, check in result.items() if not check["ok"]]
    assert {
        "database",
        "migrations",
        "page_store",
        "disk",
        "cache",
        "broker",
        "workers",
        "overdue_jobs",
    } == set(result)
    assert all(check["message"] for check in result.values())


def test_a_full_disk_takes_the_installation_out_of_service(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = Usage(10**12, 10**12, (settings.MIN_FREE_MB - 1) * 2**20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    status, result = checks()

    assert (503, False) == (status, result["disk"]["ok"])
    assert "Make room" in result["disk"]["message"]


def test_migrations_that_are_not_applied_are_counted() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'annotation'")
    status, result = checks()

    assert (503, False) == (status, result["migrations"]["ok"])
    assert "manage.py migrate" in result["migrations"]["message"]


def test_a_page_store_that_cannot_be_written_is_told(settings: Any, tmp_path: Any) -> None:
    (tmp_path / "file").write_text("in the way")
    settings.PAGE_STORE_DIR = tmp_path / "file" / "pages"
    status, result = checks()

    assert (503, False) == (status, result["page_store"]["ok"])


def test_a_probe_leaves_nothing_in_the_page_store(settings: Any) -> None:
    checks()

    files = [path.name for path in settings.PAGE_STORE_DIR.rglob("*") if path.is_file()]
    assert [OWNER_FILE] == files


def test_a_page_store_that_is_not_mounted_is_told_and_not_made_anew(settings: Any) -> None:
    page_store().put(b"<p>x")
    shutil.move(settings.PAGE_STORE_DIR, settings.PAGE_STORE_DIR.with_name("elsewhere"))
    status, result = checks()

    assert (503, False) == (status, result["page_store"]["ok"])
    assert "not mounted" in result["page_store"]["message"]
    assert not settings.PAGE_STORE_DIR.exists()


def test_a_page_store_of_another_installation_is_told(settings: Any) -> None:
    page_store().put(b"<p>x")
    write_owner(settings.PAGE_STORE_DIR, "somebody-elses")
    status, result = checks()

    assert (503, False) == (status, result["page_store"]["ok"])
    assert "another installation's" in result["page_store"]["message"]


def test_a_database_that_is_gone_is_told_without_its_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail() -> str:
        raise OperationalError("connection to postgresql://vertex:swordfish@db.internal failed")

    monkeypatch.setattr(health, "CHECKS", (health.Probe("database", fail),))
    status, result = checks()

    assert (503, False) == (status, result["database"]["ok"])
    assert "swordfish" not in json.dumps(result)


def test_workers_that_are_gone_are_told_and_reading_goes_on() -> None:
    Heartbeat.objects.all().delete()
    status, result = checks()

    assert (200, False, False) == (status, result["workers"]["ok"], result["workers"]["matters"])


def test_overdue_jobs_are_counted() -> None:
    Job.objects.create(
        task="t",
        queue=Job.Queue.FETCH,
        title="Late",
        due_at=timezone.now() - heartbeat.OVERDUE_AFTER * 2,
    )
    _, result = checks()

    assert (False, "1 jobs are overdue.") == (
        result["overdue_jobs"]["ok"],
        result["overdue_jobs"]["message"],
    )


def test_a_broker_that_does_not_answer_is_told_at_once(settings: Any) -> None:
    settings.CELERY_BROKER_URL = "amqp://guest:swordfish@127.0.0.1:9//"
    with using_broker(settings.CELERY_BROKER_URL):
        status, result = checks()

    assert (200, False) == (status, result["broker"]["ok"])
    assert "swordfish" not in json.dumps(result)


@pytest.mark.redis
def test_a_broker_that_answers_is_well(settings: Any, redis_url: str) -> None:
    settings.CELERY_BROKER_URL = redis_url
    with using_broker(redis_url):
        _, result = checks()

    assert result["broker"]["ok"]


def test_strangers_learn_what_fails_and_not_why() -> None:
    answer = Client(REMOTE_ADDR="192.0.2.7").get("/readyz").json()

    assert {"ok", "matters"} == {key for check in answer["checks"].values() for key in check}


@pytest.mark.django_db
@pytest.mark.parametrize("names", [["vertex.example.org"], [".example.org"], []])
def test_what_a_page_process_begins_with_is_answered(settings: Any, names: list[str]) -> None:
    settings.ALLOWED_HOSTS = names
    # Without names only that of this machine is answered to, in development.
    settings.DEBUG = not names

    assert b"200 OK" in answer_request(health_request(), b"")
