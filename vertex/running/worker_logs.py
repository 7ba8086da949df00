"""Logs of the workers, as those of the web: each line with its job and the request behind it."""

from __future__ import annotations

from typing import Any

import structlog
from celery import Celery, Task
from celery.signals import celeryd_init, setup_logging
from django_structlog.celery.signals import bind_extra_task_metadata
from django_structlog.celery.steps import DjangoStructLogInitStep

from vertex.running.logs import warn_of_allowed_networks


def connect(app: Celery) -> None:
    """Make the workers of this application log as the settings say."""
    app.steps["worker"].add(DjangoStructLogInitStep)
    setup_logging.connect(keep_logging)
    bind_extra_task_metadata.connect(bind_job)
    celeryd_init.connect(warn)


def keep_logging(**_: object) -> None:
    """Stand in for Celery's set-up, which would replace ours and is left out if anybody listens."""


def warn(**_: object) -> None:
    """Log at a worker's start what is open."""
    warn_of_allowed_networks()


def bind_job(task: Task[..., Any], **_: object) -> None:
    """Bind the job's number to every line that its task logs."""
    arguments = task.request.args or ()
    if arguments and isinstance(arguments[0], int):
        structlog.contextvars.bind_contextvars(job=arguments[0])
