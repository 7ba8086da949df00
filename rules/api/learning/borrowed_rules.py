"""Routes of borrowed rules: which rule reads the pages of clusters that have none."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from rules.models import BorrowedRule
from rules.services.records.borrowing import refuse_borrowed_rule
from vertex.core.api.endpoints import ApiView, AtSite, endpoint
from vertex.core.api.paging import page_of
from vertex.core.api.permissions import caller_of, visible_site
from vertex.core.api.serializers import Body, ListQuery, RowSerializer, listed
from vertex.core.models import Role, Scope, Site

READ, WRITE = Scope.RECORDS_READ, Scope.VERTICALS_WRITE


class BorrowedRuleRow(RowSerializer):
    class Meta:
        model = BorrowedRule
        fields = (
            "cluster",
            "rule",
            "lender",
            "share_read",
            "n_pages_read",
            "is_refused",
            "decided_at",
        )

    cluster = serializers.CharField(source="cluster.name")
    rule = serializers.IntegerField(
        source="rule_id", allow_null=True, help_text="Null where no rule reads enough of its pages."
    )
    lender = serializers.CharField(
        source="rule.cluster.name", allow_null=True, help_text="The cluster whose rule it is."
    )
    share_read = serializers.FloatField(
        help_text="Of what the rule finds on pages of its own cluster, 0 to 1."
    )
    is_refused = serializers.BooleanField(help_text="A person switched it off.")


class Switch(Body):
    """Whether another cluster's rule may read the pages of a cluster."""

    is_refused = serializers.BooleanField()


class BorrowedRules(AtSite):
    @endpoint(
        "list_borrowed_rules",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        query=ListQuery,
        answers=listed(BorrowedRuleRow),
        tags=["rules"],
    )
    def get(
        self, request: Request, *, subject: Site, query: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """List the clusters without a rule for which another cluster's rule was tried."""
        rows = BorrowedRule.objects.of_site(subject)
        return page_of(rows, row=BorrowedRuleRow, request=request, query=query)


class BorrowedRuleView(ApiView):
    def find(self, request: Request, *, name: str, cluster: str) -> BorrowedRule:
        site = visible_site(request, name)
        rows = BorrowedRule.objects.of_site(site).select_related("cluster__site", "rule__cluster")
        borrowed = rows.filter(cluster__name=cluster).first()
        if borrowed is None:
            raise NotFound(f"no rule was tried for a cluster “{cluster}” of {site.name}")
        return borrowed

    def site_of(self, subject: BorrowedRule) -> Site:
        return subject.cluster.site

    @endpoint(
        "switch_borrowed_rule",
        scope=WRITE,
        needs=(Role.REVIEWER, "there"),
        takes=Switch,
        answers=BorrowedRuleRow,
        tags=["rules"],
    )
    def post(
        self, request: Request, *, subject: BorrowedRule, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Refuse a cluster's borrowed rule, or allow it again; the next extraction follows."""
        refuse_borrowed_rule(
            borrowed=subject, is_refused=body["is_refused"], actor=caller_of(request)
        )
        return BorrowedRuleRow.read(BorrowedRule.objects.filter(pk=subject.pk))[0]
