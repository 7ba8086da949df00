"""When a site's clusters count as broken, and what other numbers would have made of its checks."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from monitoring.algorithms.site_change import FailedField, PageTest
from monitoring.algorithms.verdicts import Thresholds
from monitoring.algorithms.what_if_thresholds import PastCheck, WhatIf, judge_again
from monitoring.models import Check, CheckedPage, SiteThresholds
from vertex.core.models import Site, User
from vertex.core.services.people import audit

MAX_CHECKS_JUDGED = 200
SETS = ("vanished", "displaced", "had", "lost")  # signs of a page
EXPLANATIONS = {
    "pages": "Share of the pages with a field that must lose it before the field counts as lost. "
    "The paper's "
    "majority is 0.5.",
    "quorum": "Share of the pages that must lose most of their fields before a part of a "
    "cluster counts as "
    "redesigned.",
    "coverage_drop": "Drop of the pages with all mandatory values that confirms it as well.",
    "reachable": "Share of the bellwethers that must still show what they showed. "
    "With fewer a cluster is "
    "never broken, and a check asks again later.",
    "rules": "Share of the site's rules: when no more break, the paper saw false alarms. "
    "It is shown beside "
    "the verdict and changes nothing.",
    "crawl_drop": "Drop of the share of crawled pages that give a record, "
    "or of records with an attribute.",
}


def thresholds_of(site: Site) -> Thresholds:
    """Return a site's thresholds: those chosen for it, else the defaults."""
    row = SiteThresholds.objects.filter(site=site).first()
    return row.as_values() if row else Thresholds()


def choose_thresholds(*, site: Site, actor: User | None = None, **numbers: float) -> Thresholds:
    """Choose some of a site's thresholds; the others stay. Raises ValidationError."""
    unknown = set(numbers) - set(EXPLANATIONS)
    if unknown:
        raise ValidationError(dict.fromkeys(sorted(unknown), "There is no such threshold."))
    with transaction.atomic():
        row, _ = SiteThresholds.objects.select_for_update().get_or_create(site=site)
        before = asdict(row.as_values())
        for name, number in numbers.items():
            setattr(row, name, number)
        row.changed_at, row.changed_by = timezone.now(), actor
        row.full_clean(exclude=["site", "changed_by"])
        row.save()
        changed = {
            name: [before[name], number]
            for name, number in numbers.items()
            if before[name] != number
        }
        if changed:
            audit.record(
                actor=actor,
                action="thresholds.changed",
                subject=site.name,
                site=site,
                detail=changed,
            )
    return row.as_values()


def reset_thresholds(*, site: Site, actor: User | None = None) -> None:
    """Reset a site's thresholds to the defaults."""
    with transaction.atomic():
        if SiteThresholds.objects.filter(site=site).delete()[0]:
            audit.record(actor=actor, action="thresholds.reset", subject=site.name, site=site)


def judge_history(site: Site, thresholds: Thresholds, *, n: int = MAX_CHECKS_JUDGED) -> WhatIf:
    """Judge a site's last checks by other thresholds."""
    checks = (
        Check.objects.done().filter(site=site).prefetch_related("pages__cluster", "pages__page")
    )
    return judge_again([past_check_of(check) for check in checks.order_by("-id")[:n]], thresholds)


def past_check_of(check: Check) -> PastCheck:
    """Return a check as it is judged again."""
    tests: dict[str, list[PageTest]] = {}
    for page in check.pages.all():
        tests.setdefault(page.cluster.name, []).append(page_test_of(page))
    coverage: dict[str, tuple[float, float]] = {
        verdict["cluster"]: tuple(verdict["coverage"])
        for verdict in check.clusters
        if verdict.get("coverage")
    }
    layouts = {verdict["cluster"]: verdict.get("layouts", ()) for verdict in check.clusters}
    return PastCheck(check.pk, tests, coverage, frozenset(check.broken), layouts)


def page_test_of(page: CheckedPage) -> PageTest:
    """Return the tests of a page as a check stored them."""
    outcome: Any = page.outcome
    signs = {sign: frozenset(page.signs.get(sign, ())) for sign in SETS}
    return PageTest(
        url=page.page.url,
        outcome=outcome,
        shingle_test=page.shingle_test,
        field_test=page.field_test,
        structure_test=page.structure_test,
        failed=tuple(FailedField.from_json(failed) for failed in page.failed),
        vanished=signs["vanished"],
        displaced=signs["displaced"],
        had=signs["had"],
        lost=signs["lost"],
        form_likeness=page.signs.get("form_likeness", 1.0),
        has_other_values=page.signs.get("has_other_values", False),
        why=page.why,
    )
