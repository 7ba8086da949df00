"""A second person annotates a share of the pages without seeing the first annotation."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from annotation.algorithms.anchors.anchoring import Anchor
from annotation.models import Annotation, Attribute, SecondAnnotation
from annotation.services.annotations.annotated_values import AnnotatedValue
from annotation.services.annotations.annotating import annotate
from annotation.services.annotations.comparing import anchors_of, compare
from annotation.services.verticals.policies import policy_of
from clustering.models import Page, Snapshot
from vertex.core.models import Site, User
from vertex.core.services.people import audit

ANCHOR_FIELDS = ("xpath", "quote", "end_xpath", "start", "end", "prefix", "suffix", "position")


class AgreementFigures(NamedTuple):
    """How far two people agree at a site."""

    n_compared: int
    n_same: int

    @property
    def share(self) -> float | None:
        return self.n_same / self.n_compared if self.n_compared else None


def is_drawn(url_hash: bytes, share: int) -> bool:
    """Return whether a page is among so many percent; a larger share has the same pages and more.

    >>> is_drawn(b"any", 0), is_drawn(b"any", 100)
    (False, True)
    """
    percentile = int.from_bytes(sha256(b"second" + url_hash).digest()[:4], "big") % 100
    return percentile < share


def pages_to_annotate_again(site: Site, person: User) -> list[Page]:
    """Return the drawn pages that others annotated and this person may annotate a second time.

    A page that a second person has begun belongs to that person.
    """
    share = policy_of(site).second_share
    annotated = Annotation.objects.live().filter(page__site=site, attribute__isnull=False)
    own = annotated.filter(author=person)
    begun = SecondAnnotation.objects.filter(page__site=site)
    pages = (
        Page.objects.filter(pk__in=annotated.values("page"))
        .exclude(pk__in=own.values("page"))
        .exclude(pk__in=begun.values("page"))
    )
    return [page for page in pages.order_by("pk") if is_drawn(bytes(page.url_hash), share)]


def check_blind(page: Page, person: User) -> None:
    """Refuse who has seen the first annotation, or comes third. Raises ValidationError."""
    if Annotation.objects.filter(page=page, author=person).exists():
        raise ValidationError(
            "You annotated this page yourself; the second annotation is somebody else's."
        )
    rows = SecondAnnotation.objects.filter(page=page).exclude(author=person)
    begun = rows.select_related("author").first()
    if begun is not None:
        raise ValidationError(
            f"{begun.author or 'Somebody'} has annotated this page a second time already."
        )


def annotate_again(
    *, snapshot: Snapshot, attribute: Attribute, anchors: Sequence[Anchor], actor: User
) -> SecondAnnotation:
    """Save the second annotation of an attribute; no anchors: it is not on the page.

    Raises ValidationError where the actor is not to be the second one.
    """
    with transaction.atomic():
        page = Page.objects.select_for_update(no_key=True).get(pk=snapshot.page_id)
        check_blind(page, actor)
        row, _ = SecondAnnotation.objects.update_or_create(
            page=page,
            attribute=attribute,
            defaults={
                "snapshot": snapshot,
                "marks": [
                    {name: getattr(anchor, name) for name in ANCHOR_FIELDS} for anchor in anchors
                ],
                "author": actor,
                "made_at": timezone.now(),
                "agreement": "",
                "resolution": "",
                "resolved_at": None,
                "resolved_by": None,
            },
        )
        compare(row)
        detail = {"attribute": attribute.name, "agreement": row.agreement}
        audit.record(
            actor=actor,
            action="second_annotation.made",
            subject=page.url,
            site=page.site,
            detail=detail,
        )
    return row


def resolve(*, row: SecondAnnotation, resolution: str, actor: User) -> None:
    """Settle a disagreement: the first annotation stays, or the second one replaces it.

    Raises ValidationError.
    """
    if resolution not in {SecondAnnotation.Resolution.FIRST, SecondAnnotation.Resolution.SECOND}:
        raise ValidationError(
            f"{resolution!r} settles nothing; take the first or the second annotation."
        )
    with transaction.atomic():
        open_row = SecondAnnotation.objects.filter(pk=row.pk, resolution="")
        changes = {"resolution": resolution, "resolved_at": timezone.now(), "resolved_by": actor}
        if not open_row.update(**changes):
            raise ValidationError("Somebody settled this already.")
        if resolution == SecondAnnotation.Resolution.SECOND:
            marks = [AnnotatedValue(anchor) for anchor in anchors_of(row)] or [AnnotatedValue()]
            annotate(snapshot=row.snapshot, attribute=row.attribute, marks=marks, actor=actor)
        detail: dict[str, Any] = {"attribute": row.attribute.name, "resolution": resolution}
        audit.record(
            actor=actor,
            action="disagreement.resolved",
            subject=row.page.url,
            site=row.page.site,
            detail=detail,
        )
    row.refresh_from_db()


def agreement_at(site: Site) -> AgreementFigures:
    """Return how many attributes two people annotated, and how many of these alike."""
    rows = SecondAnnotation.objects.compared().filter(page__site=site)
    return AgreementFigures(rows.count(), rows.filter(agreement="same").count())
