"""Routes of rules: what they are and measured, and what lets one learn, serve or run."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from rules.algorithms.learning.learner import LEARNERS
from rules.models import Impact, Rule, RuleSample
from rules.services.fields import field_drafts
from rules.services.learning import learning
from rules.services.records import extracting
from rules.services.review import reviewing
from rules.services.review.impacts import start_impact
from rules.services.review.rolling_back import roll_back
from vertex.core.api.endpoints import ApiView, AtSite, endpoint
from vertex.core.api.jobs.jobs import job_endpoint, row_of_job
from vertex.core.api.paging import page_of
from vertex.core.api.permissions import caller_of
from vertex.core.api.serializers import AS_GIVEN, Body, ListQuery, RowSerializer, listed
from vertex.core.models import Role, Scope, Site
from vertex.core.services.jobs.requests import enqueue
from vertex.core.views.page_reading import reads_pages

READ, WRITE = Scope.RECORDS_READ, Scope.VERTICALS_WRITE
STATES = [(str(value), label) for value, label in Rule.State.choices]


class RuleRow(RowSerializer):
    class Meta:
        model = Rule
        fields: tuple[str, ...] = (
            "id",
            "site",
            "cluster",
            "version",
            "state",
            "vertical",
            "learner",
            "origin",
            "edited_from",
            "comment",
            "figures",
            "made_at",
            "made_by",
            "published_at",
            "published_by",
            "retired_at",
        )

    site = serializers.CharField(source="cluster.site.name")
    cluster = serializers.CharField(source="cluster.name")
    vertical = serializers.CharField(source="vertical.name")
    state = serializers.CharField(help_text="draft, proposed, published or retired.")
    origin = serializers.CharField(help_text="learnt, edited, imported or drafted.")
    edited_from = serializers.IntegerField(
        allow_null=True, help_text="The version that was changed by hand; null where none was."
    )
    figures = serializers.ListField(
        child=serializers.DictField(),
        help_text="Per attribute its XPath and what it measured on the samples.",
    )
    made_by = serializers.CharField(source="made_by.username", allow_null=True)
    published_by = serializers.CharField(source="published_by.username", allow_null=True)


class RuleSampleRow(RowSerializer):
    class Meta:
        model = RuleSample
        fields = ("url", "normalized_url", "snapshot", "use")

    url = serializers.CharField(source="snapshot.page.given_url", help_text=AS_GIVEN)
    normalized_url = serializers.CharField(source="snapshot.page.url")
    snapshot = serializers.IntegerField(source="snapshot_id")


class RuleWithStylesheet(RuleRow):
    class Meta(RuleRow.Meta):
        fields = (
            *RuleRow.Meta.fields,
            "schema",
            "definition",
            "validation",
            "opinions",
            "stylesheet",
        )

    schema = serializers.ListField(
        child=serializers.DictField(), help_text="The vertical's attributes as they were."
    )
    definition = serializers.DictField(
        help_text="Per attribute the features, the candidates that lost, and failures."
    )
    validation = serializers.DictField(help_text="What it found on pages that were no samples.")
    opinions = serializers.ListField(
        child=serializers.DictField(),
        help_text=(
            "What other sites of the vertical are certain of: per attribute whether the rule "
            "agrees, why, and where it does not, a value that they would take and its page."
        ),
    )


class RuleAnswer(RuleWithStylesheet):
    """A rule with the pages it was learnt from and the other versions of its cluster's rule."""

    class Meta(RuleWithStylesheet.Meta):
        fields = (*RuleWithStylesheet.Meta.fields, "samples", "versions")

    samples = RuleSampleRow(many=True)
    versions = serializers.ListField(
        child=serializers.DictField(), help_text="Id, version and state of each."
    )


class RulesQuery(ListQuery):
    site = serializers.CharField(max_length=63, required=False, help_text="A site's name.")
    cluster = serializers.CharField(max_length=61, required=False, help_text="A cluster's name.")
    state = serializers.ChoiceField(choices=STATES, required=False)


class Publishing(Body):
    """How a rule is published."""

    force = serializers.BooleanField(
        default=False,
        help_text="Publish it also where constant values change; then there must be a reason.",
    )
    reason = serializers.CharField(
        max_length=reviewing.MAX_COMMENT_CHARS,
        default="",
        allow_blank=True,
        help_text="Why it is published with force.",
    )


class Proposing(Body):
    """A rule is proposed."""

    comment = serializers.CharField(
        max_length=reviewing.MAX_COMMENT_CHARS,
        default="",
        allow_blank=True,
        help_text="What the reviewer should know.",
    )


class SendingBack(Body):
    """A proposed rule is sent back."""

    reason = serializers.CharField(
        max_length=reviewing.MAX_COMMENT_CHARS,
        default="",
        allow_blank=True,
        help_text="What is to be changed; the author may withdraw without one.",
    )


class ImpactRow(RowSerializer):
    class Meta:
        model = Impact
        fields = (
            "id",
            "rule",
            "against_version",
            "figures",
            "examples",
            "made_at",
            "finished_at",
            "job",
        )

    rule = serializers.IntegerField(source="rule_id")
    job = serializers.IntegerField(source="job_id", allow_null=True)
    figures = serializers.DictField(
        help_text="`pages`, and `counts`: what is gained, lost, changed by attribute; "
        "blank for records."
    )
    examples = serializers.ListField(
        child=serializers.DictField(), help_text="Some of what changes."
    )


class NewLearning(Body):
    """Rules to be learnt."""

    cluster = serializers.CharField(
        max_length=61, default="", allow_blank=True, help_text="By default all annotated clusters."
    )
    learner = serializers.ChoiceField(
        choices=[(name, name) for name in LEARNERS], default="default"
    )


class NewDrafting(Body):
    """Rules to be drafted."""

    cluster = serializers.CharField(
        max_length=61,
        default="",
        allow_blank=True,
        help_text="By default all clusters without annotations and rules.",
    )
    min_certainty = serializers.FloatField(
        default=0.0,
        min_value=0.0,
        max_value=1.0,
        help_text="Attributes that are less certain are left out.",
    )


class Rules(ApiView):
    @endpoint("list_rules", scope=READ, query=RulesQuery, answers=listed(RuleRow), tags=["rules"])
    def get(self, request: Request, *, query: dict[str, Any], **_: object) -> dict[str, Any]:
        """List the versions of rules, the newest first."""
        columns = {"site": "cluster__site__name", "cluster": "cluster__name", "state": "state"}
        filters = {column: query[name] for name, column in columns.items() if name in query}
        visible = Rule.objects.visible_to(caller_of(request)).filter(**filters)
        return page_of(visible, row=RuleRow, request=request, query=query, newest_first=True)


class RuleAddress(ApiView):
    def find(self, request: Request, *, pk: int) -> Rule:
        visible = Rule.objects.visible_to(caller_of(request))
        rule = visible.select_related("cluster__site").filter(pk=pk).first()
        if rule is None:
            raise NotFound(f"There is no rule {pk}, or it is not yours to see.")
        return rule

    def site_of(self, subject: Rule) -> Site:
        return subject.cluster.site


class RuleView(RuleAddress):
    @endpoint(
        "read_rule", scope=READ, needs=(Role.VIEWER, "there"), answers=RuleAnswer, tags=["rules"]
    )
    def get(self, _request: Request, *, subject: Rule, **_: object) -> dict[str, Any]:
        """Show a rule with its stylesheet, its figures and what lost against it."""
        return {
            **RuleWithStylesheet.read(Rule.objects.filter(pk=subject.pk))[0],
            "samples": RuleSampleRow.read(subject.samples.order_by("pk")),
            "versions": list(
                Rule.objects.filter(cluster=subject.cluster_id)
                .order_by("-version")
                .values("id", "version", "state")
            ),
        }


@reads_pages
class PublishRule(RuleAddress):
    @endpoint(
        "publish_rule",
        scope=WRITE,
        needs=(Role.REVIEWER, "there"),
        takes=Publishing,
        answers=RuleRow,
        errors=(409,),
        tags=["rules"],
    )
    def post(
        self, request: Request, *, subject: Rule, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Publish a rule: it extracts its cluster's records from now on."""
        reviewing.publish_reviewed(
            rule=subject, actor=caller_of(request), is_forced=body["force"], reason=body["reason"]
        )
        return _row_of(subject)


@reads_pages
class ProposeRule(RuleAddress):
    @endpoint(
        "propose_rule",
        scope=WRITE,
        needs=(Role.EDITOR, "there"),
        takes=Proposing,
        answers=RuleRow,
        tags=["rules"],
    )
    def post(
        self, request: Request, *, subject: Rule, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Ask for a draft to be published by a reviewer."""
        reviewing.propose_rule(rule=subject, comment=body["comment"], actor=caller_of(request))
        return _row_of(subject)


class SendBackRule(RuleAddress):
    @endpoint(
        "send_back_rule",
        scope=WRITE,
        needs=(Role.EDITOR, "there"),
        takes=SendingBack,
        answers=RuleRow,
        tags=["rules"],
    )
    def post(
        self, request: Request, *, subject: Rule, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Make a proposed rule a draft again: a reviewer with a reason, or its author."""
        reviewing.send_back(rule=subject, reason=body["reason"], actor=caller_of(request))
        return _row_of(subject)


class RuleImpacts(RuleAddress):
    @endpoint(
        "list_impacts",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        query=ListQuery,
        answers=listed(ImpactRow),
        tags=["rules"],
    )
    def get(
        self, request: Request, *, subject: Rule, query: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """List what publishing a rule would change on the stored pages, newest comparison first."""
        impacts = Impact.objects.filter(rule=subject)
        return page_of(impacts, row=ImpactRow, request=request, query=query, newest_first=True)

    @job_endpoint(
        "compute_impact",
        scope=WRITE,
        needs=(Role.EDITOR, "there"),
        tags=["rules"],
    )
    def post(self, request: Request, *, subject: Rule, **_: object) -> dict[str, Any]:
        """Start a job that compares a rule with the one in use."""
        impact = start_impact(rule=subject, actor=caller_of(request))
        assert impact.job is not None  # noqa: S101 - just made
        return row_of_job(impact.job)


@reads_pages
class RollBackRule(RuleAddress):
    @endpoint(
        "roll_back_rule",
        scope=WRITE,
        needs=(Role.REVIEWER, "there"),
        answers=RuleRow,
        tags=["rules"],
    )
    def post(self, request: Request, *, subject: Rule, **_: object) -> dict[str, Any]:
        """Publish again the version that was published before; it is returned."""
        return _row_of(roll_back(rule=subject, actor=caller_of(request)))


class SiteDrafting(AtSite):
    @job_endpoint(
        "draft_rules",
        scope=WRITE,
        needs=(Role.EDITOR, "there"),
        takes=NewDrafting,
        tags=["rules"],
    )
    def post(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Start a job that drafts rules without annotations, from other sites of the vertical."""
        job = enqueue(
            field_drafts.drafting_request(
                site=subject, cluster=body["cluster"], min_certainty=body["min_certainty"]
            ),
            actor=caller_of(request),
        )
        return row_of_job(job)


class SiteLearning(AtSite):
    @job_endpoint(
        "learn_rules",
        scope=WRITE,
        needs=(Role.EDITOR, "there"),
        takes=NewLearning,
        tags=["rules"],
    )
    def post(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Start a job that learns the rules of the annotated clusters, or of one, as drafts."""
        job = enqueue(
            learning.learning_request(
                site=subject, cluster=body["cluster"], learner=body["learner"]
            ),
            actor=caller_of(request),
        )
        return row_of_job(job)


class SiteExtraction(AtSite):
    @job_endpoint(
        "extract_records",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        tags=["rules"],
    )
    def post(self, request: Request, *, subject: Site, **_: object) -> dict[str, Any]:
        """Start a job that extracts the records of the pages where something is new."""
        return row_of_job(
            enqueue(extracting.extraction_request(site=subject), actor=caller_of(request))
        )


def _row_of(rule: Rule) -> dict[str, Any]:
    return RuleRow.read(Rule.objects.filter(pk=rule.pk))[0]
