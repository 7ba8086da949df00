"""Visits of the pages that a list names: once all are due, the list is not needed any more."""

from __future__ import annotations

from typing import Any, Final

from django.db import transaction

from vertex.core.models import Job
from vertex.core.services.jobs.jobs import JobRun

LISTED: Final = "listed"  # the parameter of a job that holds the figures of its list


def keep_listed(run: JobRun, figures: dict[str, Any]) -> None:
    """Keep that all pages of a job's list are due, and what its result says of the list."""
    with transaction.atomic():
        run.renew()
        run.job.params[LISTED] = figures
        run.job.save(update_fields=["params"])


def is_listed(job: Job) -> bool:
    """Return whether all pages of a job's list are due: nothing needs to be read any more."""
    return LISTED in job.params


def figures_of(job: Job) -> dict[str, Any]:
    """Return what the result of a job says of its list, nothing where it has none."""
    figures: dict[str, Any] = job.params.get(LISTED, {})
    return figures
