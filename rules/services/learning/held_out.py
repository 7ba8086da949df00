"""The pages on which a proposed rule is judged: drawn once, from those that nobody annotated."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from django.db.models import Q, QuerySet

from annotation.models import Annotation
from clustering.models import PageMembership, Snapshot
from clustering.services.pages.stored_trees import read_snapshot
from rules.algorithms.running.record_lines import Line, line_json, lines_of_extracted
from rules.bundle.extraction import extract
from rules.models import JudgedPage, Review, Rule, RuleSample
from rules.services.learning.sample_pages import refuse_stopped
from rules.services.learning.schemas import runnable

MAX_JUDGED: Final = 20
N_SPARE: Final = 30  # pages more than needed, for those whose bytes are gone


def draw_pages(review: Review) -> None:
    """Draw the pages of a review and save what the rule extracts from them.

    Where the same stylesheet was proposed before, its pages come along with their verdicts.
    """
    before = Review.objects.filter(rule=review.rule_id, stylesheet_hash=review.stylesheet_hash)
    last = before.exclude(pk=review.pk).order_by("-pk").first()
    if last is not None and last.pages.update(review=review):
        return
    pages: list[JudgedPage] = []
    for snapshot in held_out(review.rule, MAX_JUDGED + N_SPARE):
        lines = lines_of_snapshot(review.rule, snapshot)
        if lines is None:
            continue
        records = [line_json(line, nodes=True) for line in lines]
        rank = len(pages) + 1
        pages.append(JudgedPage(review=review, snapshot=snapshot, rank=rank, records=records))
        if rank == MAX_JUDGED:
            break
    JudgedPage.objects.bulk_create(pages)


def held_out(rule: Rule, n: int) -> list[Snapshot]:
    """Return the latest snapshots of some pages of a rule's cluster that nobody annotated.

    Those that were no samples come first: a small cluster has no others than its samples. The hash
    of their addresses decides, from a point that follows from the rule: always the same pages for
    the same version, others for the next one.
    """
    samples = RuleSample.objects.filter(rule=rule).exclude(use=RuleSample.Use.HELD_OUT)
    members = pages_to_judge(rule)
    is_sample = Q(page__in=samples.values("snapshot__page"))
    start = sha256(f"{rule.cluster_id}:{rule.version}".encode()).digest()[:16]
    ids: list[int] = []
    for part in (
        members.exclude(is_sample).filter(page__url_hash__gte=start),
        members.exclude(is_sample).filter(page__url_hash__lt=start),
        members.filter(is_sample),
    ):
        by_hash = part.order_by("page__url_hash")
        ids += by_hash.values_list("page__latest_snapshot_id", flat=True)[: n - len(ids)]
    snapshot_by_pk = Snapshot.objects.select_related("page").in_bulk(ids)
    return [snapshot_by_pk[pk] for pk in ids]


def pages_to_judge(rule: Rule) -> QuerySet[PageMembership]:
    """Return the pages of a rule's cluster that nobody annotated: on these it can be judged."""
    members = PageMembership.objects.of_cluster(rule.cluster_id).learnable()
    members = members.exclude(page__in=Annotation.objects.live().values("page"))
    annotated = rule.samples.filter(use=RuleSample.Use.ANNOTATED)
    return members.exclude(page__in=annotated.values("snapshot__page"))


def lines_of_snapshot(rule: Rule, snapshot: Snapshot) -> list[Line] | None:
    """Return what a rule extracts from a snapshot; None without its bytes. Raises RuleStopped."""
    page = read_snapshot(snapshot)
    if page is None:
        return None
    runnable_rule = runnable(rule)
    extracted = extract(page, runnable_rule, nodes=True)
    refuse_stopped(snapshot, extracted)
    return lines_of_extracted(page.url, runnable_rule, extracted)


def stylesheet_hash(rule: Rule) -> str:
    """Return the hash by which a rule is known to be still the one that was inspected."""
    return sha256(rule.stylesheet.encode()).hexdigest()


def records_of(page: JudgedPage) -> list[Mapping[str, Any]]:
    """Return the records on a judged page, as attributes and values."""
    return [line.values for line in page.lines if line.values]
