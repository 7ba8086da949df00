"""Judge the pages of a review: whether what the rule extracts is right; figures stay with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from rules.algorithms.review.reliability import ValueJudgement
from rules.algorithms.review.validity import Judgement, Score, Validity, validity_of
from rules.models import JudgedPage, Review, Rule
from rules.services.learning.held_out import pages_to_judge, records_of
from vertex.core.models import User
from vertex.core.services.people import audit


def judge(
    *, page: JudgedPage, verdict: str, marked: Iterable[str] = (), actor: User | None
) -> None:
    """Store what a person says of a page; a blank verdict withdraws it.

    Raises ValidationError where the review is decided, or an attribute is not the rule's.
    """
    if verdict not in JudgedPage.Verdict.values:
        raise ValidationError(f"{verdict!r} is no verdict; say right, wrong or skipped.")
    names = [attribute.name for attribute in page.review.rule.attributes]
    wrong: list[str] = []
    if verdict == JudgedPage.Verdict.WRONG:
        marked = set(marked)
        wrong = [name for name in names if name in marked]
    with transaction.atomic():
        review = (
            Review.objects.select_for_update(no_key=True)
            .select_related(None)
            .get(pk=page.review_id)
        )
        if review.outcome:
            raise ValidationError(
                f"The review ended: {review.get_outcome_display().lower()}. "
                "Propose the rule again first."
            )
        JudgedPage.objects.filter(pk=page.pk).update(
            verdict=verdict,
            marked=wrong,
            judged_at=timezone.now() if verdict else None,
            judged_by=actor if verdict else None,
        )
        page.refresh_from_db()
        store_figures(review)
        audit.record(
            actor=actor,
            action="page.judged",
            subject=page.snapshot.page.url,
            site=page.snapshot.page.site,
            detail={
                "rule": str(page.review.rule),
                "verdict": verdict or "taken back",
                "marked": wrong,
            },
        )


def validity_so_far(review: Review) -> Validity:
    """Return what the pages that were judged so far come to."""
    judged = review.pages.filter(verdict__in=[JudgedPage.Verdict.RIGHT, JudgedPage.Verdict.WRONG])
    judgements = [
        Judgement(
            records_of(page), page.verdict == JudgedPage.Verdict.RIGHT, frozenset(page.marked)
        )
        for page in judged
    ]
    return validity_of(
        judgements,
        [attribute.name for attribute in review.rule.attributes],
        n_others=max(0, pages_to_judge(review.rule).count() - len(judgements)),
    )


def value_judgements(rule: Rule) -> list[ValueJudgement]:
    """Return how sure a rule was of each value on its judged pages, and whether it was right."""
    judged = JudgedPage.objects.filter(
        review__rule=rule, verdict__in=[JudgedPage.Verdict.RIGHT, JudgedPage.Verdict.WRONG]
    )
    values = []
    for page in judged:
        is_page_right = page.verdict == JudgedPage.Verdict.RIGHT
        for line in page.lines:
            if line.record is None:
                continue
            for name, confidence in line.record.confidence.items():
                is_right = is_page_right or bool(page.marked and name not in page.marked)
                values.append(ValueJudgement(confidence, is_right))
    return values


def store_figures(review: Review) -> None:
    """Store with the rule how it was judged, by which its attributes are trusted."""
    rule = Rule.objects.select_for_update(no_key=True).get(pk=review.rule_id)
    validity = validity_so_far(review)
    rule.validation = rule.validation | {
        "judged": {
            "pages": validity.n_pages,
            **_score_json(validity.whole),
            "attributes": {name: _score_json(score) for name, score in validity.attributes.items()},
        },
    }
    rule.save(update_fields=["validation"])


def _score_json(score: Score) -> dict[str, Any]:
    return {
        "right": score.right,
        "wrong": score.wrong,
        "missed": score.missed,
        "precision": score.precision,
        "recall": score.recall,
        "least_recall": score.least_recall,
        "is_valid": score.is_valid,
        "standing": score.standing,
    }
