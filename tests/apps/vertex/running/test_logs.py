"""The log: one JSON object a line, an id that joins what belongs together, and no secret in it."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from django.test import Client
from django_structlog.celery.steps import DjangoStructLogInitStep

import clustering.tasks  # noqa: F401 - registers the tasks
from clustering.api.sites import sites
from tests.apps.clustering.api_cast import API, Caller, caller, site_of
from vertex import settings as installed
from vertex.celery import app
from vertex.core.models import Job, Role, User
from vertex.core.services.jobs import jobs
from vertex.core.services.people import tokens
from vertex.running import worker_logs
from vertex.running.logs import HIDDEN, hide_secrets

pytestmark = pytest.mark.django_db
ID = "0e8c3a9c-well-formed"


class Log:
    def __init__(self) -> None:
        self.stream = io.StringIO()

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    def lines(self, event: str = "") -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.text.splitlines()]
        return [line for line in lines if not event or line["event"] == event]


@pytest.fixture
def log() -> Iterator[Log]:
    """Return what is logged as it is in production."""
    written = Log()
    handler = logging.StreamHandler(written.stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processor=structlog.processors.JSONRenderer(),
            foreign_pre_chain=installed._SHARED_PROCESSORS,
        )
    )
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield written
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.fixture
def ada() -> Caller:
    return caller("ada", Role.ADMINISTRATOR)


def test_a_request_has_one_id_in_answer_and_log(ada: Caller, log: Log) -> None:
    response = ada.get("sites/?search=rare-word")

    (finished,) = log.lines("request_finished")
    assert response["X-Request-ID"] == finished["request_id"]
    assert ("GET /api/v1/sites/", 200, ada.user.pk) == (
        finished["request"],
        finished["code"],
        finished["user_id"],
    )
    assert "rare-word" not in log.text


def test_a_well_formed_id_is_taken_over(ada: Caller, log: Log) -> None:
    assert ID == ada.get("sites/", headers={"X-Request-ID": ID})["X-Request-ID"]
    assert {ID} == {line["request_id"] for line in log.lines("request_finished")}


@pytest.mark.parametrize(
    "bad", ["", "short", "x" * 65, "has space in it", "<script>alert", "línea-nueva", "a\tbcdefgh"]
)
def test_an_id_that_is_not_well_formed_is_replaced(ada: Caller, log: Log, bad: str) -> None:
    answer = ada.get("sites/", headers={"X-Request-ID": bad})["X-Request-ID"]

    assert answer != bad
    assert 36 == len(answer)


def test_what_a_request_does_bears_its_id(ada: Caller, log: Log) -> None:
    from vertex.core.models import AuditEntry

    ada.post(
        "sites/",
        {"name": "shop", "root_url": "https://shop.example/"},
        headers={"X-Request-ID": ID},
    )

    assert ID == AuditEntry.objects.get(action="site.created").request_id


def test_an_error_is_logged_once_with_its_trace(
    ada: Caller, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(*_: object, **__: object) -> None:
        raise RuntimeError("wrong turn")

    monkeypatch.setattr(sites, "page_of", explode)
    response = ada.get("sites/")

    (failed,) = [line for line in log.lines() if "wrong turn" in json.dumps(line)]
    assert response.json()["error"]["request_id"] == failed["request_id"]
    assert "RuntimeError: wrong turn" in failed["exception"]


class TestSecrets:
    def test_neither_key_nor_password_nor_cookie_is_logged(self, log: Log) -> None:
        ada = caller("ada", Role.ADMINISTRATOR)
        User.objects.create_user("bob", password="correct horse battery")
        browser = Client()
        browser.post("/log-in/", {"username": "bob", "password": "correct horse battery"})
        browser.post("/log-in/", {"username": "bob", "password": "wrong horse battery"})
        ada.get("sites/")
        Client().get(
            f"{API}/sites/?token={ada.key}", headers={"Authorization": f"Token {ada.key}x"}
        )
        cookie = browser.cookies["sessionid"].value

        assert 4 <= len(log.lines("request_finished"))
        for secret in (ada.key, "correct horse", "wrong horse", cookie):
            assert secret not in log.text

    def test_not_even_where_somebody_logs_them(self, log: Log) -> None:
        _, key = tokens.create_token(
            user=User.objects.create_user("ada"), name="t", scopes=["sites:read"], actor=None
        )
        structlog.get_logger("tests").warning(
            "careless",
            headers={"Authorization": f"Token {key}", "Accept": "*/*"},
            password="swordfish",
            broker="amqp://guest:swordfish@broker:5672//",
            told=f"called with {key}",
            form=[{"csrfmiddlewaretoken": "swordfish"}],
        )
        logging.getLogger("tests").warning(
            "password=swordfish&user=ada %s", f"Cookie: sessionid={key}"
        )

        assert key not in log.text
        assert "swordfish" not in log.text
        careless, foreign = log.lines()
        assert "*/*" == careless["headers"]["Accept"]
        assert f"amqp://{HIDDEN}@broker:5672//" == careless["broker"]
        assert "user=ada" in foreign["event"]

    def test_nor_in_the_trace_of_an_error(self, log: Log) -> None:
        try:
            int("postgresql://vertex:swordfish@db/vertex")
        except ValueError:
            structlog.get_logger("tests").exception("failed")

        assert "swordfish" not in log.text
        assert "ValueError" in log.text

    def test_what_is_no_secret_stays(self) -> None:
        event = {
            "event": "done",
            "n_tokens": 3,
            "password": None,
            "n": 7,
            "url": "https://shop.example/p/1",
        }

        assert event == hide_secrets(None, "info", dict(event))


class TestWorkers:
    def test_celery_does_not_replace_the_log(self) -> None:
        from celery.signals import setup_logging

        assert worker_logs.keep_logging in [ref() for _, ref in setup_logging.receivers]

    def test_lines_of_a_task_name_its_job_and_the_request_that_asked_for_it(self, log: Log) -> None:
        site = site_of("shop")
        job = jobs.create_job(task="t", queue=Job.Queue.KEEP, title="Work", site=site, rings=False)
        task = app.tasks["clustering.import_pages"]
        receiver = DjangoStructLogInitStep(None).receiver
        context: Any = {
            "args": [job.pk],
            "id": "task-1",
            "__django_structlog__": {"request_id": ID},
        }
        task.push_request(**context)
        try:
            receiver.receiver_task_prerun("task-1", task)
            structlog.get_logger("tests").info("working")
        finally:
            task.pop_request()
            structlog.contextvars.clear_contextvars()

        (working,) = log.lines("working")
        assert (job.pk, ID, "task-1") == (working["job"], working["request_id"], working["task_id"])
