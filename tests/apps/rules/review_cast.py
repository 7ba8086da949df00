"""A shop with a rule in use and a draft of the next version, and people who propose and publish."""

from __future__ import annotations

from clustering.models import Clustering, PageMembership
from rules.models import Impact, Review, Rule
from rules.services.review.impacts import compute_impact
from rules.services.review.publishing import publish_rule
from rules.services.review.reviewing import propose_rule
from tests.apps.clustering.api_cast import page_of, site_of
from tests.apps.rules.record_cast import STYLESHEET, body_of, rule_of, sampled
from vertex.core.models import Role, Site, User
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.people import people

WITHOUT_PRICE = STYLESHEET.replace("//b[@class='price']", "//b[@class='cost']")
OTHER_NAMES = STYLESHEET.replace(
    '<value name="name"><xsl:value-of', '<value name="name">The <xsl:value-of'
)


def person(name: str, role: Role = Role.REVIEWER) -> User:
    return people.create_user(username=name, role=role, site=None, actor=None)


def members(rule: Rule, numbers: range) -> None:
    """Put pages into a rule's cluster."""
    clustering = Clustering.objects.current().get(site=rule.cluster.site)
    for number in numbers:
        page = page_of(rule.cluster.site, f"m{number}", body_of(number))
        PageMembership.objects.create(
            clustering=clustering, page=page, found=rule.cluster, cluster=rule.cluster
        )


def shop_with_draft(
    stylesheet: str = STYLESHEET,
    *,
    n_pages: int = 25,
    made_by: User | None = None,
    is_first: bool = False,
) -> Rule:
    """Return a draft, in a shop where an earlier version is in use unless it is the first one."""
    site: Site = site_of("shop")
    if not is_first:
        in_use = rule_of(site)
        sampled(in_use, 1)
        publish_rule(rule=in_use)
    draft = rule_of(site, state=Rule.State.DRAFT, stylesheet=stylesheet, made_by=made_by)
    sampled(draft, 2)
    members(draft, range(10, 10 + n_pages))
    return draft


def proposed(rule: Rule, author: User | None = None, *, compares: bool = False) -> Review:
    """Propose a rule and return the review; where asked, with its impact computed."""
    review = propose_rule(rule=rule, actor=author)
    if compares:
        compared(rule)
    return review


def compared(rule: Rule) -> Impact:
    """Compute the newest impact of a rule."""
    impact = Impact.objects.filter(rule=rule).latest("pk")
    assert impact.job_id is not None
    job = run_job(impact.job_id, compute_impact)
    assert job.state == "done", job.error
    impact.refresh_from_db()
    return impact
