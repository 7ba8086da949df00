"""What a site asks of reviews: who may publish, and how many pages are annotated twice."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.models import ReviewPolicy
from vertex.core.models import Site, User
from vertex.core.services.people import audit

MAX_SHARE = 100  # percent


def policy_of(site: Site) -> ReviewPolicy:
    """Return the policy of a site; the defaults where nobody changed it."""
    return ReviewPolicy.objects.filter(site=site).first() or ReviewPolicy(site=site)


def change_policy(
    *, site: Site, publishing: str, second_share: int, actor: User | None
) -> ReviewPolicy:
    """Change what a site asks of reviews. Raises ValidationError."""
    if publishing not in ReviewPolicy.Publishing.values:
        raise ValidationError({"publishing": f"{publishing!r} is none of the ways to publish."})
    if not 0 <= second_share <= MAX_SHARE:
        raise ValidationError(
            {"second_share": f"{second_share} is no share; give 0 to 100 percent."}
        )
    with transaction.atomic():
        before = policy_of(site)
        wanted = {"publishing": publishing, "second_share": second_share}
        changes = {name: value for name, value in wanted.items() if value != getattr(before, name)}
        if not changes:
            return before
        policy, _ = ReviewPolicy.objects.update_or_create(site=site, defaults=wanted)
        detail = {
            name: {"was": getattr(before, name), "now": value} for name, value in changes.items()
        }
        audit.record(
            actor=actor, action="review_policy.changed", subject=site.name, site=site, detail=detail
        )
    return policy
