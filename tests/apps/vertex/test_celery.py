"""What each broker is told, and that rings reach real workers through it."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from celery.fixups.django import DjangoWorkerFixup  # type: ignore[attr-defined]  # the stubs leave it out
from django.db import OperationalError, connection
from kombu import Connection

from tests.conftest import IS_FULL
from tests.installation import Installation, new_installation, wait_until
from vertex import celery
from vertex.core.models import Job
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.bell import broker_errors
from vertex.core.services.jobs.requests import JobKind
from vertex.core.tasks import FETCHING_WORK

RABBITMQ, REDIS, FOLDER = "amqp://broker//", "redis://broker/0", "filesystem://"


# What each ring says, and how many of them asked the broker: it is left alone for a while.
RING_THRICE = """
from structlog.testing import capture_logs
from vertex.core.models import Job
from vertex.core.services.jobs import jobs
with capture_logs() as logs:
    rung = [jobs.ring(Job(pk=n, task="tests.nothing", queue="keep")) for n in range(3)]
print(rung, len(logs))
"""


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_worker_connects_again_after_the_database_was_restarted() -> None:
    """What clock and workers do between two tasks must notice that their connection is dead."""
    worker = DjangoWorkerFixup(celery.app)
    task = celery.app.tasks["celery.backend_cleanup"]
    for _ in range(3):  # a worker that has been at work for a while
        worker.on_task_prerun(sender=task)
        Job.objects.count()
        worker.on_task_postrun(sender=task)
    end_connection()
    with pytest.raises(OperationalError):  # the control: this is what every task met
        Job.objects.count()

    worker.on_task_prerun(sender=task)

    assert 0 == Job.objects.count()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_worker_notices_a_dead_connection_at_the_next_task() -> None:
    worker = DjangoWorkerFixup(celery.app)
    task = celery.app.tasks["celery.backend_cleanup"]
    worker.on_task_prerun(sender=task)
    Job.objects.count()
    end_connection()
    worker.on_task_postrun(sender=task)

    worker.on_task_prerun(sender=task)

    assert 0 == Job.objects.count()


def end_connection() -> None:
    """End this process's connection at the server, as a restart does."""
    connection.ensure_connection()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        pid = cursor.fetchone()[0]
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
    other.close()


class TestSettings:
    def test_every_queue_of_jobs_has_workers(self) -> None:
        assert set(Job.Queue.values) == {"fetch", *celery.WORK_QUEUES}

    def test_every_tick_names_a_task_that_exists_and_a_queue(self) -> None:
        queues = {*celery.WORK_QUEUES, celery.CLOCK_QUEUE}
        ticks = celery.app.conf.beat_schedule.values()
        celery.app.loader.import_default_modules()

        assert {tick["task"] for tick in ticks} <= set(celery.app.tasks)
        assert {tick["options"]["queue"] for tick in ticks} <= queues

    def test_every_kind_of_job_has_a_task(self) -> None:
        """A kind that its app's KINDS lacks would have jobs that wait for ever."""
        celery.app.loader.import_default_modules()
        modules = sys.modules.copy()  # a look at a lazy value may import more
        kinds = {
            value.task
            for name, module in modules.items()
            if name.partition(".")[0]
            in {"vertex", "clustering", "annotation", "rules", "monitoring"}
            for value in vars(module).values()
            if isinstance(value, JobKind)
        }

        assert len(kinds) > 20
        assert kinds <= set(celery.app.tasks) | set(FETCHING_WORK)

    def test_the_clock_has_a_queue_of_its_own(self) -> None:
        sweep = celery.app.conf.beat_schedule["sweep_jobs"]

        assert sweep["options"]["queue"] not in celery.WORK_QUEUES

    def test_queues_of_rabbitmq_are_quorum_queues(self) -> None:
        arguments = celery.queue_of("keep", RABBITMQ).queue_arguments or {}

        assert arguments["x-queue-type"] == "quorum"
        assert arguments["x-delivery-limit"] == 5
        assert celery.transport_options(RABBITMQ)["confirm_publish"]

    def test_no_answer_of_a_broker_is_waited_for_without_end(self) -> None:
        assert celery.transport_options(RABBITMQ)["read_timeout"] <= 5
        assert celery.transport_options(REDIS)["socket_timeout"] <= 5

    def test_other_brokers_know_no_such_arguments(self) -> None:
        assert celery.queue_of("keep", REDIS).queue_arguments is None
        assert celery.queue_of("keep", FOLDER).queue_arguments is None

    def test_redis_waits_for_the_longest_task(self) -> None:
        assert celery.transport_options(REDIS)["visibility_timeout"] >= 24 * 3600

    def test_tasks_are_acknowledged_late_and_messages_are_json_only(self) -> None:
        conf = celery.app.conf

        assert (conf.task_acks_late, conf.task_reject_on_worker_lost) == (True, True)
        assert (list(conf.accept_content), conf.worker_prefetch_multiplier) == (["json"], 1)


class TestRing:
    @pytest.mark.parametrize("url", ["redis://127.0.0.1:1/0", "amqp://127.0.0.1:1//"])
    def test_a_broker_that_is_away_does_no_harm_and_takes_little_time(self, url: str) -> None:
        begun = time.monotonic()

        with Connection(url, transport_options=celery.transport_options(url)) as away:
            assert isinstance(unreachable(away), broker_errors(away))
        assert time.monotonic() - begun < (5 if IS_FULL else 60)

    @pytest.mark.parametrize("scheme", ["redis", "amqp"])
    def test_a_broker_that_hangs_holds_nobody_up(self, tmp_path: Path, scheme: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:  # it takes connections, and is mute
            url = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}//"
            with new_installation(tmp_path / "var", broker_url=url) as installation:
                rung = installation.manage(
                    "shell", "--no-imports", "--verbosity=0", "-c", RING_THRICE
                )

        assert rung == "[False, False, False] 1"

    def test_a_broker_that_is_there_hears(self) -> None:
        assert jobs.ring(Job(pk=1, task="tests.nothing", queue="keep"))


def unreachable(broker: Any) -> BaseException:
    try:
        current_app.send_task(
            "tests.nothing", args=[1], queue="keep", retry=False, connection=broker
        )
    except Exception as error:  # noqa: BLE001 - which one it is, is the question
        return error
    raise AssertionError("it answers")


@contextmanager
def working(installation: Installation) -> Iterator[Installation]:
    """Start a worker for the queue keep and the clock."""
    words = ["-m", "celery", "--quiet", "-A", "tests.journeys.stepping"]
    worker = [*words, "worker", "--without-gossip", "--without-mingle"]
    installation.start(*worker, "-Q", "keep", "-c", "1", "-n", "work@%h", log="work")
    installation.start(*worker, "-Q", "clock", "-P", "solo", "-n", "clock@%h", log="clock")
    installation.start(*words, "beat", log="beat")
    yield installation


def create_job(installation: Installation) -> None:
    installation.manage(
        "shell",
        "--no-imports",
        "--verbosity=0",
        "-c",
        "from vertex.core.models import Job\n"
        "from vertex.core.services.jobs import jobs\n"
        "jobs.create_job(task='tests.take_steps', queue=Job.Queue.KEEP, title='Steps', "
        "params={'n_steps': 3, 'seconds': 0})",
    )


def do_a_job(installation: Installation) -> None:
    create_job(installation)
    wait_until(
        lambda: installation.query("SELECT state, n_tries FROM core_job") == [("done", 1)],
        "the job is done",
    )


def beats(installation: Installation) -> set[str]:
    return {name for (name,) in installation.query("SELECT name FROM core_heartbeat")}


@pytest.mark.slow
class TestBrokers:
    def test_the_folder(self, tmp_path: Path) -> None:
        with new_installation(tmp_path / "var") as installation, working(installation):
            do_a_job(installation)
            wait_until(lambda: {"clock", "keep"} <= beats(installation), "signs of life")
            assert "Traceback" not in installation.log("work") + installation.log(
                "clock"
            ) + installation.log("beat")

    @pytest.mark.redis
    def test_redis(self, tmp_path: Path, redis_url: str) -> None:
        with (
            new_installation(tmp_path / "var", broker_url=redis_url) as installation,
            working(installation),
        ):
            do_a_job(installation)
            wait_until(lambda: {"clock", "keep"} <= beats(installation), "signs of life")

    def test_rabbitmq(self, tmp_path: Path, rabbitmq_url: str) -> None:
        with (
            new_installation(tmp_path / "var", broker_url=rabbitmq_url) as installation,
            working(installation),
        ):
            do_a_job(installation)
            wait_until(lambda: {"clock", "keep"} <= beats(installation), "signs of life")
            with Connection(rabbitmq_url) as broker:
                assert queue_type_is_quorum(broker)
                is_old = broker.connection.server_properties["version"].startswith("3.10.")
            assert is_old == ("consumer_timeout = 604800000" in installation.log("work"))


def queue_type_is_quorum(broker: Any) -> bool:
    """Declare the queue as a classic one, which RabbitMQ refuses if it is not one."""
    refused = broker.connection_errors + broker.channel_errors
    try:
        broker.default_channel.queue_declare("keep", durable=True, auto_delete=False)
    except refused as error:
        return "quorum" in str(error)
    return False
