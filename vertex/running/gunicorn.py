"""How gunicorn serves us: `gunicorn --config python:vertex.running.gunicorn vertex.wsgi`."""

from __future__ import annotations

import gc
import os
import resource
import sys

from django.conf import settings

from vertex import environment
from vertex.running.patient_worker import MAX_LINGERING

bind = environment.text("VERTEX_BIND", "127.0.0.1:8000")
workers = environment.integer(
    "VERTEX_WEB_WORKERS", default=2 * (os.cpu_count() or 1) + 1, minimum=1
)
threads = 4
worker_class = "vertex.running.patient_worker.PatientWorker"
timeout = 120  # an upload of gigabytes is written down within one request
graceful_timeout = 30
keepalive = 5
SLOW_ONES = 2000  # connections of a process; a slow one costs a place, no thread
OTHER_FILES = MAX_LINGERING + 500  # that a process has open at the same time, at most


def connections_within(soft: int, hard: int) -> tuple[int, int]:
    """Return how many files a process is to have open, and how many connections of them.

    A process that cannot open another one takes no connection, and cannot answer the ones
    that it has.
    """
    wanted = SLOW_ONES + OTHER_FILES
    n_files = max(soft, min(wanted, hard) if hard != resource.RLIM_INFINITY else wanted)
    return n_files, max(1, min(SLOW_ONES, n_files - OTHER_FILES))


n_files, worker_connections = connections_within(*resource.getrlimit(resource.RLIMIT_NOFILE))
limit_request_line = 8190
limit_request_fields = 100
accesslog = None  # the application logs each request itself, with its id
errorlog = "-"
preload_app = False
# Seconds that a thread computes while others wait; a request of twenty queries waits so
# twenty times.
SWITCH = 0.0005


def on_starting(_server: object) -> None:
    """Make room for connections, and begin the counts of requests anew.

    The files of counts are named by processes that are gone.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (n_files, hard))
    for path in (settings.VAR_DIR / "metrics").glob("*.db"):
        path.unlink(missing_ok=True)


def post_worker_init(_worker: object) -> None:
    """Serve short requests beside a long one; freeze what garbage collection need not search."""
    sys.setswitchinterval(SWITCH)
    gc.collect()
    gc.freeze()
