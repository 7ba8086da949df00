"""Raise alerts, keep them open as long as their cause lasts, and record who took them up."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from monitoring.models import Alert, Check
from vertex.core.models import Site, User
from vertex.core.services.people import audit
from vertex.core.texts import storable

RELEASABLE = frozenset(
    {
        Alert.Kind.HELD,
        Alert.Kind.WARNING,
        Alert.Kind.IMPLAUSIBLE,
        Alert.Kind.COVERAGE,
        Alert.Kind.DRIFT,
        Alert.Kind.OVERDUE,
    }
)


def settle_alert(
    *,
    site: Site,
    kind: Alert.Kind,
    text: str,
    clusters: Iterable[str] = (),
    check: Check | None = None,
    now: datetime | None = None,
) -> Alert | None:
    """Raise the alert of a kind, or renew the open one while its cause lasts; end it without text.

    Returns the alert; None where it was ended.
    """
    now = now or timezone.now()
    alerts = Alert.objects.open().filter(site=site, kind=kind)
    if not text:
        alerts.update(ended_at=now)
        return None
    names = sorted(clusters)
    columns = {"text": storable(text), "clusters": names}
    with transaction.atomic():
        alert, is_new = Alert.objects.get_or_create(
            site=site,
            kind=kind,
            ended_at=None,
            defaults=columns | {"check_run": check, "raised_at": now, "seen_at": now},
        )
    if is_new:
        return alert
    alerts.update(seen_at=now, n_seen=F("n_seen") + 1, **columns)
    if not set(names) <= set(alert.clusters):  # it grew: who took it up has not seen this
        alerts.update(acknowledged_at=None, acknowledged_by=None)
    return alert


def acknowledge(*, alert: Alert, actor: User) -> None:
    """Record who took an alert up; the first person counts."""
    if Alert.objects.filter(pk=alert.pk, acknowledged_at=None).update(
        acknowledged_at=timezone.now(), acknowledged_by=actor
    ):
        audit.record(actor=actor, action="alert.acknowledged", subject=str(alert), site=alert.site)
    alert.refresh_from_db()


def snooze(*, alert: Alert, until: datetime, actor: User) -> None:
    """Send no notices of an alert until a time, then a reminder. Raises ValidationError."""
    if until <= timezone.now():
        raise ValidationError({"until": "Must lie in the future."})
    with transaction.atomic():
        still_open = Alert.objects.open().filter(pk=alert.pk)
        if not still_open.update(snoozed_until=until, snoozed_by=actor):
            raise ValidationError("The alert is over already; there is nothing to snooze.")
        detail = {"until": until.isoformat()}
        audit.record(
            actor=actor, action="alert.snoozed", subject=str(alert), site=alert.site, detail=detail
        )
    alert.refresh_from_db()


def release(*, alert: Alert, actor: User | None = None) -> None:
    """End an alert by a person's word, releasing values held for it. Raises ValidationError."""
    if alert.kind not in RELEASABLE:
        raise ValidationError(
            f"An alert of the kind “{alert.get_kind_display()}” is over when its cause is; "
            "dismiss the site change, or check the site again."
        )
    with transaction.atomic():
        if Alert.objects.open().filter(pk=alert.pk).update(ended_at=timezone.now()):
            audit.record(actor=actor, action="alert.released", subject=str(alert), site=alert.site)
    alert.refresh_from_db()
