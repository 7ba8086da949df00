"""How gunicorn serves the application: `gunicorn --config python:vertex.running.gunicorn vertex.wsgi`."""

from __future__ import annotations

import gc
import os
import sys

from django.conf import settings

from vertex import environment

bind = environment.text("VERTEX_BIND", "127.0.0.1:8000")
workers = environment.integer(
    "VERTEX_WEB_WORKERS", default=2 * (os.cpu_count() or 1) + 1, minimum=1
)
threads = 4
worker_class = "vertex.running.patient_worker.PatientWorker"
timeout = 120  # an upload of gigabytes is written down within one request
graceful_timeout = 30
keepalive = 5
worker_connections = 2000  # slow ones cost a place, no thread
limit_request_line = 8190
limit_request_fields = 100
accesslog = None  # the application logs each request itself, with its id
errorlog = "-"
preload_app = False
# Seconds that a thread computes while others wait; a request of twenty queries waits so twenty times.
SWITCH = 0.0005


def on_starting(_server: object) -> None:
    """Begin the counts of requests anew: their files are named by processes that are gone."""
    for path in (settings.VAR_DIR / "metrics").glob("*.db"):
        path.unlink(missing_ok=True)


def post_worker_init(_worker: object) -> None:
    """Serve short requests beside a long one, and freeze what the garbage collector need not search."""
    sys.setswitchinterval(SWITCH)
    gc.collect()
    gc.freeze()
