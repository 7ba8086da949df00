"""Clusters that show what a site looked like before a redesign are known by their stale records."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.services.samples.worth import FROM_BEFORE, reasons_to_leave_out
from clustering.models import Annotating, Cluster, Page, Snapshot
from rules.models import Record, Rule
from rules.services.records.stale_records import clusters_from_before, mark_stale
from tests.apps.annotation.cast import cluster_of
from tests.apps.clustering.api_cast import page_of, site_of
from tests.apps.rules.record_cast import record_of, rule_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def rule() -> Rule:
    return rule_of(site_of("shop"))


@pytest.fixture
def left(rule: Rule) -> Cluster:
    """Return a cluster of four pages that a redesign left behind and that no rule reads."""
    pages = [page_of(rule.cluster.site, f"old{number}") for number in range(4)]
    for page in pages:
        record_of(rule, page)
    mark_stale(cluster=rule.cluster, since=timezone.now())
    return cluster_of(rule.cluster.site, "left", pages)


def see_again(cluster: Cluster, n_pages: int) -> None:
    """Let so many pages of a cluster be seen now as they are stored."""
    pages = Page.objects.filter(memberships__cluster=cluster).order_by("pk")[:n_pages]
    now = timezone.now() + timedelta(seconds=1)
    Snapshot.objects.filter(page__in=list(pages)).update(seen_at=now)


def test_most_of_its_pages_hold_stale_records_and_were_not_seen_since(left: Cluster) -> None:
    assert {left.pk} == clusters_from_before([left.pk])

    see_again(left, 1)
    assert {left.pk} == clusters_from_before([left.pk])
    see_again(left, 2)
    assert set() == clusters_from_before([left.pk])


def test_what_was_only_not_visited_for_long_is_none(rule: Rule, left: Cluster) -> None:
    Record.objects.update(stale_since=None)
    Snapshot.objects.update(seen_at=timezone.now() - timedelta(days=900))

    assert set() == clusters_from_before([left.pk])


def test_what_a_rule_serves_is_none(rule: Rule, left: Cluster) -> None:
    Rule.objects.filter(pk=rule.pk).update(cluster=left)

    assert set() == clusters_from_before([left.pk])


def test_it_is_not_asked_for_unless_a_person_wants_it(left: Cluster) -> None:
    assert {left.pk: FROM_BEFORE} == reasons_to_leave_out([left])
    assert 4 == Record.objects.there().count()

    left.annotating = Annotating.WANTED
    left.save()
    assert {} == reasons_to_leave_out([left])
