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
) -> None:
    """Show a toast on the next page; `undo_url` with the fields posted to it takes the change back."""
    undo = json.dumps({"url": undo_url, "fields": list(undo_fields)}) if undo_url else ""
    messages.success(request, text, extra_tags=undo)


def tell_of_job(request: HttpRequest, job: Job) -> None:
    """Show a toast of a job that was started; taking it back cancels the job."""
    cancel = reverse("cancel_job", args=[job.pk])
    tell(request, f"{job.title}: the job is waiting.", undo_url=cancel)
