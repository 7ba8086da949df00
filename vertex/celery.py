"""Workers: their queues, the few fixed ticks of the clock, and what each kind of broker needs."""

import faulthandler
import logging
import signal
import warnings
from datetime import timedelta
from typing import Any

from celery import Celery
from celery.exceptions import SecurityWarning
from celery.signals import beat_init, celeryd_init, worker_ready
from django.conf import settings
from kombu import Exchange, Queue

from vertex.core.services.jobs.bell import ANSWERS_WITHIN
from vertex.running import worker_logs
from vertex.running.file_broker import use_folder
from vertex.running.known_services import connect_to_known_services_only

# The jobs of the queue `fetch` are done by `manage.py fetch`, which needs no ring.
WORK_QUEUES = ("learn", "extract", "check", "keep")
CLOCK_QUEUE = "clock"  # for a worker of its own: long jobs must not hold up the sweeper
# A broker waits this long for an answer; a second ring does no harm.
LONGEST_TASK = timedelta(days=7)
RABBITMQ_ANSWERS_WITHIN = 3  # seconds; to declare a queue with copies takes it a while
CONNECTION_RETRIES = {
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.2,
    "connect_retries_timeout": ANSWERS_WITHIN,
}


def is_rabbitmq(broker: str) -> bool:
    return broker.startswith(("amqp", "pyamqp"))


def queue_of(name: str, broker: str) -> Queue:
    """Return a queue; in RabbitMQ one with copies on several machines and no endless redelivery."""
    milliseconds = int(LONGEST_TASK.total_seconds() * 1000)
    quorum = {"x-queue-type": "quorum", "x-delivery-limit": 5, "x-consumer-timeout": milliseconds}
    arguments = quorum if is_rabbitmq(broker) else None
    return Queue(
        name, Exchange("vertex", type="direct"), routing_key=name, queue_arguments=arguments
    )


def transport_options(broker: str) -> dict[str, Any]:
    """Return what the broker's client is told."""
    if broker.startswith("filesystem:"):
        return dict(use_folder(settings.VAR_DIR / "broker"))
    if is_rabbitmq(broker):
        return {
            "confirm_publish": True,
            # Workers read what has come, so only answers are waited for: also when a channel is
            # closed whose message was not confirmed.
            "read_timeout": RABBITMQ_ANSWERS_WITHIN,
            "write_timeout": RABBITMQ_ANSWERS_WITHIN,
            **CONNECTION_RETRIES,
        }
    return {
        "visibility_timeout": int(LONGEST_TASK.total_seconds()),
        "socket_connect_timeout": ANSWERS_WITHIN,
        "socket_timeout": ANSWERS_WITHIN,  # workers wait a second at a time for messages
        "socket_keepalive": True,
        "health_check_interval": 30,
        **CONNECTION_RETRIES,
    }


def tick(task: str, seconds: float, queue: str, *arguments: str) -> dict[str, Any]:
    """Return a fixed tick; one that nobody took by the next is dropped."""
    options = {"queue": queue, "expires": 2 * seconds}
    return {"task": task, "schedule": seconds, "args": arguments, "options": options}


BROKER = settings.CELERY_BROKER_URL
# As root is how containers run. What the warning fears, pickles as messages, is refused by
# the settings.
warnings.filterwarnings("ignore", category=SecurityWarning)
# It warns of delayed messages in quorum queues; delays of jobs are times in their rows.
logging.getLogger("kombu.transport.native_delayed_delivery").setLevel(logging.ERROR)

app = Celery("vertex")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
worker_logs.connect(app)
app.conf.task_queues = [queue_of(name, BROKER) for name in (*WORK_QUEUES, CLOCK_QUEUE)]
app.conf.task_default_queue = "keep"
app.conf.broker_transport_options = transport_options(BROKER)
# A worker waits for its broker, however long it is away.
app.conf.broker_connection_max_retries = None
app.conf.worker_detect_quorum_queues = True
app.conf.worker_max_tasks_per_child = 500  # what leaks ends with the process
app.conf.worker_max_memory_per_child = 1_500_000  # KiB
if BROKER.startswith("filesystem:"):
    app.conf.update(
        broker_url="filesystem://var",  # without a host kombu warns at each connection
        worker_enable_remote_control=False,  # the replies would fill the folder
    )
app.conf.beat_scheduler = "vertex.running.scheduler:Scheduler"
app.conf.beat_schedule_filename = str(settings.VAR_DIR / "beat")
app.conf.beat_schedule = {
    "sweep_jobs": tick("clustering.sweep_jobs", 5.0, CLOCK_QUEUE),
    "drop_old_jobs": tick("clustering.drop_old_jobs", 3600.0, CLOCK_QUEUE),
    "plan_sweep": tick("clustering.plan_sweep", 24 * 3600.0, CLOCK_QUEUE),
    "go_on": tick("monitoring.go_on", 15.0, CLOCK_QUEUE),
    "plan_goals": tick("monitoring.plan_goals", 60.0, "keep"),
    "measure_coverage": tick("monitoring.measure_coverage", 300.0, "keep"),
    "forget_old_findings": tick("monitoring.forget_old_findings", 24 * 3600.0, "keep"),
    "tell_people": tick("monitoring.tell_people", 30.0, "keep"),
    "tell_webhooks": tick("rules.tell_webhooks", 30.0, "keep"),
    **{
        f"show_life_{queue}": tick("clustering.show_life", 30.0, queue, queue)
        for queue in WORK_QUEUES
    },
}


@celeryd_init.connect
def tell_where_time_went(**_kwargs: object) -> None:
    """Have a process that ends for a step's processor time tell what it did; forks inherit that."""
    faulthandler.register(signal.SIGXCPU, file=2, all_threads=False, chain=True)


@celeryd_init.connect
@beat_init.connect
def watch_connections(**_kwargs: object) -> None:
    """Allow worker and clock known services only; what they fork inherits that."""
    connect_to_known_services_only()


@worker_ready.connect
def warn_of_old_rabbitmq(sender: Any, **_kwargs: object) -> None:
    """Warn of a RabbitMQ that closes a worker's channel when a job takes more than 30 minutes."""
    if not is_rabbitmq(BROKER):
        return
    version = str(sender.connection.connection.server_properties.get("version", ""))
    numbers = [int(number) for number in version.split(".")[:2] if number.isdigit()]
    if numbers < [3, 12]:
        milliseconds = int(LONGEST_TASK.total_seconds() * 1000)
        logging.getLogger(__name__).warning(
            "RabbitMQ %s knows no patience by queue: write consumer_timeout = %d into "
            "rabbitmq.conf, "
            "or long jobs end their worker",
            version,
            milliseconds,
        )


@worker_ready.connect
def record_heartbeat(sender: Any, **_kwargs: object) -> None:
    """Record the heartbeat of a new worker at once, not only at the next tick."""
    for queue in sender.app.amqp.queues.consume_from:
        if queue in WORK_QUEUES:
            app.send_task("clustering.show_life", args=[queue], queue=queue)
