"""The impact of a rule: it and the one in use run on all stored pages of the cluster."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from rules.models import Impact, Rule
from rules.services.review import impacts
from rules.services.review.impacts import (
    changed_constant_fields,
    compute_impact,
    is_outdated,
    start_impact,
)
from rules.services.review.publishing import publish_rule
from tests.apps.rules.record_cast import STYLESHEET, rule_of
from tests.apps.rules.review_cast import (
    OTHER_NAMES,
    WITHOUT_PRICE,
    compared,
    person,
    shop_with_draft,
)
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobExists, run_job

pytestmark = pytest.mark.django_db
N = 27  # 25 pages and two samples


def impact_of(rule: Rule) -> Impact:
    start_impact(rule=rule, actor=None)
    return compared(rule)


def counts(impact: Impact) -> dict[str, dict[str, int]]:
    table = impact.figures["counts"]
    return {name: {kind: n for kind, n in row.items() if n} for name, row in table.items()}


def test_what_is_lost_is_counted_field_by_field() -> None:
    impact = impact_of(shop_with_draft(WITHOUT_PRICE))

    assert {"": {"changed": N}, "name": {"same": N}, "price": {"lost": N}} == counts(impact)
    assert (N, 1) == (impact.figures["pages"], impact.against_version)
    lost = [example for example in impact.examples if example["attribute"] == "price"]
    assert (25, "lost", "$1.00", None) == (
        len(lost),
        *(lost[0][name] for name in ("kind", "was", "now")),
    )


def test_without_a_rule_in_use_everything_is_gained() -> None:
    impact = impact_of(shop_with_draft(is_first=True))

    assert {"": {"gained": 26}, "name": {"gained": 26}, "price": {"gained": 26}} == counts(impact)


def test_the_same_stylesheet_changes_nothing() -> None:
    assert {"": {"same": N}, "name": {"same": N}, "price": {"same": N}} == counts(
        impact_of(shop_with_draft())
    )


def test_changed_constants_block_publishing_until_forced() -> None:
    rule = shop_with_draft(OTHER_NAMES)
    impact_of(rule)

    assert [f"name changes in {N} records of stored pages"] == changed_constant_fields(rule)
    with pytest.raises(ValidationError, match="name changes"):
        publish_rule(rule=rule)
    publish_rule(rule=rule, is_forced=True, reason="the names are right now")
    assert "published" == rule.state


def test_another_rule_in_use_makes_it_outdated() -> None:
    rule = shop_with_draft(OTHER_NAMES)
    impact = impact_of(rule)
    assert not is_outdated(impact)
    Rule.objects.published().update(state=Rule.State.RETIRED)
    rule_of(rule.cluster.site)

    assert is_outdated(impact)
    assert [] == changed_constant_fields(rule)


def test_a_changed_stylesheet_makes_it_outdated() -> None:
    rule = shop_with_draft(OTHER_NAMES)
    impact = impact_of(rule)
    impact.rule.stylesheet = STYLESHEET

    assert is_outdated(impact)


def test_a_run_that_was_cut_off_goes_on_and_counts_nothing_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(impacts, "PAGES_PER_BATCH", 10)
    rule = shop_with_draft(WITHOUT_PRICE)
    impact = start_impact(rule=rule)
    renewed: list[Any] = []
    renew = jobs.JobRun.renew

    def killed_at_the_third(run: jobs.JobRun, **told: Any) -> None:
        if told:  # else it is kept alive in the middle of a step
            renewed.append(told)
            if len(renewed) == 3:
                raise SystemExit
        renew(run, **told)

    monkeypatch.setattr(jobs.JobRun, "renew", killed_at_the_third)
    assert impact.job_id is not None
    with pytest.raises(SystemExit):
        run_job(impact.job_id, compute_impact)
    impact.refresh_from_db()
    assert 20 == impact.figures["pages"]
    compared(rule)
    impact.refresh_from_db()

    assert (N, {"lost": N}) == (impact.figures["pages"], counts(impact)["price"])


def test_one_comparison_of_a_rule_at_a_time() -> None:
    rule = shop_with_draft()
    start_impact(rule=rule, actor=person("rob"))

    with pytest.raises(JobExists):
        start_impact(rule=rule)
    assert 1 == Impact.objects.count()
    assert not connection.needs_rollback
