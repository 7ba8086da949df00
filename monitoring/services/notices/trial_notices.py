"""Try whether notices arrive by a channel; a worker sends, and its job shows how it went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from clustering.fetching.client import open_fetcher
from clustering.services.outbox import DeliveryFailure
from monitoring.models import Alert, Channel, Notice
from monitoring.services.notices.messages import Message, send_message
from vertex.core.models import Job, Site, User
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import JobKind, JobRequest, enqueue
from vertex.core.services.people import audit

TEST_TEXT = "This is a test: no site has changed. Notices of alerts come this way."
MAX_TRIALS_READ: Final = 100  # of a site


def start_trial(*, channel: Channel, site: Site, actor: User | None = None) -> Job:
    """Create the job that sends a test notice over a channel. Raises JobExists."""
    request = JobRequest(
        kind=TRY_CHANNEL,
        title=f"Test notice to {channel.shown}"[:200],
        site=site,
        params={"channel": channel.pk},
        key=f"try_channel:{channel.pk}",
    )
    with transaction.atomic():
        job = enqueue(request, actor=actor)
        # Recorded where the channel belongs: one of all sites has no site.
        audit.record(actor=actor, action="channel.tried", subject=str(channel), site=channel.site)
    return job


def try_channel(run: jobs.JobRun) -> dict[str, Any]:
    """Send the test notice of a job. Raises JobFailed with the reason why it did not arrive."""
    channel = Channel.objects.filter(pk=run.job.params["channel"]).first()
    if channel is None:
        raise jobs.JobFailed("the channel was removed meanwhile")
    now = timezone.now()
    alert = Alert(site=run.site, kind=Alert.Kind.WARNING, text=TEST_TEXT, raised_at=now)
    notice = Notice(alert=alert, channel=channel, event=Notice.Event.RAISED)
    message = Message(f"test-{channel.pk}-{now:%Y%m%d%H%M%S}", [notice], now)
    with run.kept_alive(), open_fetcher() as client:
        outcome = send_message(channel, message, client)
    if isinstance(outcome, DeliveryFailure):
        raise jobs.JobFailed(f"The test notice did not arrive at {channel.shown}: {outcome.error}")
    return {"status": outcome.status}


TRY_CHANNEL = JobKind("monitoring.try_channel", Job.Queue.KEEP, try_channel)


def trials_of(site: Site, channels: Sequence[Channel]) -> list[tuple[Channel, Job | None]]:
    """Return channels, each with its last trial."""
    last: dict[int, Job] = {}
    for job in Job.objects.filter(task=TRY_CHANNEL.task, site=site).order_by("-pk")[
        :MAX_TRIALS_READ
    ]:
        last.setdefault(job.params["channel"], job)
    return [(channel, last.get(channel.pk)) for channel in channels]
