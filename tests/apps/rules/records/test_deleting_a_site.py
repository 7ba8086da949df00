"""Deleting a site takes its rules, and the reviews of them, along."""

from __future__ import annotations

import pytest

from clustering.models import Page
from clustering.services.sites import retention
from rules.models import JudgedPage, Rule, RuleSample
from tests.apps.rules.review_cast import proposed, shop_with_draft
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import run_job

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def test_a_site_with_rules_and_reviews_is_deleted_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "ROWS_PER_TRANSACTION", 10)  # more pages than one step takes
    rule = shop_with_draft()
    proposed(rule)
    assert JudgedPage.objects.exists()
    assert RuleSample.objects.exists()
    request = retention.start_deletion(site=rule.cluster.site, actor=None)
    job = run_job(request.pk, retention.delete_site)

    assert (Job.State.DONE, "") == (job.state, job.error)
    assert [] == [
        model for model in (Site, Page, Rule, RuleSample, JudgedPage) if model.objects.exists()
    ]
