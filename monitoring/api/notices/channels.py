"""Routes of the channels by which people are told of alerts, and of the notices that were sent."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from monitoring.api.notices.alerts import ALERT_KINDS, READ, TAGS, WRITE
from monitoring.models import Channel, Notice
from monitoring.services.notices import channels
from vertex.core.api.endpoints import ApiView, AtSite, endpoint
from vertex.core.api.paging import page_of
from vertex.core.api.permissions import caller_of
from vertex.core.api.serializers import Body, ListQuery, RowSerializer, listed
from vertex.core.models import Role, Site

CHANNEL_KINDS = [(str(value), label) for value, label in Channel.Kind.choices]


class ChannelRow(RowSerializer):
    class Meta:
        model = Channel
        fields = ("id", "site", "kind", "alert_kinds", "is_active", "made_at", "made_by")

    site = serializers.CharField(source="site.name", allow_null=True, help_text="Null: all sites.")
    kind = serializers.CharField(help_text="email, webhook or apprise.")
    alert_kinds = serializers.ListField(child=serializers.CharField(), help_text="None: all kinds.")
    is_active = serializers.BooleanField(
        help_text="False while it is paused, or once it was given up."
    )
    made_by = serializers.CharField(source="made_by.username", allow_null=True)


class NewChannelAnswer(ChannelRow):
    """A channel with the secret of a webhook, which is shown only now."""

    class Meta(ChannelRow.Meta):
        fields = (*ChannelRow.Meta.fields, "secret")  # type: ignore[assignment]  # one more

    secret = serializers.CharField(
        help_text="What checks signatures, as Standard Webhooks have it."
    )


class NoticeRow(RowSerializer):
    class Meta:
        model = Notice
        fields = (
            "id",
            "alert",
            "event",
            "state",
            "message_id",
            "n_tries",
            "status",
            "error",
            "made_at",
            "next_try_at",
            "finished_at",
        )

    alert = serializers.IntegerField(source="alert_id")
    event = serializers.CharField(help_text="raised, reminder or recovered.")
    state = serializers.CharField(help_text="due, delivered, failed or dropped.")
    status = serializers.IntegerField(allow_null=True, help_text="What was answered the last time.")


class NewChannel(Body):
    """Where notices are to go."""

    kind = serializers.ChoiceField(choices=CHANNEL_KINDS)
    target = serializers.CharField(
        max_length=channels.MAX_TARGET_CHARS,
        help_text="An e-mail address, a URL, or that of a chat service.",
    )
    alert_kinds = serializers.ListField(
        child=serializers.ChoiceField(choices=ALERT_KINDS),
        required=False,
        help_text="By default all but warnings.",
    )


class Channels(ApiView):
    @endpoint(
        "list_channels",
        scope=READ,
        query=ListQuery,
        answers=listed(ChannelRow),
        tags=TAGS,
    )
    def get(self, request: Request, *, query: dict[str, Any], **_: object) -> dict[str, Any]:
        """List where notices go."""
        visible = Channel.objects.visible_to(caller_of(request))
        return page_of(visible, row=ChannelRow, request=request, query=query)

    @endpoint(
        "add_channel",
        scope=WRITE,
        needs=(Role.OPERATOR, "everywhere"),
        takes=NewChannel,
        answers=NewChannelAnswer,
        status=201,
        tags=TAGS,
    )
    def post(self, request: Request, *, body: dict[str, Any], **_: object) -> dict[str, Any]:
        """Create a channel for the notices of all sites."""
        return _answer_of(channels.add_channel(site=None, actor=caller_of(request), **body))


class SiteChannels(AtSite):
    @endpoint(
        "add_site_channel",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        takes=NewChannel,
        answers=NewChannelAnswer,
        status=201,
        tags=TAGS,
    )
    def post(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Create a channel for the notices of a site; the answer alone holds a webhook's secret."""
        return _answer_of(channels.add_channel(site=subject, actor=caller_of(request), **body))


class ChannelAddress(ApiView):
    def find(self, request: Request, *, pk: int) -> Channel:
        visible = Channel.objects.visible_to(caller_of(request)).select_related("site")
        channel = visible.filter(pk=pk).first()
        if channel is None:
            raise NotFound(f"There is no channel {pk}, or it is not yours to see.")
        return channel

    def site_of(self, subject: Channel) -> Site | None:
        return subject.site


class ChannelView(ChannelAddress):
    @endpoint(
        "remove_channel",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        answers=None,
        status=204,
        tags=TAGS,
    )
    def delete(self, request: Request, *, subject: Channel, **_: object) -> Response:
        """Delete a channel with the log of its notices."""
        channels.remove_channel(channel=subject, actor=caller_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class PauseChannel(ChannelAddress):
    @endpoint(
        "pause_channel", scope=WRITE, needs=(Role.OPERATOR, "there"), answers=ChannelRow, tags=TAGS
    )
    def post(self, request: Request, *, subject: Channel, **_: object) -> dict[str, Any]:
        """Send nothing there until it is resumed."""
        channels.switch_channel(channel=subject, is_active=False, actor=caller_of(request))
        return _row_of(subject)


class ResumeChannel(ChannelAddress):
    @endpoint(
        "resume_channel", scope=WRITE, needs=(Role.OPERATOR, "there"), answers=ChannelRow, tags=TAGS
    )
    def post(self, request: Request, *, subject: Channel, **_: object) -> dict[str, Any]:
        """Send there again, also what could not be delivered and is still true."""
        channels.switch_channel(channel=subject, is_active=True, actor=caller_of(request))
        return _row_of(subject)


class Notices(ChannelAddress):
    @endpoint(
        "list_notices",
        scope=READ,
        needs=(Role.OPERATOR, "there"),
        query=ListQuery,
        answers=listed(NoticeRow),
        tags=TAGS,
    )
    def get(
        self, request: Request, *, subject: Channel, query: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """List the notices of a channel and how they went, the newest first."""
        sent = Notice.objects.filter(channel=subject)
        return page_of(sent, row=NoticeRow, request=request, query=query, newest_first=True)


def _row_of(channel: Channel) -> dict[str, Any]:
    return ChannelRow.read(Channel.objects.filter(pk=channel.pk))[0]


def _answer_of(channel: Channel) -> dict[str, Any]:
    return _row_of(channel) | {"secret": channels.secret_of(channel)}
