"""The route of how a site is fetched."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from clustering.services.crawl.limits import MAX_DELAY
from clustering.services.sites import site_fetching
from vertex.core.api.endpoints import AtSite, endpoint
from vertex.core.api.permissions import caller_of
from vertex.core.api.serializers import Body
from vertex.core.models import Role, Scope, Site

SEALED = "Their names; values are sealed and never shown."


class FetchingRow(serializers.Serializer[Any]):
    """How a site is fetched, without what is secret."""

    crawl_delay = serializers.FloatField()
    obey_robots = serializers.BooleanField()
    render = serializers.BooleanField()
    rendered_clusters = serializers.ListField(child=serializers.CharField())
    user_agent = serializers.CharField(allow_blank=True)
    headers = serializers.ListField(child=serializers.CharField(), help_text=SEALED)
    cookies = serializers.ListField(child=serializers.CharField(), help_text=SEALED)
    proxy = serializers.CharField(allow_blank=True)
    proxy_user = serializers.CharField(allow_blank=True)
    has_proxy_password = serializers.BooleanField()
    log_in_url = serializers.CharField(allow_blank=True)
    log_in_fields = serializers.ListField(child=serializers.CharField(), help_text=SEALED)
    log_in_sign = serializers.CharField(allow_blank=True)
    log_in_problem = serializers.CharField(
        allow_blank=True, help_text="Why the last log-in failed."
    )
    logged_in_at = serializers.DateTimeField(allow_null=True)


def _secrets(help_text: str) -> serializers.DictField:
    value = serializers.CharField(
        max_length=site_fetching.MAX_VALUE, allow_null=True, trim_whitespace=False
    )
    return serializers.DictField(child=value, required=False, help_text=help_text)


class FetchingSettings(Body):
    """What can be changed of how a site is fetched."""

    crawl_delay = serializers.FloatField(min_value=0, max_value=MAX_DELAY, required=False)
    obey_robots = serializers.BooleanField(required=False)
    render = serializers.BooleanField(required=False, help_text="Fetch pages with a real browser.")
    rendered_clusters = serializers.ListField(
        child=serializers.CharField(max_length=61),
        max_length=1_000,
        required=False,
        help_text=(
            "The names of all clusters whose pages a real browser fetches, where not all are."
        ),
    )
    user_agent = serializers.CharField(
        max_length=site_fetching.MAX_USER_AGENT, allow_blank=True, required=False
    )
    headers = _secrets("New values by name; null removes a header. Others stay.")
    cookies = _secrets("New values by name; null removes a cookie. Others stay.")
    proxy = serializers.CharField(
        max_length=270,
        allow_blank=True,
        required=False,
        help_text="`host:port`, one that VERTEX_FETCH_PROXIES allows; blank for none.",
    )
    proxy_user = serializers.CharField(
        max_length=site_fetching.MAX_PROXY_USER, allow_blank=True, required=False
    )
    proxy_password = serializers.CharField(
        max_length=site_fetching.MAX_VALUE,
        allow_blank=True,
        required=False,
        trim_whitespace=False,
        help_text="Sealed and never shown; blank removes it.",
    )
    log_in_url = serializers.CharField(
        max_length=2048,
        allow_blank=True,
        required=False,
        help_text="The page with the form; blank ends the log-in and drops its fields.",
    )
    log_in_fields = _secrets(
        "What is entered, by the names of the form's fields; null removes one."
    )
    log_in_sign = serializers.CharField(
        max_length=site_fetching.MAX_SIGN,
        allow_blank=True,
        required=False,
        help_text=(
            "A text, `#id` or `.class` that every page shows only to those who are logged in."
        ),
    )


class Fetching(AtSite):
    @endpoint(
        "read_fetching",
        scope=Scope.SITES_READ,
        needs=(Role.OPERATOR, "there"),
        answers=FetchingRow,
        tags=["sites"],
    )
    def get(self, _request: Request, *, subject: Site, **_: object) -> dict[str, Any]:
        """Show how a site is fetched; of what is secret only the names."""
        return site_fetching.fetching_json(subject, site_fetching.fetching_of(subject))

    @endpoint(
        "change_fetching",
        scope=Scope.SITES_WRITE,
        needs=(Role.OPERATOR, "there"),
        takes=FetchingSettings,
        answers=FetchingRow,
        tags=["sites"],
    )
    def patch(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Change what is given of how a site is fetched and leave the rest."""
        row = site_fetching.change_fetching(site=subject, actor=caller_of(request), **body)
        return site_fetching.fetching_json(subject, row)
