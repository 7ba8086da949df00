"""Send notices of alerts: one message for all that is new, tried again until it arrives.

A notice is created for each alert and channel when the alert is raised, when a snooze is over, and
when it recovered; those of a channel that are due together are one message. Of an alert that is
over before a message was sent nobody hears.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from django.db.models import Q
from django.utils import timezone

from clustering.fetching.client import Fetcher, open_fetcher
from clustering.services import outbox
from monitoring.models import Alert, Channel, Notice
from monitoring.services.notices.messages import Message, send_message

SETTLING: Final = timedelta(minutes=2)  # for what else comes of the same cause
MAX_ALERT_AGE: Final = timedelta(days=3)  # of an alert of which nobody was sent a notice yet
MAX_NOTICES_IN_MESSAGE: Final = 100
MAX_NOTICES_OF_TICK: Final = 1_000
Event = Notice.Event


def plan_notices(now: datetime | None = None) -> int:
    """Create the notices that alerts ask for; return how many are new."""
    now = now or timezone.now()
    channels = list(Channel.objects.active())
    if not channels:
        return 0
    n_before = Notice.objects.count()
    recent = Alert.objects.filter(raised_at__gt=now - MAX_ALERT_AGE)
    _create_notices(recent.waiting(now), Event.RAISED, channels, now)
    woken = Alert.objects.open().filter(
        snoozed_until__lte=now, snoozed_until__gt=now - MAX_ALERT_AGE
    )
    _create_notices(woken, Event.REMINDER, channels, now)
    ended = Alert.objects.filter(ended_at__gt=now - MAX_ALERT_AGE)
    _drop_needless(now)
    known = ended.filter(notices__event=Event.RAISED, notices__state=Notice.State.DELIVERED)
    _create_notices(known.distinct(), Event.RECOVERED, channels, now)
    return Notice.objects.count() - n_before


def send_notices(fetcher: Fetcher | None = None, now: datetime | None = None) -> int:
    """Send what is due, for less than a minute; return how many messages arrived."""
    with fetcher or open_fetcher() as client:
        return outbox.send_in_time(
            _messages(now or timezone.now()),
            partial(_send, client=client),
            lambda notices: notices[0].channel.site_id,
        )


def _create_notices(
    alerts: Iterable[Alert], event: Event, channels: Iterable[Channel], now: datetime
) -> None:
    """Create a notice for each alert and each channel that wants it; existing ones stay."""
    is_reminder = event == Event.REMINDER
    rows = []
    for alert in alerts:
        # Each snooze has its own reminder.
        snoozed_until = alert.snoozed_until if is_reminder else None
        rows += [
            Notice(
                alert=alert,
                channel=channel,
                event=event,
                occasion=snoozed_until.isoformat() if snoozed_until else "",
                next_try_at=now if is_reminder else now + SETTLING,
                made_at=now,
            )
            for channel in channels
            if _wants(channel, alert)
        ]
    if rows and event == Event.RECOVERED:
        rows = _of_informed_channels(rows)
    Notice.objects.bulk_create(rows, ignore_conflicts=True)


def _wants(channel: Channel, alert: Alert) -> bool:
    """Return whether a channel is for an alert's site and kind and older than the alert."""
    if channel.site_id is not None and channel.site_id != alert.site_id:
        return False
    if alert.raised_at < channel.made_at:
        return False
    return not channel.alert_kinds or alert.kind in channel.alert_kinds


def _of_informed_channels(rows: list[Notice]) -> list[Notice]:
    """Return the notices whose channel got one that the alert was raised."""
    delivered = Notice.objects.filter(
        event=Event.RAISED,
        state=Notice.State.DELIVERED,
        alert__in={row.alert_id for row in rows},
    )
    pairs = set(delivered.values_list("alert", "channel"))
    return [row for row in rows if (row.alert_id, row.channel_id) in pairs]


def _drop_needless(now: datetime) -> None:
    """Drop unsent notices that nobody needs: the alert is over, or somebody has taken it up."""
    unsent = Notice.objects.filter(state=Notice.State.DUE, n_tries=0).exclude(event=Event.RECOVERED)
    is_over = ~Q(alert__ended_at=None)
    is_seen = Q(event=Event.RAISED) & (
        ~Q(alert__acknowledged_at=None) | Q(alert__snoozed_until__gt=now)
    )
    needless = unsent.filter(is_over | is_seen).values_list("pk", flat=True)
    Notice.objects.filter(pk__in=list(needless), state=Notice.State.DUE).update(
        state=Notice.State.DROPPED, finished_at=now
    )


def _messages(now: datetime) -> list[list[Notice]]:
    """Return the notices that are due, those of one message together."""
    due = (
        Notice.objects.due(now)
        .filter(channel__is_active=True)
        .select_related("channel", "alert__site")
    )
    groups: dict[tuple[int, str], list[Notice]] = {}
    for notice in due.order_by("next_try_at", "pk")[:MAX_NOTICES_OF_TICK]:
        group = groups.setdefault((notice.channel_id, notice.message_id), [])
        if len(group) < MAX_NOTICES_IN_MESSAGE:
            group.append(notice)
    return list(groups.values())


def _send(notices: list[Notice], client: Fetcher) -> bool:
    """Send one message, store the outcome, and return whether it arrived."""
    message_id = notices[0].message_id or f"notice_{notices[0].pk}"
    claimed = [notice for notice in notices if outbox.claim(notice, message_id=message_id)]
    if not claimed:
        return False
    channel = claimed[0].channel
    outcome = send_message(channel, Message(message_id, claimed, timezone.now()), client)
    return outbox.store_outcome(claimed, outcome, receiver=Channel.objects.filter(pk=channel.pk))
