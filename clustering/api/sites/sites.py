"""Routes of sites."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from clustering.services.crawl.limits import MAX_DELAY
from clustering.services.sites import retention, sites
from vertex.core.api.endpoints import ApiView, endpoint
from vertex.core.api.jobs.jobs import job_endpoint, row_of_job
from vertex.core.api.paging import page_of
from vertex.core.api.permissions import caller_of, visible_site
from vertex.core.api.serializers import Body, ListQuery, RowSerializer, listed
from vertex.core.models import Role, Scope, Site
from vertex.core.models.sites import SITE_NAME


class SiteRow(RowSerializer):
    class Meta:
        model = Site
        fields = (
            "name",
            "title",
            "root_url",
            "extra_hosts",
            "crawl_delay",
            "obey_robots",
            "render",
            "snapshots_kept",
            "match_by",
            "country",
            "n_pages",
            "created_at",
            "last_snapshot_at",
        )

    extra_hosts = serializers.ListField(
        child=serializers.CharField(),
        help_text="Further host names whose pages belong to the site.",
    )


class SitesQuery(ListQuery):
    search = serializers.CharField(
        max_length=200, required=False, help_text="Words in the name, title or address."
    )


class SiteSettings(Body):
    """What can be changed of a site."""

    title = serializers.CharField(max_length=200, allow_blank=True, required=False)
    extra_hosts = serializers.ListField(
        child=serializers.CharField(max_length=270),
        max_length=sites.MAX_EXTRA_HOSTS,
        required=False,
    )
    crawl_delay = serializers.FloatField(
        min_value=0,
        max_value=MAX_DELAY,
        required=False,
        help_text="Seconds between two requests to a host.",
    )
    obey_robots = serializers.BooleanField(required=False)
    render = serializers.BooleanField(required=False, help_text="Fetch pages with a real browser.")
    snapshots_kept = serializers.IntegerField(
        min_value=1,
        max_value=10_000,
        allow_null=True,
        required=False,
        help_text="Snapshots kept of each page; null for the installation's number.",
    )
    match_by = serializers.ChoiceField(
        choices=Site.MatchBy.choices,
        required=False,
        help_text="How extraction finds the cluster of a page: `model` asks the clustering, "
        "`signature` "
        "goes by address, signature and importance as Vertex does (IV-A).",
    )
    country = serializers.CharField(
        max_length=2,
        allow_blank=True,
        required=False,
        help_text="ISO 3166, by which telephone numbers and shared currency signs are read; blank: "
        "that of the host name.",
    )


class NewSite(SiteSettings):
    """A site to be added."""

    name = serializers.RegexField(
        SITE_NAME.regex, trim_whitespace=False, help_text=SITE_NAME.message
    )
    root_url = serializers.CharField(
        max_length=2048, help_text="The site's home page, with http or https."
    )


class Sites(ApiView):
    @endpoint(
        "list_sites",
        scope=Scope.SITES_READ,
        query=SitesQuery,
        answers=listed(SiteRow),
        tags=["sites"],
    )
    def get(self, request: Request, *, query: dict[str, Any], **_: object) -> dict[str, Any]:
        """List the sites that the caller may see, by name."""
        visible = Site.objects.visible_to(caller_of(request)).matching(query.get("search", ""))
        return page_of(visible, row=SiteRow, request=request, query=query, key="name")

    @endpoint(
        "add_site",
        scope=Scope.SITES_WRITE,
        needs=(Role.OPERATOR, "everywhere"),
        takes=NewSite,
        answers=SiteRow,
        status=201,
        errors=(409,),
        tags=["sites"],
    )
    def post(self, request: Request, *, body: dict[str, Any], **_: object) -> dict[str, Any]:
        """Add a site."""
        return row_of_site(sites.add_site(**body, actor=caller_of(request)))


class SiteView(ApiView):
    def find(self, request: Request, *, name: str) -> Site:
        return visible_site(request, name)

    def site_of(self, subject: Site) -> Site:
        return subject

    @endpoint(
        "read_site",
        scope=Scope.SITES_READ,
        needs=(Role.VIEWER, "there"),
        answers=SiteRow,
        tags=["sites"],
    )
    def get(self, _request: Request, *, subject: Site, **_: object) -> dict[str, Any]:
        """Show a site and its settings."""
        return row_of_site(subject)

    @endpoint(
        "change_site",
        scope=Scope.SITES_WRITE,
        needs=(Role.OPERATOR, "there"),
        takes=SiteSettings,
        answers=SiteRow,
        tags=["sites"],
    )
    def patch(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Change the settings that are given and leave the others."""
        sites.change_site(site=subject, actor=caller_of(request), **body)
        return row_of_site(subject)

    @job_endpoint(
        "delete_site",
        scope=Scope.SITES_WRITE,
        needs=(Role.ADMINISTRATOR, "there"),
        tags=["sites"],
    )
    def delete(self, request: Request, *, subject: Site, **_: object) -> dict[str, Any]:
        """Take the site out of sight and let a job delete it with all that it owns."""
        return row_of_job(retention.start_deletion(site=subject, actor=caller_of(request)))


def row_of_site(site: Site) -> dict[str, Any]:
    """Return a site as it is now."""
    return SiteRow.read(Site.objects.filter(pk=site.pk))[0]
