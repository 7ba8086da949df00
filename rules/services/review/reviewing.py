"""Propose a rule, publish it as a second person, or send it back with a reason.

Who may publish what: a reviewer, and by the site's policy somebody other than the author. The
author is who proposed the rule or, where nobody did, who made it. A version that served before was
looked at then.
"""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotation.models import ReviewPolicy
from annotation.services.verticals.policies import policy_of
from clustering.models import Cluster
from rules.models import Review, Rule
from rules.services.learning.held_out import draw_pages, stylesheet_hash
from rules.services.learning.learning import check_held_out
from rules.services.learning.place_pictures import start_drawing_places
from rules.services.review.impacts import start_impact
from rules.services.review.publishing import publish_rule
from vertex.core.models import Role, Site, User
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.people import audit
from vertex.core.texts import storable

MAX_COMMENT_CHARS = 4_000  # or of a reason
Publishing = ReviewPolicy.Publishing


def propose_rule(*, rule: Rule, comment: str = "", actor: User | None = None) -> Review:
    """Propose a draft for publishing: draw the pages to judge, and compare it with the rule in use.

    A proposal of the same cluster that still waits becomes a draft again. Raises ValidationError.
    """
    comment = _text(comment, "comment")
    check_held_out(rule=rule)
    with transaction.atomic():
        Cluster.objects.select_for_update(no_key=True).get(pk=rule.cluster_id)
        _replace_waiting(rule, actor)
        drafts = Rule.objects.filter(pk=rule.pk, state=Rule.State.DRAFT)
        if not drafts.update(state=Rule.State.PROPOSED):
            rule.refresh_from_db()
            raise ValidationError(
                f"{rule} is {rule.get_state_display().lower()}; only a draft is proposed."
            )
        rule.refresh_from_db()
        review = Review.objects.create(
            rule=rule, comment=comment, proposed_by=actor, stylesheet_hash=stylesheet_hash(rule)
        )
        draw_pages(review)
        _record(rule, "rule.proposed", actor, comment=comment)
        _compare(rule, actor)
        start_drawing_places(rule=rule, actor=actor)
    return review


def send_back(*, rule: Rule, reason: str, actor: User | None = None) -> None:
    """Make a proposed rule a draft again and say why; its author withdraws it so.

    Raises ValidationError.
    """
    reason = _text(reason, "reason")
    with transaction.atomic():
        review = _open_review(rule)
        is_own = review.proposed_by == actor
        may_send_back = actor is None or actor.has_role(Role.REVIEWER, rule.cluster.site)
        if not is_own and not may_send_back:
            raise ValidationError("A reviewer sends a proposal back, or its author withdraws it.")
        if not reason and not is_own:
            raise ValidationError(
                {"reason": "Say what is to be changed, so that the author knows."}
            )
        outcome = Review.Outcome.WITHDRAWN if is_own else Review.Outcome.SENT_BACK
        _end(review, outcome, reason, actor)
        Rule.objects.filter(pk=rule.pk, state=Rule.State.PROPOSED).update(state=Rule.State.DRAFT)
        _record(rule, f"rule.{outcome}", actor, reason=reason)
    rule.refresh_from_db()


def publish_reviewed(*, rule: Rule, actor: User, is_forced: bool = False, reason: str = "") -> None:
    """Publish a rule as far as the site's policy lets the actor; with force there must be a reason.

    Raises ValidationError.
    """
    reason = _text(reason, "reason")
    if is_forced and not reason:
        raise ValidationError(
            {"reason": "Say why it is published although constant values change."}
        )
    refusal = why_not(rule, actor)
    if refusal:
        raise ValidationError(refusal)
    check_held_out(rule=rule)
    publish_rule(rule=rule, actor=actor, is_forced=is_forced, reason=reason)


def why_not(rule: Rule, actor: User) -> str:
    """Return why the actor may not publish a rule; blank where it is allowed."""
    site = rule.cluster.site
    if not actor.has_role(Role.REVIEWER, site):
        return f"Publishing needs the role reviewer at {site.name}."
    if rule.state == Rule.State.RETIRED or author_of(rule) != actor:
        return ""
    policy = policy_of(site).publishing
    other_publishers = people_who_publish(site).exclude(pk=actor.pk)
    if policy == Publishing.ANYBODY or (
        policy == Publishing.WHERE_POSSIBLE and not other_publishers.exists()
    ):
        return ""
    names = ", ".join(str(person) for person in other_publishers[:3])
    return f"You are the author of {rule}, and {site.name} asks for a second person. " + (
        f"It can be published by {names}." if names else "Nobody else may publish there yet."
    )


def author_of(rule: Rule) -> User | None:
    """Return who proposed a rule or, where nobody did, who made it."""
    review = Review.objects.filter(rule=rule).select_related("proposed_by").first()
    if review is not None and rule.state == Rule.State.PROPOSED:
        return review.proposed_by
    return rule.made_by


def people_who_publish(site: Site) -> QuerySet[User]:
    """Return the people who may publish rules of a site."""
    role = Q(memberships__role__in=Role.REVIEWER.and_higher())
    at_site = Q(memberships__site=None) | Q(memberships__site=site)
    people: QuerySet[User] = User.objects.open().filter(Q(is_superuser=True) | role & at_site)
    return people.filter(is_service=False).distinct()


def _replace_waiting(rule: Rule, actor: User | None) -> None:
    """Make an earlier proposal of the cluster a draft again."""
    waiting = Rule.objects.filter(cluster=rule.cluster_id, state=Rule.State.PROPOSED).exclude(
        pk=rule.pk
    )
    for other in waiting:
        for review in Review.objects.open().filter(rule=other):
            _end(review, Review.Outcome.REPLACED, f"{rule} was proposed.", actor)
        Rule.objects.filter(pk=other.pk).update(state=Rule.State.DRAFT)
        _record(other, "rule.replaced", actor, by=rule.version)


def _compare(rule: Rule, actor: User | None) -> None:
    """Start computing the impact, unless that is being done."""
    try:
        with transaction.atomic():
            start_impact(rule=rule, actor=actor)
    except JobExists:
        return


def _open_review(rule: Rule) -> Review:
    """Return the review that waits for a decision. Raises ValidationError."""
    review = (
        Review.objects.open().filter(rule=rule).select_for_update(no_key=True, of=("self",)).first()
    )
    if review is None:
        raise ValidationError(f"{rule} is {rule.get_state_display().lower()}; nobody proposes it.")
    return review


def _end(review: Review, outcome: str, reason: str, actor: User | None) -> None:
    now = timezone.now()
    changes = {"outcome": outcome, "reason": reason, "decided_at": now, "decided_by": actor}
    Review.objects.open().filter(pk=review.pk).update(**changes)


def _record(rule: Rule, action: str, actor: User | None, **detail: object) -> None:
    site = rule.cluster.site
    audit.record(actor=actor, action=action, subject=str(rule), site=site, detail=dict(detail))


def _text(written: str, field: str) -> str:
    """Return what somebody wrote, fit for the database. Raises ValidationError for too much."""
    text = storable(written).strip()
    if len(text) > MAX_COMMENT_CHARS:
        raise ValidationError(
            {field: f"It has {len(text):,} characters; write {MAX_COMMENT_CHARS:,} at most."}
        )
    return text
