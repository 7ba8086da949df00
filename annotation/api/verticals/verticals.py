"""Routes of verticals, and of which site speaks which one."""

from __future__ import annotations

from typing import Any

from django.db.models import Prefetch, QuerySet
from django.urls import URLPattern, path, register_converter
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import ATTRIBUTE_NAME, Assignment, Attribute, Vertical
from annotation.services.verticals.verticals import (
    MAX_ATTRIBUTES,
    MAX_DESCRIPTION,
    MAX_REGEX,
    BadVertical,
    ChangedMeanwhile,
    assign_vertical,
    save_vertical,
)
from vertex.core.api.endpoints import ApiView, AtSite, endpoint
from vertex.core.api.errors import Conflict
from vertex.core.api.paging import page_of
from vertex.core.api.permissions import caller_of
from vertex.core.api.serializers import Body, ListQuery, RowSerializer, listed
from vertex.core.models import Role, Scope, Site

ATTRIBUTE_TYPES = [(str(value), label) for value, label in Attribute.Type.choices]


class AttributeBody(Body):
    """A named property of the things that a vertical describes."""

    name = serializers.RegexField(
        ATTRIBUTE_NAME.regex, trim_whitespace=False, help_text=ATTRIBUTE_NAME.message
    )
    type = serializers.ChoiceField(choices=ATTRIBUTE_TYPES, default=Attribute.Type.TEXT)
    constant = serializers.BooleanField(
        default=False, help_text="A page's value does not change with time."
    )
    mandatory = serializers.BooleanField(default=False)
    multi = serializers.BooleanField(default=False, help_text="A page may have several values.")
    regex = serializers.CharField(
        max_length=MAX_REGEX,
        allow_blank=True,
        default="",
        help_text="Of RE2; no look-around.",
    )


class VerticalChange(Body):
    """What a vertical is to be."""

    description = serializers.CharField(
        max_length=MAX_DESCRIPTION, allow_blank=True, required=False
    )
    attributes: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=AttributeBody(), min_length=1, max_length=MAX_ATTRIBUTES
    )
    version = serializers.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        required=False,
        help_text="The version that was changed; another one there by now gives 409.",
    )


class NewVertical(VerticalChange):
    """A vertical to be created."""

    name = serializers.RegexField(
        ATTRIBUTE_NAME.regex, trim_whitespace=False, help_text=ATTRIBUTE_NAME.message
    )
    version = None  # type: ignore[assignment]  # a new one has none


class VerticalRow(RowSerializer):
    class Meta:
        model = Vertical
        fields = ("name", "description", "version", "attributes")

    attributes = AttributeBody(many=True)

    @classmethod
    def read(cls, queryset: QuerySet[Any]) -> list[dict[str, Any]]:
        live = Prefetch("attributes", Attribute.objects.live(), to_attr="live_attributes")
        return [_row_of(vertical) for vertical in queryset.prefetch_related(live)]


class AssignmentBody(Body):
    """Which vertical a site's clusters describe unless a cluster says otherwise."""

    vertical = serializers.CharField(max_length=63, allow_null=True)


class VerticalsQuery(ListQuery):
    search = serializers.CharField(
        max_length=200, required=False, help_text="Words in the name, description or attributes."
    )


class Verticals(ApiView):
    @endpoint(
        "list_verticals",
        scope=Scope.VERTICALS_READ,
        query=VerticalsQuery,
        answers=listed(VerticalRow),
        tags=["verticals"],
    )
    def get(self, request: Request, *, query: dict[str, Any], **_: object) -> dict[str, Any]:
        """List the verticals by name."""
        verticals = Vertical.objects.matching(query.get("search", ""))
        return page_of(verticals, row=VerticalRow, request=request, query=query, key="name")

    @endpoint(
        "create_vertical",
        scope=Scope.VERTICALS_WRITE,
        needs=(Role.EDITOR, "anywhere"),
        takes=NewVertical,
        answers=VerticalRow,
        status=201,
        errors=(409,),
        tags=["verticals"],
    )
    def post(self, request: Request, *, body: dict[str, Any], **_: object) -> dict[str, Any]:
        """Create a vertical."""
        name = body.pop("name")
        if Vertical.objects.filter(name=name).exists():
            raise Conflict(
                f"There is a vertical “{name}” already. Change it with PUT at its address."
            )
        return _save(name, body | {"version": 0}, request)


class VerticalView(ApiView):
    def find(self, _request: Request, *, name: str) -> Vertical:
        vertical = Vertical.objects.filter(name=name).first()
        if vertical is None:
            raise NotFound(f"There is no vertical “{name}”.")
        return vertical

    @endpoint("read_vertical", scope=Scope.VERTICALS_READ, answers=VerticalRow, tags=["verticals"])
    def get(self, _request: Request, *, subject: Vertical, **_: object) -> dict[str, Any]:
        """Show a vertical and its attributes."""
        return VerticalRow.read(Vertical.objects.filter(pk=subject.pk))[0]

    @endpoint(
        "change_vertical",
        scope=Scope.VERTICALS_WRITE,
        needs=(Role.EDITOR, "anywhere"),
        takes=VerticalChange,
        answers=VerticalRow,
        errors=(409,),
        tags=["verticals"],
    )
    def put(
        self, request: Request, *, subject: Vertical, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Make a vertical as described; attributes left out are dropped, their annotations kept."""
        return _save(subject.name, body, request)


class SiteVertical(AtSite):
    @endpoint(
        "read_vertical_of_site",
        scope=Scope.SITES_READ,
        needs=(Role.VIEWER, "there"),
        answers=AssignmentBody,
        tags=["verticals"],
    )
    def get(self, _request: Request, *, subject: Site, **_: object) -> dict[str, Any]:
        """Show the vertical of a site."""
        names = (
            Assignment.objects.defaults()
            .filter(site=subject)
            .values_list("vertical__name", flat=True)
        )
        return {"vertical": names.first()}

    @endpoint(
        "assign_vertical",
        scope=Scope.SITES_WRITE,
        needs=(Role.OPERATOR, "there"),
        takes=AssignmentBody,
        answers=AssignmentBody,
        tags=["verticals"],
    )
    def put(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Assign a site's vertical; null removes it."""
        name = body["vertical"]
        vertical = Vertical.objects.filter(name=name).first() if name is not None else None
        if name is not None and vertical is None:
            raise ValidationError({"vertical": [f"There is no vertical “{name}”."]})
        assign_vertical(site=subject, vertical=vertical, actor=caller_of(request))
        return {"vertical": name}


def _save(name: str, body: dict[str, Any], request: Request) -> dict[str, Any]:
    """Save a vertical and return it as it is then."""
    plans = [
        AttributeType(
            name=entry["name"],
            type=entry["type"],
            is_constant=entry["constant"],
            is_mandatory=entry["mandatory"],
            is_multi=entry["multi"],
            regex=entry["regex"],
        )
        for entry in body.pop("attributes")
    ]
    try:
        saved = save_vertical(name=name, attributes=plans, actor=caller_of(request), **body)
    except BadVertical as error:
        raise ValidationError({"attributes": error.problems}) from None
    except ChangedMeanwhile as error:
        raise Conflict(str(error)) from None
    return VerticalRow.read(Vertical.objects.filter(pk=saved.pk))[0]


def _row_of(vertical: Vertical) -> dict[str, Any]:
    return {
        "name": vertical.name,
        "description": vertical.description,
        "version": vertical.version,
        "attributes": [
            {
                "name": attribute.name,
                "type": attribute.type,
                "constant": attribute.is_constant,
                "mandatory": attribute.is_mandatory,
                "multi": attribute.is_multi,
                "regex": attribute.regex,
            }
            for attribute in vertical.live_attributes  # type: ignore[attr-defined]  # prefetched under this name
        ],
    }


class VerticalNameConverter:
    """A vertical's name."""

    regex = "[A-Za-z_][A-Za-z0-9_.-]{0,62}"  # as ATTRIBUTE_NAME has it; a test compares them

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(VerticalNameConverter, "name_of_vertical")

urlpatterns: list[URLPattern] = [
    path("verticals/", Verticals.as_view(), name="verticals"),
    path("verticals/<name_of_vertical:name>/", VerticalView.as_view(), name="vertical"),
    path("sites/<name:name>/vertical/", SiteVertical.as_view(), name="site_vertical"),
]
