"""Routes of the lists of addresses that a site keeps, and of their visits."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from clustering.services.crawl.address_lists import MAX_PASTED
from clustering.services.crawl.limits import MAX_DELAY
from monitoring.api.checks.schedules import UNITS
from monitoring.models import KeptList
from monitoring.services.stream import kept_lists
from vertex.core.api.endpoints import ApiView, AtSite, endpoint
from vertex.core.api.jobs.jobs import job_endpoint, row_of_job
from vertex.core.api.paging import page_of
from vertex.core.api.permissions import caller_of
from vertex.core.api.serializers import Body, ListQuery, RowSerializer, listed
from vertex.core.models import Role, Scope, Site

TAGS = ["incoming"]
READ, WRITE = Scope.PAGES_READ, Scope.PAGES_WRITE


class KeptListRow(RowSerializer):
    class Meta:
        model = KeptList
        fields = (
            "id",
            "site",
            "name",
            "url",
            "n_addresses",
            "every",
            "unit",
            "time_zone",
            "window_start",
            "window_end",
            "delay",
            "is_active",
            "next_at",
            "last_at",
            "last_job",
            "last_state",
            "left_out",
            "made_at",
            "made_by",
            "dropped_at",
        )

    site = serializers.CharField(source="site.name")
    url = serializers.CharField(help_text="Where the list is on the site; blank where it is kept.")
    n_addresses = serializers.IntegerField(help_text="Of those that are kept.")
    unit = serializers.CharField(help_text="hours or days.")
    next_at = serializers.DateTimeField(allow_null=True, help_text="Null while it is paused.")
    last_job = serializers.IntegerField(source="last_job_id", allow_null=True)
    last_state = serializers.CharField(source="last_job.state", allow_null=True)
    left_out = serializers.CharField(help_text="Why nothing began the last time.")
    made_by = serializers.CharField(source="made_by.username", allow_null=True)
    dropped_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When it was deleted; a month later it is gone. Null: it is kept.",
    )


class KeptListAnswer(KeptListRow):
    """A list with its addresses."""

    class Meta(KeptListRow.Meta):
        fields = (*KeptListRow.Meta.fields, "addresses")  # type: ignore[assignment]  # one more

    addresses = serializers.CharField(help_text="One a line, as they were handed in.")


class _Times(Body):
    """When a list is visited, and how fast."""

    every = serializers.IntegerField(
        min_value=1, max_value=366, required=False, help_text="At most 24 hours, or 366 days."
    )
    unit = serializers.ChoiceField(choices=UNITS, required=False)
    time_zone = serializers.CharField(
        max_length=50, required=False, help_text="Such as Europe/Vienna."
    )
    window_start = serializers.TimeField(
        required=False, help_text="Visits begin within these hours."
    )
    window_end = serializers.TimeField(
        required=False, help_text="The same as the start: the whole day."
    )
    delay = serializers.FloatField(
        min_value=0,
        max_value=MAX_DELAY,
        allow_null=True,
        required=False,
        help_text="Seconds between two requests to a host; null: the site's.",
    )
    is_active = serializers.BooleanField(required=False, help_text="False: it is paused.")


def _addresses() -> serializers.ListField:
    return serializers.ListField(
        child=serializers.CharField(max_length=8192),
        min_length=1,
        max_length=MAX_PASTED,
        required=False,
        help_text="Pages of the site; by a file, the browser and the command take more.",
    )


def _url() -> serializers.CharField:
    return serializers.CharField(
        max_length=2048,
        required=False,
        help_text="Instead: a file of the site with an address a line, read anew at each visit.",
    )


class NewKeptList(_Times):
    """A list to be kept; without times it is visited daily."""

    name = serializers.CharField(max_length=100)
    addresses = _addresses()
    url = _url()


class KeptListChanges(_Times):
    """What is to change of a list; new addresses or another file replace what was its source."""

    name = serializers.CharField(max_length=100, required=False)
    addresses = _addresses()
    url = _url()


class KeptListsQuery(ListQuery):
    deleted = serializers.BooleanField(
        required=False, help_text="True: those that were deleted and can be restored."
    )


class KeptLists(AtSite):
    @endpoint(
        "list_kept_lists",
        scope=READ,
        needs=(Role.OPERATOR, "there"),
        query=KeptListsQuery,
        answers=listed(KeptListRow),
        tags=TAGS,
    )
    def get(
        self, request: Request, *, subject: Site, query: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """List the lists of addresses that a site keeps, and what came of their last visits."""
        of_site = KeptList.objects.filter(site=subject)
        listed_ones = of_site.dropped() if query.get("deleted") else of_site.present()
        return page_of(listed_ones, row=KeptListRow, request=request, query=query)

    @endpoint(
        "add_kept_list",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        takes=NewKeptList,
        answers=KeptListRow,
        status=201,
        tags=TAGS,
    )
    def post(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Keep a list of addresses that is visited at certain times."""
        kept_list = kept_lists.add_list(site=subject, actor=caller_of(request), **_values(body))
        return _row_of(kept_list)


class KeptListAddress(ApiView):
    takes_deleted = False

    def find(self, request: Request, *, pk: int) -> KeptList:
        visible = KeptList.objects.visible_to(caller_of(request)).select_related("site")
        kept_list = visible.filter(pk=pk).first()
        if kept_list is None or (kept_list.dropped_at is not None and not self.takes_deleted):
            raise NotFound(f"There is no kept list {pk}, or it is not yours to see.")
        return kept_list

    def site_of(self, subject: KeptList) -> Site:
        return subject.site


class KeptListView(KeptListAddress):
    @endpoint(
        "read_kept_list",
        scope=READ,
        needs=(Role.OPERATOR, "there"),
        answers=KeptListAnswer,
        tags=TAGS,
    )
    def get(self, _request: Request, *, subject: KeptList, **_: object) -> dict[str, Any]:
        """Show a kept list with its addresses."""
        return KeptListAnswer.read(KeptList.objects.filter(pk=subject.pk))[0]

    @endpoint(
        "change_kept_list",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        takes=KeptListChanges,
        answers=KeptListRow,
        tags=TAGS,
    )
    def patch(
        self, request: Request, *, subject: KeptList, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Change what is given of a kept list, pause it or let it go on; the rest stays."""
        actor = caller_of(request)
        return _row_of(kept_lists.change_list(kept_list=subject, actor=actor, **_values(body)))

    @endpoint(
        "drop_kept_list",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        answers=None,
        status=204,
        tags=TAGS,
    )
    def delete(self, request: Request, *, subject: KeptList, **_: object) -> Response:
        """Delete a kept list; its pages stay, and for a month it can be restored."""
        kept_lists.drop_list(kept_list=subject, actor=caller_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class RestoreKeptList(KeptListAddress):
    takes_deleted = True

    @endpoint(
        "restore_kept_list",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        answers=KeptListRow,
        tags=TAGS,
    )
    def post(self, request: Request, *, subject: KeptList, **_: object) -> dict[str, Any]:
        """Take the deletion of a kept list back."""
        return _row_of(kept_lists.restore_list(kept_list=subject, actor=caller_of(request)))


class VisitKeptList(KeptListAddress):
    @job_endpoint(
        "visit_kept_list",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        errors=(409, 507),
        tags=TAGS,
    )
    def post(self, request: Request, *, subject: KeptList, **_: object) -> dict[str, Any]:
        """Start a visit of a kept list as a job now; its times stay as they are."""
        return row_of_job(kept_lists.visit_now(kept_list=subject, actor=caller_of(request)))


def _values(body: dict[str, Any]) -> dict[str, Any]:
    """Return what the service takes: the addresses as lines."""
    if "addresses" not in body:
        return body
    return body | {"addresses": "\n".join(body["addresses"])}


def _row_of(kept_list: KeptList) -> dict[str, Any]:
    return KeptListRow.read(KeptList.objects.filter(pk=kept_list.pk))[0]
