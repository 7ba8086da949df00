"""Routes of checks, of the site changes that they find, and of the coverage of what comes in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from monitoring.models import Check, CheckedPage, SiteChange
from monitoring.services.checks import changes, checking
from monitoring.services.checks.coverage import coverage_by_day, drops_of
from monitoring.services.checks.site_states import STATE_BY_KEY, figures_of
from vertex.core.api.endpoints import ApiView, AtSite, endpoint
from vertex.core.api.jobs.jobs import job_endpoint, row_of_job
from vertex.core.api.paging import page_of
from vertex.core.api.permissions import caller_of
from vertex.core.api.serializers import AS_GIVEN, ListQuery, Query, RowSerializer, listed
from vertex.core.models import Role, Scope, Site
from vertex.core.services.jobs.requests import enqueue

READ, WRITE = Scope.RECORDS_READ, Scope.SITES_WRITE
TAGS = ["monitoring"]


class CheckRow(RowSerializer):
    class Meta:
        model = Check
        fields = (
            "id",
            "site",
            "job",
            "slot",
            "source",
            "started_at",
            "made_at",
            "n_rounds",
            "site_changed",
            "verdict",
            "layouts",
            "again_at",
            "paper_verdict",
            "broken",
            "rules_share",
            "reason",
            "warnings",
            "n_pages",
            "n_reachable",
        )

    site = serializers.CharField(source="site.name")
    job = serializers.IntegerField(source="job_id", allow_null=True)
    slot = serializers.IntegerField(source="slot_id", allow_null=True)
    verdict = serializers.CharField(
        help_text="as_it_was, content_changed, partly_redesigned, redesigned, "
        "unreachable or undecided; "
        "blank for a check of before there were verdicts."
    )
    layouts = serializers.ListField(
        child=serializers.CharField(), help_text="Where it is partly redesigned: what was."
    )
    again_at = serializers.DateTimeField(
        allow_null=True, help_text="Where it is undecided: when the site is looked at again."
    )
    paper_verdict = serializers.BooleanField(help_text="Whether either test of the paper fails.")
    broken = serializers.ListField(child=serializers.CharField(), help_text="Names of clusters.")
    rules_share = serializers.FloatField(help_text="Of the rules checked, that are broken.")
    warnings = serializers.ListField(child=serializers.CharField())
    n_rounds = serializers.IntegerField(help_text="How often what was in doubt was looked at.")


class CheckedPageRow(RowSerializer):
    class Meta:
        model = CheckedPage
        fields = (
            "url",
            "normalized_url",
            "page",
            "cluster",
            "outcome",
            "why",
            "status",
            "n_tries",
            "snapshot",
            "shingle_test",
            "field_test",
            "structure_test",
            "failed",
            "signs",
        )

    url = serializers.CharField(source="page.given_url", help_text=AS_GIVEN)
    normalized_url = serializers.CharField(source="page.url")
    page = serializers.IntegerField(source="page_id")
    cluster = serializers.CharField(source="cluster.name")
    snapshot = serializers.IntegerField(
        source="snapshot_id",
        allow_null=True,
        help_text="The page as it was found, where it changed.",
    )
    outcome = serializers.CharField(help_text="ok, changed or unreachable.")
    why = serializers.CharField(help_text="Of unreachable: not_found, captcha, soft_404 and so on.")
    failed = serializers.ListField(child=serializers.DictField())
    signs = serializers.DictField(
        help_text="What the verdict rests on: fields lost, own texts that still stand, "
        "likeness of form."
    )


class CheckAnswer(CheckRow):
    """A check with what it found on each page."""

    class Meta(CheckRow.Meta):
        fields = (*CheckRow.Meta.fields, "clusters", "thresholds", "pages")  # type: ignore[assignment]  # some more

    clusters = serializers.ListField(
        child=serializers.DictField(), help_text="The verdict on each."
    )
    thresholds = serializers.DictField(help_text="As they were.")
    pages = CheckedPageRow(many=True)


class SiteChangeRow(RowSerializer):
    class Meta:
        model = SiteChange
        fields = (
            "id",
            "site",
            "cluster",
            "reason",
            "evidence",
            "check_id",
            "last_good_at",
            "found_at",
            "ended_at",
            "ended_by",
            "end",
            "n_held",
            "report",
        )

    site = serializers.CharField(source="site.name")
    cluster = serializers.CharField(source="cluster.name")
    check_id = serializers.IntegerField(source="found_by_id", allow_null=True)
    ended_by = serializers.CharField(source="ended_by.username", allow_null=True)
    evidence = serializers.DictField(help_text="Shares of pages, and the first broken example.")
    end = serializers.CharField(
        help_text="repaired, recovered or dismissed; blank while it is open."
    )
    n_held = serializers.IntegerField(help_text="Pages whose new values were held back.")
    report = serializers.DictField(
        help_text="Once it is over: how long, what it cost, what was saved."
    )


class ChecksQuery(ListQuery):
    site = serializers.CharField(max_length=63, required=False, help_text="A site's name.")
    changed = serializers.BooleanField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Only those that found a change, or none.",
    )


class SiteChangesQuery(ListQuery):
    site = serializers.CharField(max_length=63, required=False, help_text="A site's name.")
    open = serializers.BooleanField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Only those that go on, or are over.",
    )


class CoverageQuery(Query):
    days = serializers.IntegerField(min_value=1, max_value=400, default=30)


class CoverageAnswer(serializers.Serializer[Any]):
    """What became of a site's pages, day by day."""

    days = serializers.ListField(child=serializers.DictField())
    drops = serializers.ListField(child=serializers.CharField(), help_text="What fell of late.")


class SiteStateAnswer(serializers.Serializer[Any]):
    """How a site is watched."""

    site = serializers.CharField()
    state = serializers.ChoiceField(choices=sorted(STATE_BY_KEY))
    meaning = serializers.CharField()
    checked_at = serializers.DateTimeField(allow_null=True, help_text="Of the last verdict.")
    again_at = serializers.DateTimeField(allow_null=True, help_text="Of the next check.")
    stale_since = serializers.DateTimeField(
        allow_null=True, help_text="Of the oldest record that is from before a redesign."
    )
    changed_at = serializers.DateTimeField(allow_null=True, help_text="When a record last changed.")


class Checks(ApiView):
    @endpoint("list_checks", scope=READ, query=ChecksQuery, answers=listed(CheckRow), tags=TAGS)
    def get(self, request: Request, *, query: dict[str, Any], **_: object) -> dict[str, Any]:
        """List the checks that came to a verdict, the newest first."""
        checks = Check.objects.visible_to(caller_of(request)).done()
        if "site" in query:
            checks = checks.filter(site__name=query["site"])
        if query["changed"] is not None:
            checks = checks.filter(site_changed=query["changed"])
        return page_of(checks, row=CheckRow, request=request, query=query, newest_first=True)


class CheckView(ApiView):
    def find(self, request: Request, *, pk: int) -> Check:
        visible = Check.objects.visible_to(caller_of(request)).done()
        check = visible.select_related("site").filter(pk=pk).first()
        if check is None:
            raise NotFound(f"There is no check {pk}, or it is not yours to see.")
        return check

    def site_of(self, subject: Check) -> Site:
        return subject.site

    @endpoint(
        "read_check", scope=READ, needs=(Role.VIEWER, "there"), answers=CheckAnswer, tags=TAGS
    )
    def get(self, _request: Request, *, subject: Check, **_: object) -> dict[str, Any]:
        """Show a check with what it found on each page."""
        return {
            **CheckRow.read(Check.objects.filter(pk=subject.pk))[0],
            "clusters": subject.clusters,
            "thresholds": subject.thresholds,
            "pages": CheckedPageRow.read(subject.pages.order_by("pk")),
        }


class SiteChecks(AtSite):
    @job_endpoint(
        "check_site",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        tags=TAGS,
    )
    def post(self, request: Request, *, subject: Site, **_: object) -> dict[str, Any]:
        """Start a job that checks a site's bellwethers now."""
        return row_of_job(enqueue(checking.check_request(site=subject), actor=caller_of(request)))


class SiteStateView(AtSite):
    @endpoint(
        "read_site_state",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        answers=SiteStateAnswer,
        tags=TAGS,
    )
    def get(self, _request: Request, *, subject: Site, **_: object) -> dict[str, Any]:
        """Show in which state of watching a site is, and how old what it rests on is."""
        figures = figures_of([subject.pk])[subject.pk]
        return {
            "site": subject.name,
            "state": figures.state.key,
            "meaning": figures.state.meaning,
            "checked_at": figures.checked_at,
            "again_at": figures.again_at,
            "stale_since": figures.stale_since,
            "changed_at": figures.changed_at,
        }


class SiteChanges(ApiView):
    @endpoint(
        "list_site_changes",
        scope=READ,
        query=SiteChangesQuery,
        answers=listed(SiteChangeRow),
        tags=TAGS,
    )
    def get(self, request: Request, *, query: dict[str, Any], **_: object) -> dict[str, Any]:
        """List the site changes, the newest first."""
        changes = SiteChange.objects.visible_to(caller_of(request))
        if "site" in query:
            changes = changes.filter(site__name=query["site"])
        if query["open"] is not None:
            changes = changes.open() if query["open"] else changes.ended()
        return page_of(changes, row=SiteChangeRow, request=request, query=query, newest_first=True)


class SiteChangeAddress(ApiView):
    def find(self, request: Request, *, pk: int) -> SiteChange:
        visible = SiteChange.objects.visible_to(caller_of(request)).select_related(
            "site", "cluster"
        )
        change = visible.filter(pk=pk).first()
        if change is None:
            raise NotFound(f"There is no site change {pk}, or it is not yours to see.")
        return change

    def site_of(self, subject: SiteChange) -> Site:
        return subject.site


class SiteChangeView(SiteChangeAddress):
    @endpoint(
        "read_site_change",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        answers=SiteChangeRow,
        tags=TAGS,
    )
    def get(self, _request: Request, *, subject: SiteChange, **_: object) -> dict[str, Any]:
        """Show a site change with its evidence and, once it is over, its report."""
        return SiteChangeRow.read(SiteChange.objects.filter(pk=subject.pk))[0]


class DismissSiteChange(SiteChangeAddress):
    @endpoint(
        "dismiss_site_change",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        answers=SiteChangeRow,
        tags=TAGS,
    )
    def post(self, request: Request, *, subject: SiteChange, **_: object) -> dict[str, Any]:
        """End a change that was none; what was held back passes with the next extraction."""
        changes.dismiss_change(change=subject, actor=caller_of(request))
        return SiteChangeRow.read(SiteChange.objects.filter(pk=subject.pk))[0]


class SiteCoverage(AtSite):
    @endpoint(
        "read_coverage",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        query=CoverageQuery,
        answers=CoverageAnswer,
        tags=TAGS,
    )
    def get(
        self, _request: Request, *, subject: Site, query: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Show how many of a site's pages gave records, day by day, and what fell."""
        today = datetime.now(UTC).date()
        days = coverage_by_day(subject, since=today - timedelta(days=query["days"]))
        day_rows = [
            {
                "day": counts.day,
                "n_pages": counts.n_pages,
                "n_served": counts.n_served,
                "n_records": counts.n_records,
            }
            for counts in days
        ]
        return {"days": day_rows, "drops": [text for _, text in drops_of(subject, today)]}
