"""Write notices as messages and send them over their channel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import orjson
from django.conf import settings
from django.core.mail import EmailMessage

from clustering.fetching.client import Fetcher
from clustering.services.outbox import Arrival, DeliveryFailure, post_signed
from monitoring.models import Channel, Notice
from monitoring.services.notices.channels import is_allowed, key_of, service_at
from monitoring.services.notices.sending import NotSent, send_by_child
from monitoring.services.notices.sending_child import notify_service

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


def send_message(channel: Channel, message: Message, client: Fetcher) -> Arrival | DeliveryFailure:
    """Send a message over its channel, once."""
    return SENDERS[Channel.Kind(channel.kind)](channel, message, client)


def _send_email(channel: Channel, message: Message, _client: Fetcher) -> Arrival | DeliveryFailure:
    mail = EmailMessage(
        subject=f"[Vertex] {message.subject}"[:200],
        body=message.text,
        from_email=settings.DEFAULT_FROM_EMAIL,
        to=[channel.target],
        headers={"Auto-Submitted": "auto-generated", "X-Vertex-Message": message.number},
    )
    try:
        mail.send()
    except NotSent as error:
        return DeliveryFailure(str(error))
    return Arrival()


def _send_to_service(
    channel: Channel, message: Message, _client: Fetcher
) -> Arrival | DeliveryFailure:
    if not is_allowed(channel.target):
        return DeliveryFailure("The service is not allowed any more.", is_hopeless=True)
    if service_at(channel.target) is None:
        return DeliveryFailure("The service does not understand this address.", is_hopeless=True)
    try:
        has_arrived = send_by_child(notify_service, channel.target, message.subject, message.text)
    except NotSent as error:
        return DeliveryFailure(str(error))
    if has_arrived:
        return Arrival()
    return DeliveryFailure("The service did not take the message.")


def _send_to_webhook(
    channel: Channel, message: Message, client: Fetcher
) -> Arrival | DeliveryFailure:
    body = orjson.dumps(
        {
            "type": "alerts.changed",
            "timestamp": message.at,
            "data": {"notices": [_notice_json(notice) for notice in message.notices]},
        }
    )
    return post_signed(
        client,
        url=channel.target,
        key=key_of(channel),
        message_id=message.number,
        at=message.at,
        body=body,
    )


Sender = Callable[[Channel, Message, Fetcher], Arrival | DeliveryFailure]
SENDERS: Final[Mapping[Channel.Kind, Sender]] = {
    Channel.Kind.EMAIL: _send_email,
    Channel.Kind.WEBHOOK: _send_to_webhook,
    Channel.Kind.APPRISE: _send_to_service,
}


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
