"""Routes that bring something in: crawls, imports, search logs."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request

from clustering.dom.addresses import BadAddress
from clustering.services.crawl import address_lists, crawling
from clustering.services.crawl.address_lists import MAX_PASTED
from clustering.services.crawl.limits import MAX_DELAY, MAX_PAGES
from clustering.services.crawl.sitemap_crawling import sitemap_crawl_request
from clustering.services.pages import search_log, uploaded_pages
from vertex.core.api.endpoints import AtSite
from vertex.core.api.jobs.jobs import job_endpoint, row_of_job
from vertex.core.api.permissions import caller_of
from vertex.core.api.serializers import Body, StrictSerializer
from vertex.core.models import Role, Scope, Site
from vertex.core.services.files import uploads
from vertex.core.services.jobs.requests import enqueue

STRATEGIES = [(str(strategy.value), str(strategy.label)) for strategy in crawling.Strategy]


def max_pages_field() -> serializers.IntegerField:
    return serializers.IntegerField(
        min_value=1, max_value=MAX_PAGES, required=False, help_text="Stop after so many pages."
    )


def delay_field() -> serializers.FloatField:
    return serializers.FloatField(
        min_value=0,
        max_value=MAX_DELAY,
        required=False,
        help_text="Seconds between two requests to a host; by default the site's.",
    )


class NewCrawl(Body):
    """A crawl to be started."""

    entry = serializers.CharField(
        max_length=8192,
        required=False,
        help_text="Where to begin; by default at the site's home page.",
    )
    max_pages = max_pages_field()
    delay = delay_field()
    strategy = serializers.ChoiceField(choices=STRATEGIES, required=False)


class SearchLogUpload(StrictSerializer):
    """A search log to be read."""

    file = serializers.FileField(help_text="Lines of query, URL and clicks, with tabs between.")


class PagesUpload(StrictSerializer):
    """Pages to be imported."""

    file = serializers.FileField(help_text="A zip, a WARC (also .gz or .zst) or a single page.")
    manifest = serializers.FileField(
        required=False,
        help_text="Lines of JSON that name the files of the zip and their addresses.",
    )
    base_url = serializers.CharField(
        max_length=8192,
        required=False,
        help_text="What the files of a zip without manifest are relative to; "
        "by default the site's root.",
    )


class Crawls(AtSite):
    @job_endpoint(
        "crawl_site",
        scope=Scope.PAGES_WRITE,
        needs=(Role.OPERATOR, "there"),
        takes=NewCrawl,
        tags=["incoming"],
    )
    def post(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Start a crawl as a job."""
        return row_of_job(
            enqueue(crawling.crawl_request(site=subject, **body), actor=caller_of(request))
        )


class Imports(AtSite):
    parser_classes = (MultiPartParser,)
    max_megabytes = settings.MAX_UPLOAD_MB + 1  # the form around the file is no megabyte

    @job_endpoint(
        "import_pages",
        scope=Scope.PAGES_WRITE,
        needs=(Role.OPERATOR, "there"),
        takes=PagesUpload,
        errors=(409, 507),
        tags=["incoming"],
    )
    def post(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Upload pages, to be imported by a job."""
        files = [body[name] for name in ("file", "manifest") if name in body]
        try:
            job = uploaded_pages.import_uploads(
                site=subject,
                files=files,
                base_url=body.get("base_url", ""),
                actor=caller_of(request),
            )
        except BadAddress as error:
            raise ValidationError({"base_url": [str(error)]}) from None
        except uploaded_pages.UnfitUploads as error:
            raise ValidationError({"file": [str(error)]}) from None
        return row_of_job(job)


class NewSitemapCrawl(Body):
    """A crawl of what sitemaps list."""

    sitemap = serializers.CharField(
        max_length=8192,
        required=False,
        help_text="The sitemap to read; by default those that robots.txt names, else /sitemap.xml.",
    )
    max_pages = max_pages_field()
    delay = delay_field()


class SitemapCrawls(AtSite):
    @job_endpoint(
        "crawl_sitemaps",
        scope=Scope.PAGES_WRITE,
        needs=(Role.OPERATOR, "there"),
        takes=NewSitemapCrawl,
        tags=["incoming"],
    )
    def post(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Start a crawl of what the site's sitemaps list as a job."""
        return row_of_job(
            enqueue(sitemap_crawl_request(site=subject, **body), actor=caller_of(request))
        )


class NewAddressList(Body):
    """Addresses to be visited."""

    addresses = serializers.ListField(
        child=serializers.CharField(max_length=8192),
        min_length=1,
        max_length=MAX_PASTED,
        help_text="Pages of the site, to be visited in this order; their links are not followed.",
    )
    delay = delay_field()


class AddressLists(AtSite):
    @job_endpoint(
        "visit_addresses",
        scope=Scope.PAGES_WRITE,
        needs=(Role.OPERATOR, "there"),
        takes=NewAddressList,
        errors=(409, 507),
        tags=["incoming"],
    )
    def post(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Start a visit of addresses as a job; those of other sites are refused with their line."""
        job = address_lists.visit_pasted(
            site=subject,
            addresses=body["addresses"],
            delay=body.get("delay"),
            actor=caller_of(request),
        )
        return row_of_job(job)


class SearchLogs(AtSite):
    parser_classes = (MultiPartParser,)
    max_megabytes = settings.MAX_UPLOAD_MB + 1

    @job_endpoint(
        "import_search_log",
        scope=Scope.PAGES_WRITE,
        needs=(Role.OPERATOR, "there"),
        takes=SearchLogUpload,
        errors=(409, 507),
        tags=["incoming"],
    )
    def post(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Upload a search log, to be read by a job."""
        file = body["file"]
        path = uploads.keep_upload(chunks=file.chunks(), name=file.name)
        try:
            job = enqueue(
                search_log.search_log_request(site=subject, source=path), actor=caller_of(request)
            )
        except BaseException:  # no job will read the file: it must not stay
            uploads.drop_upload(path)
            raise
        return row_of_job(job)
