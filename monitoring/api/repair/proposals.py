"""Routes of repairs: what is proposed after a site change, and what people decide about it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from monitoring.models import Proposal
from monitoring.services.repair import proposals, repairing
from vertex.core.api.endpoints import ApiView, AtSite, endpoint
from vertex.core.api.jobs.jobs import job_endpoint, row_of_job
from vertex.core.api.paging import page_of
from vertex.core.api.permissions import caller_of
from vertex.core.api.serializers import Body, ListQuery, RowSerializer, listed
from vertex.core.models import Role, Scope, Site
from vertex.core.services.jobs.requests import enqueue

READ, WRITE = Scope.RECORDS_READ, Scope.VERTICALS_WRITE
TAGS = ["repairs"]
STATES = [(str(value), label) for value, label in Proposal.State.choices]


class ProposalRow(RowSerializer):
    class Meta:
        model = Proposal
        fields: tuple[str, ...] = (
            "id",
            "site",
            "name",
            "from_cluster",
            "decision",
            "variant",
            "state",
            "why",
            "url_share",
            "n_urls",
            "field_test",
            "attributes",
            "silent",
            "page_to_annotate",
            "hints",
            "rule",
            "made_at",
            "accepted_at",
            "accepted_by",
            "rejected_at",
            "rejected_by",
            "comment",
        )

    site = serializers.CharField(source="site.name")
    name = serializers.CharField(help_text="The cluster's; it may not exist before it is accepted.")
    from_cluster = serializers.CharField(source="from_cluster.name", allow_null=True)
    decision = serializers.CharField(help_text="reused, proposed or needs_annotation.")
    variant = serializers.CharField(
        help_text="How the cluster was found whose rule was tried first: by cluster_match or "
        "page_match as published, by field_match where the field test alone decided; else blank."
    )
    state = serializers.CharField(help_text="waiting, accepted, rejected or replaced.")
    field_test = serializers.BooleanField(
        allow_null=True, help_text="Whether the new rule passes it."
    )
    attributes = serializers.DictField(
        help_text="Per attribute its XPath and precision; its certainty where all values changed."
    )
    silent = serializers.ListField(
        child=serializers.CharField(), help_text="Attributes that had values and get no rule."
    )
    page_to_annotate = serializers.CharField(
        source="page_to_annotate.given_url",
        allow_null=True,
        help_text="The page that still shows the values of most of these.",
    )
    hints = serializers.ListField(
        child=serializers.DictField(),
        help_text="What of these is certain all the same: a value, its address, "
        "the certainty and why.",
    )
    rule = serializers.IntegerField(source="rule_id", allow_null=True)
    accepted_by = serializers.CharField(source="accepted_by.username", allow_null=True)
    rejected_by = serializers.CharField(source="rejected_by.username", allow_null=True)


class ProposalAnswer(ProposalRow):
    """A proposal with the values that were found again."""

    class Meta(ProposalRow.Meta):
        fields = (*ProposalRow.Meta.fields, "evidence")

    evidence = serializers.DictField(help_text="By address and attribute: XPath, text and score.")


class ProposalsQuery(ListQuery):
    site = serializers.CharField(max_length=63, required=False, help_text="A site's name.")
    state = serializers.ChoiceField(choices=STATES, required=False)


class Rejection(Body):
    """Why a proposal is rejected."""

    comment = serializers.CharField(max_length=500, required=False, allow_blank=True, default="")


class Proposals(ApiView):
    @endpoint(
        "list_proposals", scope=READ, query=ProposalsQuery, answers=listed(ProposalRow), tags=TAGS
    )
    def get(self, request: Request, *, query: dict[str, Any], **_: object) -> dict[str, Any]:
        """List how clusters may be served after site changes, the newest first."""
        columns = {"site": "site__name", "state": "state"}
        filters = {column: query[name] for name, column in columns.items() if name in query}
        visible = Proposal.objects.visible_to(caller_of(request)).filter(**filters)
        return page_of(visible, row=ProposalRow, request=request, query=query, newest_first=True)


class ProposalAddress(ApiView):
    def find(self, request: Request, *, pk: int) -> Proposal:
        visible = Proposal.objects.visible_to(caller_of(request)).select_related("site", "job")
        proposal = visible.filter(pk=pk).first()
        if proposal is None:
            raise NotFound(f"There is no proposal {pk}, or it is not yours to see.")
        return proposal

    def site_of(self, subject: Proposal) -> Site:
        return subject.site


class ProposalView(ProposalAddress):
    @endpoint(
        "read_proposal", scope=READ, needs=(Role.VIEWER, "there"), answers=ProposalAnswer, tags=TAGS
    )
    def get(self, _request: Request, *, subject: Proposal, **_: object) -> dict[str, Any]:
        """Show a proposal with the values that were found again."""
        return ProposalAnswer.read(Proposal.objects.filter(pk=subject.pk))[0]


class AcceptProposal(ProposalAddress):
    @job_endpoint(
        "accept_proposal",
        scope=WRITE,
        needs=(Role.REVIEWER, "there"),
        tags=TAGS,
    )
    def post(self, request: Request, *, subject: Proposal, **_: object) -> dict[str, Any]:
        """Start a job that publishes a proposal; nothing is published against the field test."""
        return row_of_job(proposals.accept_proposal(proposal=subject, actor=caller_of(request)))


class RejectProposal(ProposalAddress):
    @endpoint(
        "reject_proposal",
        scope=WRITE,
        needs=(Role.REVIEWER, "there"),
        takes=Rejection,
        answers=ProposalRow,
        tags=TAGS,
    )
    def post(
        self, request: Request, *, subject: Proposal, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Reject a proposal."""
        proposals.reject_proposal(proposal=subject, actor=caller_of(request), **body)
        return ProposalRow.read(Proposal.objects.filter(pk=subject.pk))[0]


class SiteHealing(AtSite):
    @job_endpoint(
        "heal_site",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        tags=TAGS,
    )
    def post(self, request: Request, *, subject: Site, **_: object) -> dict[str, Any]:
        """Start a job that finds which rules still serve a site and proposes some for the rest."""
        return row_of_job(enqueue(repairing.repair_request(site=subject), actor=caller_of(request)))
