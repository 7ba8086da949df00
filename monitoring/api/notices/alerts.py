"""Routes of alerts: what there is to look at, and who has taken it up."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from monitoring.models import Alert
from monitoring.services.notices import alerts
from vertex.core.api.endpoints import ApiView, endpoint
from vertex.core.api.paging import page_of
from vertex.core.api.permissions import caller_of
from vertex.core.api.serializers import Body, ListQuery, RowSerializer, listed
from vertex.core.models import Role, Scope, Site

READ, WRITE = Scope.RECORDS_READ, Scope.SITES_WRITE
TAGS = ["alerts"]
STATES = [(str(value), label) for value, label in Alert.State.choices]
ALERT_KINDS = [(str(value), label) for value, label in Alert.Kind.choices]


class AlertRow(RowSerializer):
    class Meta:
        model = Alert
        fields = (
            "id",
            "site",
            "kind",
            "text",
            "clusters",
            "check_id",
            "raised_at",
            "seen_at",
            "n_seen",
            "acknowledged_at",
            "acknowledged_by",
            "snoozed_until",
            "snoozed_by",
            "ended_at",
        )

    site = serializers.CharField(source="site.name")
    kind = serializers.CharField(
        help_text="site_changed, warning, unreachable, coverage, overdue or held."
    )
    clusters = serializers.ListField(
        child=serializers.CharField(), help_text="Names; none: the whole site."
    )
    check_id = serializers.IntegerField(source="check_run_id", allow_null=True)
    n_seen = serializers.IntegerField(help_text="How often its cause was found.")
    acknowledged_by = serializers.CharField(source="acknowledged_by.username", allow_null=True)
    snoozed_by = serializers.CharField(source="snoozed_by.username", allow_null=True)


class AlertsQuery(ListQuery):
    site = serializers.CharField(max_length=63, required=False, help_text="A site's name.")
    state = serializers.ChoiceField(choices=STATES, required=False)
    kind = serializers.ChoiceField(choices=ALERT_KINDS, required=False)


class Snoozing(Body):
    """How long an alert keeps quiet."""

    until = serializers.DateTimeField()


class Alerts(ApiView):
    @endpoint("list_alerts", scope=READ, query=AlertsQuery, answers=listed(AlertRow), tags=TAGS)
    def get(self, request: Request, *, query: dict[str, Any], **_: object) -> dict[str, Any]:
        """List alerts, the newest first."""
        alerts = Alert.objects.visible_to(caller_of(request))
        if "site" in query:
            alerts = alerts.filter(site__name=query["site"])
        if "kind" in query:
            alerts = alerts.filter(kind=query["kind"])
        if "state" in query:
            alerts = alerts.in_state(query["state"], timezone.now())
        return page_of(alerts, row=AlertRow, request=request, query=query, newest_first=True)


class AlertAddress(ApiView):
    def find(self, request: Request, *, pk: int) -> Alert:
        visible = Alert.objects.visible_to(caller_of(request))
        alert = visible.select_related("site").filter(pk=pk).first()
        if alert is None:
            raise NotFound(f"There is no alert {pk}, or it is not yours to see.")
        return alert

    def site_of(self, subject: Alert) -> Site:
        return subject.site


class AlertView(AlertAddress):
    @endpoint("read_alert", scope=READ, needs=(Role.VIEWER, "there"), answers=AlertRow, tags=TAGS)
    def get(self, _request: Request, *, subject: Alert, **_: object) -> dict[str, Any]:
        """Show an alert."""
        return _row_of(subject)


class AcknowledgeAlert(AlertAddress):
    @endpoint(
        "acknowledge_alert",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        answers=AlertRow,
        tags=TAGS,
    )
    def post(self, request: Request, *, subject: Alert, **_: object) -> dict[str, Any]:
        """Take up an alert; the first person counts."""
        alerts.acknowledge(alert=subject, actor=caller_of(request))
        return _row_of(subject)


class SnoozeAlert(AlertAddress):
    @endpoint(
        "snooze_alert",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        takes=Snoozing,
        answers=AlertRow,
        tags=TAGS,
    )
    def post(
        self, request: Request, *, subject: Alert, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Keep an alert quiet until a time; if it is still there then, people are told again."""
        alerts.snooze(alert=subject, until=body["until"], actor=caller_of(request))
        return _row_of(subject)


class ReleaseAlert(AlertAddress):
    @endpoint(
        "release_alert", scope=WRITE, needs=(Role.OPERATOR, "there"), answers=AlertRow, tags=TAGS
    )
    def post(self, request: Request, *, subject: Alert, **_: object) -> dict[str, Any]:
        """End an alert; values that were held back for it pass with the next extraction."""
        alerts.release(alert=subject, actor=caller_of(request))
        return _row_of(subject)


def _row_of(alert: Alert) -> dict[str, Any]:
    return AlertRow.read(Alert.objects.filter(pk=alert.pk))[0]
