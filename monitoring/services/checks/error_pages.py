"""Learn how a site's error pages look: fetch what does not exist, store what replaced pages."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from django.utils import timezone

from clustering.services.crawl.errands import open_errands
from monitoring.algorithms import soft_errors
from monitoring.algorithms.error_pages import ErrorSignature, missing_address, signature_of
from monitoring.models import ErrorPage
from monitoring.services.checks.fresh_pages import FreshPage, errand_for, page_of
from monitoring.services.checks.tested_pages import read_tree
from monitoring.services.checks.testing import TestedCluster
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.texts import storable

PROBE_AGAIN_AFTER = timedelta(days=7)
MAX_PROBES = 2  # addresses that do not exist
MAX_SIGNATURES = 20  # of a site
PROBE_SECONDS = 60.0  # for all of them
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
    rows = ErrorPage.objects.filter(site=site).order_by("-seen_at", "-pk")[:MAX_SIGNATURES]
    return [ErrorSignature(row.kind, row.heading, frozenset(row.words)) for row in rows]


def was_probed(site: Site) -> bool:
    """Return whether it was read lately what a site answers to addresses that do not exist."""
    probes = ErrorPage.objects.filter(site=site, source=ErrorPage.Source.ASKED)
    return probes.filter(seen_at__gt=timezone.now() - PROBE_AGAIN_AFTER).exists()


def fetch_missing(run: JobRun, urls: Iterable[str]) -> list[tuple[str, FreshPage]]:
    """Fetch nonexistent addresses beside some pages, one for each folder. Raises HostTaken."""
    word = secrets.token_hex(8)
    wanted = list(dict.fromkeys(missing_address(url, word) for url in urls))[:MAX_PROBES]
    with open_errands(run) as errands:
        probes = [errand_for(url, tries=1) for url in wanted]
        results = [
            (probe.url, page_of(probe)) for probe in errands.do(probes, seconds=PROBE_SECONDS)
        ]
    return [(url, result) for url, result in results if isinstance(result, FreshPage)]


def save_probes(*, site: Site, answers: Sequence[tuple[str, FreshPage]]) -> None:
    """Store what a site answers to addresses that do not exist, also where that is a plain 404."""
    for url, page in answers:
        kind = soft_errors.of_status(page.status) if page.is_error else soft_errors.SOFT_404
        _save(site, _signature(kind, page, url), ErrorPage.Source.ASKED, url)


def save_seen(
    *, site: Site, tested: Sequence[TestedCluster], fresh: Mapping[str, FreshPage]
) -> None:
    """Store the errors that a check found in place of pages, and delete the oldest of too many."""
    for cluster in tested:
        for test in cluster.tests:
            if test.why in LEARNT_KINDS and test.url in fresh:
                signature = _signature(test.why, fresh[test.url], test.url)
                _save(site, signature, ErrorPage.Source.SEEN, test.url)
    newest_first = ErrorPage.objects.filter(site=site).order_by("-seen_at", "-pk")
    surplus = list(newest_first.values_list("pk", flat=True)[MAX_SIGNATURES:])
    ErrorPage.objects.filter(pk__in=surplus).delete()


def _signature(kind: str, page: FreshPage, url: str) -> ErrorSignature:
    tree, _ = read_tree(page)
    if tree is None or page.is_error:
        return ErrorSignature(kind, "", frozenset())
    return signature_of(kind, soft_errors.read_shown(tree), url)


def _save(site: Site, signature: ErrorSignature, source: ErrorPage.Source, url: str) -> None:
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
