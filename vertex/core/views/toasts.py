"""Tell people what happened, with a way back where there is one."""

from __future__ import annotations

import json
from collections.abc import Iterable

from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse

from vertex.core.models import Job


def tell(
    request: HttpRequest,
    text: str,
    *,
    undo_url: str = "",
    undo_fields: Iterable[tuple[str, str]] = (),
    until_end_of: Job | None = None,
) -> None:
    """Show a toast on the next page; `undo_url` with the fields posted to it takes the change back.

    What is true only while a job goes on leaves at the end of it.
    """
    undo: dict[str, object] = {"url": undo_url, "fields": list(undo_fields)}
    if until_end_of is not None:
        undo["job"] = until_end_of.pk
    messages.success(request, text, extra_tags=json.dumps(undo) if undo_url else "")


def tell_of_job(request: HttpRequest, job: Job) -> None:
    """Show a toast of a job that was started; taking it back cancels the job."""
    cancel = reverse("cancel_job", args=[job.pk])
    tell(request, f"{job.title}: the job is on its way.", undo_url=cancel, until_end_of=job)
