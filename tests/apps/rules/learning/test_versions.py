"""Versions of a rule: numbered one after the other, each with the pages that it was learnt from."""

from __future__ import annotations

import pytest
from django.db import transaction

from clustering.models import Snapshot
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import Alternative, AttributeRule
from rules.models import Rule, RuleSample
from rules.services.learning.sample_pages import SamplePages
from rules.services.learning.versions import figure_of, lock_versions, save_version
from tests.apps.rules.shop_cast import learnt_shop

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

NO_PAGES = SamplePages([], [], [])


def draft_after(rule: Rule) -> Rule:
    return Rule(cluster=rule.cluster, vertical=rule.vertical, stylesheet=rule.stylesheet)


def test_a_new_version_gets_the_next_number() -> None:
    _, first = learnt_shop()
    second = draft_after(first)
    save_version(second, pages=NO_PAGES, actor=None)

    assert (1, 2) == (first.version, second.version)
    assert Rule.State.DRAFT == second.state


def test_an_existing_version_keeps_its_number_and_has_the_new_pages_only() -> None:
    _, first = learnt_shop()
    draft = draft_after(first)
    before, after = Snapshot.objects.order_by("pk")[:2]
    save_version(draft, pages=SamplePages([before], [], []), actor=None)
    save_version(draft, pages=SamplePages([], [after], []), actor=None)

    assert 2 == draft.version
    assert [(after.pk, RuleSample.Use.UNANNOTATED)] == list(
        draft.samples.values_list("snapshot", "use")
    )


def test_the_newest_version_is_locked_and_returned() -> None:
    _, first = learnt_shop()

    with transaction.atomic():
        assert first == lock_versions(first.cluster)


def test_the_precision_of_a_draft_is_its_share_of_right_pages() -> None:
    way = Alternative("xpath", "text()", (Feature("tag", 1, ("b",)),))
    draft = AttributeRule("a", alternatives=(way,), n_annotated=4, n_right=3)
    whole = AttributeRule("a", alternatives=(way,), n_annotated=4, n_right=4)

    figure = figure_of(draft, n_annotated=4, missing_on=[])
    assert (True, 3, 0.75) == (figure["draft"], figure["n_right"], figure["precision"])
    assert "draft" not in figure_of(whole, n_annotated=4, missing_on=[])
