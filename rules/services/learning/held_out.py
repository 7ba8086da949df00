"""The pages on which a proposed rule is judged: drawn once, from those that it was not learnt from."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from annotation.models import Annotation
from clustering.algorithms.grouping import RawPage
from clustering.models import PageMembership, Snapshot
from rules.algorithms.running.record_lines import Line, line_json, lines_of_extracted
from rules.bundle.extraction import extract
from rules.models import JudgedPage, Review, Rule, RuleSample
from rules.services.learning.sample_pages import refuse_stopped
from rules.services.learning.schemas import runnable
from vertex.core.storage import BodyDamaged, BodyMissing, page_store

N_JUDGED = 20
N_TRIED = 30  # pages more than needed, for those whose bytes are gone


def draw_pages(review: Review) -> None:
    """Draw the pages of a review and keep what the rule extracts from them.

    Where the same stylesheet was proposed before, its pages come along with what was said of them.
    """
    before = Review.objects.filter(rule=review.rule_id, stylesheet_hash=review.stylesheet_hash)
    last = before.exclude(pk=review.pk).order_by("-pk").first()
    if last is not None and last.pages.update(review=review):
        return
    drawn: list[JudgedPage] = []
    for snapshot in held_out(review.rule, N_JUDGED + N_TRIED):
        lines = lines_of_snapshot(review.rule, snapshot)
        if lines is not None:
            drawn.append(
                JudgedPage(
                    review=review,
                    snapshot=snapshot,
                    rank=len(drawn) + 1,
                    records=[line_json(line, nodes=True) for line in lines],
                )
            )
        if len(drawn) == N_JUDGED:
            break
    JudgedPage.objects.bulk_create(drawn)


def held_out(rule: Rule, n: int) -> list[Snapshot]:
    """Return the latest snapshots of some pages of a rule's cluster that are neither samples nor annotated.

    The hash of their addresses decides, from a point that follows from the rule: the same pages for the same
    version always, others for the next one.
    """
    samples = RuleSample.objects.filter(rule=rule).exclude(use=RuleSample.Use.HELD_OUT)
    members = PageMembership.objects.of_cluster(rule.cluster_id).learnable()
    members = members.exclude(page__in=samples.values("snapshot__page"))
    members = members.exclude(page__in=Annotation.objects.live().values("page")).order_by(
        "page__url_hash"
    )
    start = sha256(f"{rule.cluster_id}:{rule.version}".encode()).digest()[:16]
    after = members.filter(page__url_hash__gte=start).values_list(
        "page__latest_snapshot_id", flat=True
    )
    before = members.filter(page__url_hash__lt=start).values_list(
        "page__latest_snapshot_id", flat=True
    )
    ids = [*after[:n], *before[:n]][:n]
    found = Snapshot.objects.select_related("page").in_bulk(ids)
    return [found[pk] for pk in ids]


def lines_of_snapshot(rule: Rule, snapshot: Snapshot) -> list[Line] | None:
    """Return what a rule extracts from a snapshot; None where its bytes are gone. Raises RuleStopped."""
    try:
        body = page_store().read(snapshot.body)
    except (BodyMissing, BodyDamaged):
        return None
    ready, url = runnable(rule), snapshot.page.url
    extracted = extract(RawPage(url, body, snapshot.content_type), ready, nodes=True)
    refuse_stopped(snapshot, extracted)
    return lines_of_extracted(url, ready, extracted)


def stylesheet_hash(rule: Rule) -> str:
    """Return what tells whether a rule is still the one that was looked at."""
    return sha256(rule.stylesheet.encode()).hexdigest()


def records_of(page: JudgedPage) -> list[Mapping[str, Any]]:
    """Return the records on a judged page, as attributes and values."""
    return [line.values for line in page.lines if line.values]
