"""Write notices as messages and send them over their channel."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import apprise
import orjson
from django.conf import settings
from django.core.mail import EmailMessage

from clustering.fetching.client import Fetcher
from clustering.fetching.refusals import FetchRefused
from monitoring.models import Channel, Notice
from monitoring.services.notices.channels import is_allowed, key_of
from rules.services.records.webhooks import GONE, GOOD, post_signed

SITES_IN_SUBJECT = 3


class Message(NamedTuple):
    """The notices of a channel that are sent at once."""

    number: str
    notices: Sequence[Notice]
    at: datetime

    @property
    def subject(self) -> str:
        """Return the message in one line."""
        sites = sorted({notice.alert.site.name for notice in self.notices})
        if len(self.notices) == 1:
            (notice,) = self.notices
            event = f"{notice.alert.get_kind_display()}: {_event(notice)}".lower()
            return f"{notice.alert.site.name}: {event}"
        names = ", ".join(sites[:SITES_IN_SUBJECT])
        if len(sites) > SITES_IN_SUBJECT:
            names += f" and {len(sites) - SITES_IN_SUBJECT} more"
        return f"{len(self.notices)} notices of {names}"

    @property
    def text(self) -> str:
        """Return the message in full."""
        return "\n\n".join(_paragraph(notice) for notice in self.notices)


class DeliveryFailure(NamedTuple):
    """A message that did not arrive."""

    error: str
    status: int | None = None
    is_hopeless: bool = False  # trying again would not help


def send_message(
    channel: Channel, message: Message, client: Fetcher
) -> int | DeliveryFailure | None:
    """Send a message.

    Returns the status of HTTP where there is one, None for another arrival, or why it did not
    arrive.
    """
    if channel.kind == Channel.Kind.EMAIL:
        return _send_email(channel, message)
    if channel.kind == Channel.Kind.APPRISE:
        return _send_to_service(channel, message)
    return _send_to_webhook(channel, message, client)


def _send_email(channel: Channel, message: Message) -> DeliveryFailure | None:
    mail = EmailMessage(
        subject=f"[Vertex] {message.subject}"[:200],
        body=message.text,
        from_email=settings.DEFAULT_FROM_EMAIL,
        to=[channel.target],
        headers={"Auto-Submitted": "auto-generated", "X-Vertex-Message": message.number},
    )
    try:
        mail.send()
    except OSError as error:  # what mail servers answer is one as well
        return DeliveryFailure(f"{type(error).__name__}: {error}")
    return None


def _send_to_service(channel: Channel, message: Message) -> DeliveryFailure | None:
    if not is_allowed(channel.target):
        return DeliveryFailure("The service is not allowed any more.", is_hopeless=True)
    service = apprise.Apprise()
    service.add(channel.target)
    if service.notify(title=message.subject, body=message.text):
        return None
    return DeliveryFailure("The service did not take the message.")


def _send_to_webhook(channel: Channel, message: Message, client: Fetcher) -> int | DeliveryFailure:
    body = orjson.dumps(
        {
            "type": "alerts.changed",
            "timestamp": message.at,
            "data": {"notices": [_notice_json(notice) for notice in message.notices]},
        }
    )
    key = key_of(channel)
    try:
        answer = post_signed(
            client, url=channel.target, key=key, message_id=message.number, at=message.at, body=body
        )
    except FetchRefused as error:
        return DeliveryFailure(str(error))
    if answer.status in GOOD:
        return answer.status
    return DeliveryFailure(
        f"It answered with status {answer.status}.",
        status=answer.status,
        is_hopeless=answer.status == GONE,
    )


def _notice_json(notice: Notice) -> dict[str, Any]:
    alert = notice.alert
    return {
        "event": notice.event,
        "alert": alert.pk,
        "site": alert.site.name,
        "kind": alert.kind,
        "text": alert.text,
        "clusters": alert.clusters,
        "raised_at": alert.raised_at,
        "ended_at": alert.ended_at,
    }


def _event(notice: Notice) -> str:
    return Notice.Event(notice.event).label


def _paragraph(notice: Notice) -> str:
    alert = notice.alert
    since = f"since {alert.raised_at:%Y-%m-%d %H:%M} UTC"
    until = f", until {alert.ended_at:%Y-%m-%d %H:%M} UTC" if alert.ended_at else ""
    head = f"{alert.site.name}: {alert.get_kind_display()} ({_event(notice).lower()})"
    return f"{head}\n{alert.text}\n{since}{until}"
