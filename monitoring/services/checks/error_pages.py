"""Learn how the error pages of a site look: ask for what does not exist, remember what stood for pages."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from django.utils import timezone

from monitoring.algorithms import soft_errors
from monitoring.algorithms.error_pages import ErrorSignature, missing_address, signature_of
from monitoring.models import ErrorPage
from monitoring.services.checks.fresh_pages import FreshPage, PageFetcher
from monitoring.services.checks.tested_pages import read_tree
from monitoring.services.checks.testing import TestedCluster
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.texts import storable

ASK_AGAIN_AFTER = timedelta(days=7)
MOST_ASKED = 2  # addresses
MOST_KEPT = 20  # of a site
SECONDS = 60.0  # for asking
LEARNT_KINDS = frozenset(
    {
        soft_errors.SOFT_404,
        soft_errors.CAPTCHA,
        soft_errors.LOGIN_WALL,
        soft_errors.CONSENT_WALL,
        soft_errors.MAINTENANCE,
        soft_errors.SHARED_ANSWER,
    }
)


def error_signatures(site: Site) -> list[ErrorSignature]:
    """Return how error pages of a site look, those last seen first."""
    rows = ErrorPage.objects.filter(site=site).order_by("-seen_at", "-pk")[:MOST_KEPT]
    return [ErrorSignature(row.kind, row.heading, frozenset(row.words)) for row in rows]


def was_asked(site: Site) -> bool:
    """Say whether it is known of late what a site answers to addresses that do not exist."""
    asked = ErrorPage.objects.filter(site=site, source=ErrorPage.Source.ASKED)
    return asked.filter(seen_at__gt=timezone.now() - ASK_AGAIN_AFTER).exists()


def ask_for_missing(run: JobRun, site: Site, urls: Iterable[str]) -> list[tuple[str, FreshPage]]:
    """Fetch addresses beside some pages that do not exist, one for each folder. Raises HostTaken."""
    word = secrets.token_hex(8)
    wanted = list(dict.fromkeys(missing_address(url, word) for url in urls))[:MOST_ASKED]
    with PageFetcher(site, run, seconds=SECONDS, tries=1) as visitor:
        found = [(url, visitor.visit(url)) for url in wanted]
    return [(url, page) for url, page in found if isinstance(page, FreshPage)]


def keep_asked(*, site: Site, answers: Sequence[tuple[str, FreshPage]]) -> None:
    """Remember what a site answers to addresses that do not exist, also where that is a plain 404."""
    for url, page in answers:
        kind = soft_errors.of_status(page.status) if page.is_error else soft_errors.SOFT_404
        _keep(site, _signature(kind, page, url), ErrorPage.Source.ASKED, url)


def keep_seen(
    *, site: Site, tested: Sequence[TestedCluster], fresh: Mapping[str, FreshPage]
) -> None:
    """Remember the errors that a check found in place of pages."""
    for cluster in tested:
        for test in cluster.tests:
            if test.why in LEARNT_KINDS and test.url in fresh:
                signature = _signature(test.why, fresh[test.url], test.url)
                _keep(site, signature, ErrorPage.Source.SEEN, test.url)
    kept = ErrorPage.objects.filter(site=site).order_by("-seen_at", "-pk")
    ErrorPage.objects.filter(pk__in=list(kept.values_list("pk", flat=True)[MOST_KEPT:])).delete()


def _signature(kind: str, page: FreshPage, url: str) -> ErrorSignature:
    tree, _ = read_tree(page)
    if tree is None or page.is_error:
        return ErrorSignature(kind, "", frozenset())
    return signature_of(kind, soft_errors.read_shown(tree), url)


def _keep(site: Site, signature: ErrorSignature, source: ErrorPage.Source, url: str) -> None:
    ErrorPage.objects.update_or_create(
        site=site,
        digest=signature.digest,
        defaults={"seen_at": timezone.now()},
        create_defaults={
            "kind": signature.kind,
            "source": source,
            "url": storable(url),
            "heading": storable(signature.heading, 300),
            "words": sorted(signature.words),
        },
    )
