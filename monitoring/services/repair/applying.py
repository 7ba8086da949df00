"""Apply proposals: store the new pages, cluster them, publish the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.algorithms.anchors.anchoring import anchor_node
from annotation.algorithms.anchors.node_paths import AnchorProblem
from annotation.algorithms.anchors.page_texts import read_texts
from annotation.models import Annotation, Attribute, Vertical
from annotation.services.annotations.annotated_values import AnnotatedValue
from annotation.services.annotations.annotating import annotate, annotate_page
from annotation.services.samples import sampling
from clustering.models import Cluster, Clustering, Page, PageMembership, Snapshot
from clustering.services.clusters.clusterings import reclustering_request
from clustering.services.pages.pages import Visit, prepare_visits, store_visits
from clustering.services.pages.stored_trees import read_tree
from monitoring.models import Proposal, SavedPlan, SiteChange
from monitoring.services.checks.changes import end_change
from monitoring.services.checks.fresh_pages import FreshPage
from monitoring.services.repair.saved_plans import PageValues, main_cluster
from rules.models import Rule
from rules.services.learning.sample_pages import SamplePages
from rules.services.learning.versions import LearntContent, save_successor
from rules.services.review.publishing import publish_rule, retire_rule
from vertex.core.models import Site, User
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import run_here
from vertex.core.services.people import audit

PAGES_PER_TRANSACTION: Final = 50
MAX_UNANNOTATED_SAMPLES: Final = 20  # of a reused rule


class AppliedProposal(NamedTuple):
    """What came of applying a proposal."""

    cluster: Cluster | None  # of its pages from then on; None where they are in none
    is_served: bool  # by a rule that the proposal gave it
    refusal: str = ""  # why its rule was not published, although it passed the field test


def apply_proposals(
    run: JobRun, site: Site, proposals: Sequence[Proposal], fresh: Mapping[str, FreshPage]
) -> list[AppliedProposal]:
    """Apply what is saved with some proposals, as far as the field test lets it pass.

    1. Store the new pages and cluster the site anew.
    2. Publish each proposal's rule for the cluster that most of its pages are in now; its site
       change ends.
    3. Retire the rules that lost their pages and found no successor, so that nobody reads wrong
       values. Where a rule was refused because constant values would change, the one in use stays
       until somebody has looked at them: the draft is kept.
    4. Draw the samples of clusters with a new rule again.

    A worker that goes on after another one was killed does again what was done, without harm; the
    site is clustered once. Raises JobFailed.
    """
    actor = run.job.created_by
    _store_pages(run, site, fresh)
    if not _is_clustered_anew(run, site):
        run.renew(message="clustering the site anew")
        with run.kept_alive():
            _cluster_site(site, actor)
    results = []
    for proposal in proposals:
        cluster = main_cluster(site, proposal.plan.urls)
        rule, refusal = None, ""
        if cluster is not None:
            run.renew(message=f"publishing the rule of {cluster.title}")
            try:
                with run.kept_alive():
                    rule = _publish_rule(proposal, cluster, actor)
            except ValidationError as error:
                refusal = " ".join(error.messages)
        if cluster is not None and rule is not None:
            _accept(proposal, cluster, rule, actor)
            end_change(cluster=cluster, end=SiteChange.End.REPAIRED)
        results.append(AppliedProposal(cluster, rule is not None, refusal))
    rules_in_use = {
        proposal.plan.rule_id
        for proposal, result in zip(proposals, results, strict=True)
        if result.refusal
    }
    _retire_unserved([each for each in proposals if each.plan.rule_id not in rules_in_use], actor)
    for proposal, result in zip(proposals, results, strict=True):
        if result.cluster is not None and proposal.field_test:
            _draw_samples(site, result.cluster)
    return results


def proposal_json(
    proposal: Proposal,
    applied: AppliedProposal | None = None,
    *,
    given_urls: Mapping[str, str],
) -> dict[str, Any]:
    """Return the line that is reported of a proposal, and of what came of it where it was applied.

    `given_urls` holds how addresses were handed in.
    """
    line: dict[str, Any] = {
        "cluster": proposal.name,
        "decision": str(proposal.decision),
        "from_cluster": proposal.from_cluster.name if proposal.from_cluster else None,
        "url_share": proposal.url_share,
        "urls": [given_urls.get(url, url) for url in proposal.plan.urls],
        "attributes": proposal.attributes,
        "reason": proposal.why,
    }
    if proposal.hints:
        line["hints"] = proposal.hints
    if proposal.field_test is not None:
        line["field_test"] = proposal.field_test
    if applied is not None:
        line["cluster"] = applied.cluster.name if applied.cluster else proposal.name
        line["accepted"] = applied.is_served
        line["reason"] = applied.refusal or proposal.why
    return line


def _store_pages(run: JobRun, site: Site, fresh: Mapping[str, FreshPage]) -> None:
    """Store the pages as the newest snapshots, batch by batch."""
    pages = list(fresh.values())
    for start in range(0, len(pages), PAGES_PER_TRANSACTION):
        fetched_at = timezone.now()
        prepared = prepare_visits(
            [
                Visit(
                    url=page.given_url or page.url,
                    body=page.body,
                    fetched_at=fetched_at,
                    status=page.status,
                    content_type=page.content_type,
                    final_url=page.final_url,
                    is_given=bool(page.given_url),
                )
                for page in pages[start : start + PAGES_PER_TRANSACTION]
            ]
        )
        with transaction.atomic():
            n_done = start + len(prepared)
            run.renew(n_done=n_done, n_total=len(pages), message="storing pages")
            store_visits(site=site, prepared=prepared, job=run.job)


def _is_clustered_anew(run: JobRun, site: Site) -> bool:
    """Return whether the site was clustered, with its pages as they are, since the job was made."""
    clusterings = Clustering.objects.current().without_model()
    current = clusterings.filter(site=site, made_at__gt=run.job.created_at).first()
    if current is None:
        return False
    return not Snapshot.objects.filter(page__site=site, fetched_at__gt=current.made_at).exists()


def _cluster_site(site: Site, actor: User | None) -> None:
    """Cluster the site anew by the algorithm and the parameters that it works with."""
    run_here(reclustering_request(site=site), actor=actor)


def _publish_rule(proposal: Proposal, cluster: Cluster, actor: User | None) -> Rule | None:
    """Return the rule that serves a cluster from now on; None if the proposal publishes none.

    Raises ValidationError where it may not be published; it stays a draft, to be looked at.
    """
    plan = proposal.plan
    if plan.rule is None:
        return None
    if proposal.decision == Proposal.Decision.REUSED:
        if plan.rule.cluster_id == cluster.pk:
            return plan.rule
        return _publish_copy(plan.rule, cluster, actor)
    if not proposal.field_test:
        return None
    rule = proposal.rule or _save_draft(proposal, plan.rule, cluster, actor)
    if rule.state != Rule.State.PUBLISHED:
        publish_rule(rule=rule, actor=actor)
    _annotate(plan, rule.vertical, cluster, actor)
    return rule


def _publish_copy(rule: Rule, cluster: Cluster, actor: User | None) -> Rule:
    """Return a published copy of a rule for another cluster; a rule published there stays.

    Raises ValidationError where the copy may not be published.
    """
    published = Rule.objects.published().filter(cluster=cluster).first()
    if published is not None:
        return published
    unannotated = _snapshots_of_cluster(cluster)[:MAX_UNANNOTATED_SAMPLES]
    copy = save_successor(
        rule,
        cluster=cluster,
        content=None,
        pages=SamplePages([], unannotated, []),
        comment=f"reused from {rule}",
        actor=actor,
    )
    publish_rule(rule=copy, actor=actor)
    return copy


@transaction.atomic
def _save_draft(proposal: Proposal, before: Rule, cluster: Cluster, actor: User | None) -> Rule:
    """Save the rule of a plan as a draft, with the pages from which it was learnt."""
    plan = proposal.plan
    proposal.rule = save_successor(
        before,
        cluster=cluster,
        content=LearntContent(plan.definition, plan.stylesheet, plan.figures, plan.validation),
        pages=SamplePages(
            annotated=_snapshots_of_pages(cluster, plan.annotated),
            unannotated=_snapshots_of_pages(cluster, plan.unannotated),
            held_out=[],
        ),
        comment="repaired after a site change",
        actor=actor,
    )
    proposal.save(update_fields=["rule"])
    return proposal.rule


def _snapshots_of_cluster(cluster: Cluster) -> list[Snapshot]:
    """Return the latest snapshots of a cluster's pages."""
    members = PageMembership.objects.of_cluster(cluster)
    return _latest_snapshots(Page.objects.filter(pk__in=members.values("page")))


def _snapshots_of_pages(cluster: Cluster, urls: Sequence[str]) -> list[Snapshot]:
    """Return the latest snapshots of pages of a cluster's site, in the order of their addresses."""
    snapshots = _latest_snapshots(Page.objects.filter(site=cluster.site_id, url__in=urls))
    index_by_url = {url: index for index, url in enumerate(urls)}
    return sorted(snapshots, key=lambda snapshot: index_by_url[snapshot.page.url])


def _latest_snapshots(pages: QuerySet[Page]) -> list[Snapshot]:
    with_snapshot = pages.filter(latest_snapshot__isnull=False)
    snapshots = [
        page.latest_snapshot for page in with_snapshot.select_related("latest_snapshot__page")
    ]
    return [snapshot for snapshot in snapshots if snapshot is not None]


def _annotate(plan: SavedPlan, vertical: Vertical, cluster: Cluster, actor: User | None) -> None:
    """Annotate the new snapshots with what was found again; annotations of the old ones end."""
    live = Annotation.objects.live().filter(
        page__url__in=list(plan.values), page__site=cluster.site_id
    )
    urls = {*plan.annotated, *live.values_list("page__url", flat=True)}
    attributes = {
        attribute.name: attribute
        for attribute in Attribute.objects.live().filter(vertical=vertical)
    }
    for snapshot in _snapshots_of_pages(cluster, sorted(urls)):
        values = PageValues.from_json(plan.values[snapshot.page.url])
        _annotate_snapshot(snapshot, values, attributes, actor)
    audit.record(
        actor=actor,
        action="annotations.repaired",
        subject=cluster.name,
        site=cluster.site,
        detail={"pages": len(urls)},
    )


def _annotate_snapshot(
    snapshot: Snapshot, page: PageValues, attributes: Mapping[str, Attribute], actor: User | None
) -> None:
    tree = read_tree(snapshot)
    if tree is None:
        return
    texts = read_texts(tree)
    marks: dict[Attribute | None, list[AnnotatedValue]] = {}
    for name, nodes in page.values.items():
        if name not in attributes:
            continue
        try:
            anchors = [anchor_node(texts, node.xpath, node.text) for node in nodes]
        except AnchorProblem:
            continue
        marks[attributes[name]] = [
            AnnotatedValue(anchor, _record_around(anchor.xpath, page)) for anchor in anchors
        ]
    if page.records:
        marks[None] = [AnnotatedValue(record=tuple(record)) for record in page.records]
    for name in page.absent:
        if name in attributes:
            marks.setdefault(attributes[name], [AnnotatedValue()])
    annotate_page(snapshot=snapshot, marks=marks, actor=actor, source=Annotation.Source.SUGGESTION)

    stale = Annotation.objects.live().filter(page=snapshot.page_id, attribute__isnull=False)
    for row in stale.exclude(snapshot=snapshot).select_related("attribute").distinct():
        annotate(
            snapshot=snapshot,
            attribute=row.attribute,
            marks=[],
            actor=actor,
            source=Annotation.Source.SUGGESTION,
            is_audited=False,
        )


def _record_around(xpath: str, page: PageValues) -> tuple[str, ...]:
    """Return the record in which a node stands; nothing where it is in none."""
    for record in page.records:
        if any(f"{xpath}/".startswith(f"{element}/") for element in record):
            return tuple(record)
    return ()


def _accept(proposal: Proposal, cluster: Cluster, rule: Rule, actor: User | None) -> None:
    proposal.state, proposal.cluster, proposal.rule = Proposal.State.ACCEPTED, cluster, rule
    proposal.accepted_at, proposal.accepted_by = timezone.now(), actor
    proposal.save(update_fields=["state", "cluster", "rule", "accepted_at", "accepted_by"])


def _retire_unserved(proposals: Sequence[Proposal], actor: User | None) -> None:
    """Retire the rules whose cluster changed and for which nothing could be published.

    Where its pages are in another cluster now, which got a rule, its site change ends as well.
    """
    served = {
        proposal.rule.cluster_id
        for proposal in proposals
        if proposal.state == Proposal.State.ACCEPTED and proposal.rule
    }
    for proposal in proposals:
        rule = proposal.plan.rule
        if rule is None or proposal.decision == Proposal.Decision.REUSED:
            continue
        if rule.cluster_id in served:
            continue
        why = "its pages changed and no repair passed the field test"
        if proposal.state == Proposal.State.ACCEPTED:
            why = f"{proposal.rule} serves its pages, which are in another cluster now"
            end_change(cluster=rule.cluster, end=SiteChange.End.REPAIRED)
        retire_rule(rule=rule, why=why, actor=actor)


def _draw_samples(site: Site, cluster: Cluster) -> None:
    """Draw a repaired cluster's samples anew, so that an editor sees the pages as they are now."""
    try:
        run_here(sampling.samples_request(site=site, cluster=cluster.name))
    except jobs.JobPutOff:
        raise  # something is away: the repair goes on when it is back
    except (jobs.JobExists, jobs.JobFailed, jobs.JobNotClaimed, ValidationError):
        return  # the rule serves; samples can be drawn at any time
