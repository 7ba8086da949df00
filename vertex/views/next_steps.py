"""What is to be done next at a site: the most urgent thing, as people of each role can do it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Max, Q, QuerySet
from django.urls import reverse

from annotation.models import Assignment
from clustering.models import Annotating, ClusterFigures, Clustering
from monitoring.models import Alert, Proposal, SiteChange
from monitoring.services.checks.site_states import SiteFigures, figures_of
from monitoring.services.repair.accepting import ACCEPT_PROPOSAL
from rules.models import Extraction, Record, Review, Rule
from rules.services.records.stale_records import clusters_from_before
from vertex.core.models import Job, Role, Site, User

# Above this, the pages in no cluster are worth another clustering.
MOST_UNASSIGNED = 0.2
ROLES = list(Role)


class NextStep(NamedTuple):
    """What is to be done at a site, with where it is done; without an address nothing is."""

    word: str  # what to do, on a button
    text: str  # why, in a sentence
    href: str
    tone: str  # as of badges


class SiteFacts(NamedTuple):
    """What decides about the next step at a site; numbers are counts."""

    site: Site
    figures: SiteFigures
    role: int  # the highest of the viewer, as a place in ROLES; -1: none
    clustering: Clustering | None
    has_vertical: bool
    n_rules: int
    n_drafts: int
    n_asked_for: int  # clusters without a rule that are worth annotating
    n_records: int
    n_stale: int
    n_to_extract: int  # of these: a newer snapshot of their page is stored
    extracted_at: datetime | None
    change: SiteChange | None  # the oldest that is open
    proposal: Proposal | None  # the newest that waits
    needs_annotation: bool  # no repair that waits has a rule that can be accepted
    is_accepting: bool  # a repair was accepted, and is not in use yet
    review: Review | None  # the oldest that is open
    n_alerts: int

    def may(self, role: Role) -> bool:
        return self.role >= ROLES.index(role)


def facts_of(sites: Sequence[Site], user: User) -> dict[int, SiteFacts]:
    """Return what is known of some sites, in the same few queries for any number of them."""
    pks = [site.pk for site in sites]
    figures = figures_of(pks)
    roles = _roles(user)
    clusterings = Clustering.objects.current().without_model().filter(site__in=pks)
    clustering_by_site = {clustering.site_id: clustering for clustering in clusterings}
    assigned = set(
        Assignment.objects.defaults().filter(site__in=pks).values_list("site", flat=True)
    )
    rules = Rule.objects.filter(cluster__site__in=pks)
    n_rules = _counts(rules.published(), "cluster__site")
    n_drafts = _counts(rules.filter(state=Rule.State.DRAFT), "cluster__site")
    asked_for = ClusterFigures.objects.current().with_pages().worth_annotating()
    asked_for = asked_for.filter(clustering__site__in=pks)
    asked_for = asked_for.exclude(cluster__in=rules.published().values("cluster"))
    records = Record.objects.there().filter(site__in=pks)
    n_records = _counts(records, "site")
    stale = records.filter(stale_since__isnull=False)
    n_stale = _counts(stale, "site")
    at_stale_sites = asked_for.filter(clustering__site__in=list(n_stale))
    from_before = clusters_from_before(list(at_stale_sites.values_list("cluster", flat=True)))
    wanted = Q(cluster__annotating=Annotating.WANTED)
    asked_for = asked_for.filter(wanted | ~Q(cluster__in=from_before))
    n_asked_for = _counts(asked_for, "clustering__site")
    # Pages are looked at where any record is stale only: this list is drawn for a thousand sites.
    n_to_extract = _counts(stale.filter(site__in=list(n_stale)).with_newer_snapshot(), "site")
    extractions = Extraction.objects.filter(site__in=pks).order_by().values("site")
    extracted = {row["site"]: row["at"] for row in extractions.annotate(at=Max("extracted_at"))}
    changes = SiteChange.objects.open().filter(site__in=pks).select_related("cluster")
    change_by_site = {change.site_id: change for change in changes.order_by("-pk")}
    waiting = Proposal.objects.waiting().filter(site__in=pks)
    without_rule = Q(decision=Proposal.Decision.NEEDS_ANNOTATION) | Q(field_test=False)
    sites_without_rule = set(waiting.filter(without_rule).values_list("site", flat=True))
    proposals = waiting.filter(decision=Proposal.Decision.PROPOSED)
    proposals = proposals.exclude(field_test=False)  # nobody can accept these
    proposal_by_site = {proposal.site_id: proposal for proposal in proposals.order_by("pk")}
    accepting = Job.objects.unfinished().filter(task=ACCEPT_PROPOSAL.task, site__in=pks)
    accepting_sites = set(accepting.values_list("site", flat=True))
    reviews = Review.objects.open().filter(rule__cluster__site__in=pks)
    reviews = reviews.select_related("rule__cluster").order_by("-pk")
    review_by_site = {review.rule.cluster.site_id: review for review in reviews}
    n_alerts = _counts(Alert.objects.open().filter(site__in=pks), "site")
    return {
        site.pk: SiteFacts(
            site=site,
            figures=figures[site.pk],
            role=max(roles.get(None, -1), roles.get(site.pk, -1)),
            clustering=clustering_by_site.get(site.pk),
            has_vertical=site.pk in assigned,
            n_rules=n_rules.get(site.pk, 0),
            n_drafts=n_drafts.get(site.pk, 0),
            n_asked_for=n_asked_for.get(site.pk, 0),
            n_records=n_records.get(site.pk, 0),
            n_stale=n_stale.get(site.pk, 0),
            n_to_extract=n_to_extract.get(site.pk, 0),
            extracted_at=extracted.get(site.pk),
            change=change_by_site.get(site.pk),
            proposal=proposal_by_site.get(site.pk),
            needs_annotation=site.pk in sites_without_rule and site.pk not in proposal_by_site,
            is_accepting=site.pk in accepting_sites,
            review=review_by_site.get(site.pk),
            n_alerts=n_alerts.get(site.pk, 0),
        )
        for site in sites
    }


def _roles(user: User) -> dict[int | None, int]:
    """Return the place in ROLES of the viewer's role at each site, everywhere under None."""
    if user.is_superuser:
        return {None: len(ROLES) - 1}
    rows = user.memberships.values_list("site", "role")
    return {site: ROLES.index(Role(role)) for site, role in rows}


def _counts(rows: QuerySet[Any], site: str) -> dict[int, int]:
    counted = rows.order_by().values(site).annotate(n=Count("pk"))
    return {row[site]: row["n"] for row in counted}


def next_step(facts: SiteFacts) -> NextStep:
    """Return the first that holds: what is broken, what waits for a person, what is missing."""
    for steps in (_broken, _waiting, _missing):
        step = steps(facts)
        if step is not None:
            return step
    if facts.figures.checked_at is None:
        return NextStep("", "Nothing is asked for. Its first check is planned.", "", "unknown")
    return NextStep("", "Nothing is asked for: it is extracted and watched.", "", "good")


def _broken(facts: SiteFacts) -> NextStep | None:
    """Return what to do about a site that changed or cannot be reached."""
    name = facts.site.name
    if facts.is_accepting:
        return NextStep("", "A repair was accepted and is being put to use.", "", "busy")
    if facts.change is not None:
        title = facts.change.cluster.title
        href = reverse("site_change", args=[name, facts.change.pk])
        if facts.needs_annotation:
            text = f"The pages of {title} changed, and no rule was found that can be accepted."
            return NextStep("Annotate the new pages", text, href, "bad")
        if facts.proposal is None:
            return NextStep("Look at the change", f"The pages of {title} changed.", href, "bad")
        text = f"The pages of {title} changed, and a repair waits for a decision."
        return NextStep("Decide the repair", text, href, "bad")
    if facts.proposal is not None:
        href = f"{reverse('site_monitoring', args=[name])}#repairs"
        text = f"A repair of {facts.proposal.name} waits for a decision."
        return NextStep("Decide the repair", text, href, "warning")
    if facts.n_stale:
        n = facts.n_stale
        text = f"{n:,} record{'s are' if n > 1 else ' is'} from before a redesign."
        if not facts.n_to_extract:
            text += " The stream fetches their pages again."
            return NextStep("See the stream", text, reverse("site_stream", args=[name]), "warning")
        href = f"{reverse('records', args=[name])}?state=stale"
        return NextStep("Extract again", text, href, "warning")
    if facts.n_alerts:
        n = facts.n_alerts
        text = f"{n:,} alert{'s are' if n > 1 else ' is'} open."
        href = reverse("site_monitoring", args=[name])
        return NextStep("Look at the alerts" if n > 1 else "Look at the alert", text, href, "bad")
    return None


def _waiting(facts: SiteFacts) -> NextStep | None:
    """Return what waits for the word of a reviewer."""
    if facts.review is None:
        return None
    rule = facts.review.rule
    address = [facts.site.name, rule.cluster.name, rule.version]
    text = f"Version {rule.version} of the rule of {rule.cluster.title} is proposed."
    if not facts.may(Role.REVIEWER):
        text += " A reviewer decides."
    return NextStep("Review the rule", text, reverse("review_rule", args=address), "busy")


def _missing(facts: SiteFacts) -> NextStep | None:
    """Return the first thing that a site lacks on its way from pages to records."""
    name = facts.site.name
    if facts.site.last_snapshot_at is None:
        if not facts.may(Role.OPERATOR):
            return NextStep("", "An operator crawls the site or imports its pages.", "", "unknown")
        text = "It has no pages yet; everything else begins with them."
        if facts.site.n_pages:
            text = "None of its pages is stored yet. The last crawl says why where it failed."
        return NextStep("Crawl the site", text, reverse("crawl_site", args=[name]), "unknown")
    if facts.clustering is None:
        if not facts.may(Role.OPERATOR):
            return NextStep("", "An operator groups the pages by template.", "", "unknown")
        text = "The pages are not grouped yet; rules are learnt for each type of page."
        return NextStep("Cluster the pages", text, reverse("cluster_site", args=[name]), "unknown")
    if facts.n_rules and not facts.n_records:
        text = "A rule is published, and nothing was extracted with it."
        return NextStep("Extract records", text, reverse("records", args=[name]), "unknown")
    if not facts.n_rules:
        return _to_first_rule(facts)
    share = facts.clustering.n_unassigned / max(facts.clustering.n_pages, 1)
    if share >= MOST_UNASSIGNED and facts.may(Role.OPERATOR):
        text = f"{share:.0%} of the pages are in no cluster, so no rule reads them."
        return NextStep("Cluster again", text, reverse("cluster_site", args=[name]), "warning")
    if facts.n_asked_for and facts.may(Role.EDITOR):
        n = facts.n_asked_for
        clusters = "clusters of details have" if n > 1 else "cluster of details has"
        href = reverse("annotate_site", args=[name])
        return NextStep("Annotate", f"{n:,} {clusters} no rule; annotate or dismiss.", href, "good")
    return None


def _to_first_rule(facts: SiteFacts) -> NextStep:
    """Return what a site without any published rule lacks."""
    name = facts.site.name
    if facts.n_drafts:
        href = reverse("rules", args=[name])
        return NextStep("Propose the rule", "A rule is learnt, and not in use.", href, "unknown")
    if not facts.may(Role.EDITOR):
        return NextStep("", "An editor annotates a page or two of it.", "", "unknown")
    text = "Mark on a page or two what stands where: a rule is learnt from that."
    if not facts.has_vertical:
        text = "Say what the pages describe, beside one of them, and mark what stands where."
    return NextStep("Annotate", text, reverse("annotate_site", args=[name]), "unknown")
