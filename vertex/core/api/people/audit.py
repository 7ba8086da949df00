"""The route of the audit trail."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from vertex.core.api.endpoints import ApiView, endpoint
from vertex.core.api.paging import page_of
from vertex.core.api.permissions import caller_of
from vertex.core.api.serializers import ListQuery, RowSerializer, listed
from vertex.core.models import AuditEntry, Role, Scope


class AuditEntryRow(RowSerializer):
    class Meta:
        model = AuditEntry
        fields = ("id", "actor", "action", "subject", "site", "detail", "request_id", "at")

    actor = serializers.CharField(source="actor_name")
    site = serializers.CharField(source="site.name", allow_null=True)
    detail = serializers.DictField()


class AuditQuery(ListQuery):
    site = serializers.CharField(max_length=63, required=False, help_text="A site's name.")
    actor = serializers.CharField(max_length=150, required=False, help_text="A user's name.")
    action = serializers.CharField(max_length=60, required=False, help_text="Such as site.created.")
    since = serializers.DateTimeField(required=False, help_text="From this time on.")


class Audit(ApiView):
    @endpoint(
        "list_audit",
        scope=Scope.AUDIT_READ,
        needs=(Role.ADMINISTRATOR, "anywhere"),
        query=AuditQuery,
        answers=listed(AuditEntryRow),
        tags=["audit"],
    )
    def get(self, request: Request, *, query: dict[str, Any], **_: object) -> dict[str, Any]:
        """List who changed what, newest first; each administrator sees what they administer."""
        columns = {
            "site": "site__name",
            "actor": "actor_name",
            "action": "action",
            "since": "at__gte",
        }
        filters = {column: query[name] for name, column in columns.items() if name in query}
        return page_of(
            AuditEntry.objects.visible_to(caller_of(request)).filter(**filters),
            row=AuditEntryRow,
            request=request,
            query=query,
            newest_first=True,
        )
