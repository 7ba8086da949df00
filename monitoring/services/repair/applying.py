"""Apply plans of repair: store the new pages, cluster them, publish the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.algorithms.anchors.anchoring import anchor_node
from annotation.algorithms.anchors.node_paths import AnchorProblem
from annotation.algorithms.anchors.page_texts import read_texts
from annotation.models import Annotation, Assignment, Attribute, Vertical
from annotation.services.annotations.annotated_values import AnnotatedValue
from annotation.services.annotations.annotating import annotate, annotate_page
from annotation.services.samples import sampling
from clustering.models import Cluster, Page, PageMembership, Snapshot
from clustering.services.clusters.clusterings import reclustering_request
from clustering.services.pages.pages import Visit, prepare_visits, store_visits
from clustering.services.pages.stored_trees import read_tree
from monitoring.algorithms.repair import ProposedPage
from monitoring.models import Proposal, SiteChange
from monitoring.services.checks.changes import end_change
from monitoring.services.checks.fresh_pages import FreshPage
from monitoring.services.repair.plans import RepairPlan
from monitoring.services.repair.relearning import RelearntRule
from rules.models import Rule
from rules.services.learning.sample_pages import SamplePages
from rules.services.learning.schemas import vertical_of
from rules.services.learning.versions import figure_of, save_version
from rules.services.review.publishing import publish_rule
from vertex.core.models import Site, User
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import run_here
from vertex.core.services.people import audit

PAGES_PER_TRANSACTION: Final = 50
ROWS_PER_FETCH: Final = 5_000
MAX_UNANNOTATED_SAMPLES: Final = 20  # of a reused rule


class AcceptedPlan(NamedTuple):
    """A plan that is to be applied, with its proposal."""

    plan: RepairPlan
    proposal: Proposal


def apply_plans(
    run: JobRun, site: Site, accepted: Sequence[AcceptedPlan], fresh: Mapping[str, FreshPage]
) -> list[tuple[Cluster | None, bool]]:
    """Apply the plans that the field test lets pass.

    1. Store the new pages and cluster the site anew.
    2. Publish each plan's rule for the cluster that most of its pages are in now; its site change
       ends.
    3. Retire the rules that lost their pages and found no successor, so that nobody reads wrong
       values.
    4. Draw the samples of clusters with a new rule again.

    Returns each plan's cluster from then on, and whether the plan gave it a rule. Raises JobFailed.
    """
    actor = run.job.created_by
    _store_pages(run, site, fresh)
    with run.kept_alive():
        _cluster_site(site, actor)
    clusters = [_cluster_of(site, plan) for plan, _ in accepted]
    results: list[tuple[Cluster | None, bool]] = []
    served = set()
    for (plan, proposal), cluster in zip(accepted, clusters, strict=True):
        rule = None
        if cluster is not None:
            with run.kept_alive():
                rule = _publish_rule(plan, cluster, actor)
        if cluster is not None and rule is not None:
            served.add(rule.cluster_id)
            _accept(proposal, cluster, rule, actor)
            end_change(cluster=cluster, end=SiteChange.End.REPAIRED)
        results.append((cluster, rule is not None))
    _retire_unserved(site, [plan for plan, _ in accepted], served, actor)
    for (plan, _), cluster in zip(accepted, clusters, strict=True):
        if cluster is not None and plan.may_be_published:
            _draw_samples(site, cluster)
    return results


def _store_pages(run: JobRun, site: Site, fresh: Mapping[str, FreshPage]) -> None:
    """Store the pages as the newest snapshots, batch by batch."""
    pages = list(fresh.values())
    for start in range(0, len(pages), PAGES_PER_TRANSACTION):
        fetched_at = timezone.now()
        prepared = prepare_visits(
            [
                Visit(
                    url=page.url,
                    body=page.body,
                    fetched_at=fetched_at,
                    status=page.status,
                    content_type=page.content_type,
                    final_url=page.final_url,
                )
                for page in pages[start : start + PAGES_PER_TRANSACTION]
            ]
        )
        with transaction.atomic():
            run.renew(message="storing pages")
            store_visits(site=site, prepared=prepared, job=run.job)


def _cluster_site(site: Site, actor: User | None) -> None:
    """Cluster the site anew by the algorithm and the parameters that it works with."""
    run_here(reclustering_request(site=site), actor=actor)


def _cluster_of(site: Site, plan: RepairPlan) -> Cluster | None:
    """Return the cluster in which most of a plan's pages are now; None where they are in none."""
    urls = plan.new.urls
    members = PageMembership.objects.of_site(site)
    rows = members.values_list("page__url", "cluster").iterator(chunk_size=ROWS_PER_FETCH)
    n_by_cluster = Counter(cluster for url, cluster in rows if url in urls)
    if not n_by_cluster:
        return None
    (pk, _), *_ = n_by_cluster.most_common(1)
    return Cluster.objects.get(pk=pk)


def _publish_rule(plan: RepairPlan, cluster: Cluster, actor: User | None) -> Rule | None:
    """Return the rule that serves a cluster from now on; None where the plan has none to publish."""
    if plan.reused_rule is not None:
        if plan.reused_rule.cluster_id == cluster.pk:
            return plan.reused_rule
        return _publish_copy(plan.reused_rule, cluster, actor)
    if plan.rule is None or plan.relearnt is None or not plan.may_be_published:
        return None
    rule = _create_repaired(plan.relearnt, plan.rule, cluster, actor)
    try:
        publish_rule(rule=rule, actor=actor)
    except ValidationError:
        return None  # it stays a draft, to be looked at
    _annotate(plan.relearnt, plan.rule.vertical, cluster, actor)
    return rule


def _publish_copy(rule: Rule, cluster: Cluster, actor: User | None) -> Rule | None:
    """Return a published copy of a rule for another cluster; a rule that the cluster has already stays.

    None where the copy cannot be published.
    """
    published = Rule.objects.published().filter(cluster=cluster).first()
    if published is not None:
        return published
    copy = Rule(
        cluster=cluster,
        vertical=rule.vertical,
        schema=rule.schema,
        definition=rule.definition,
        stylesheet=rule.stylesheet,
        figures=rule.figures,
        validation=rule.validation,
        learner=rule.learner,
        origin=rule.origin,
        edited_from=rule.edited_from,
        comment=f"reused from {rule}",
    )
    unannotated = _snapshots_of_cluster(cluster)[:MAX_UNANNOTATED_SAMPLES]
    _save_draft(copy, before=rule, pages=SamplePages([], unannotated, []), actor=actor)
    try:
        publish_rule(rule=copy, actor=actor)
    except ValidationError:
        return None
    return copy


def _create_repaired(
    relearnt: RelearntRule, before: Rule, cluster: Cluster, actor: User | None
) -> Rule:
    """Create a relearnt rule as a draft, with the pages from which it was learnt."""
    figures = []
    for attribute in relearnt.definition.attributes:
        n_annotated = sum(attribute.attribute in page.values for page in relearnt.annotated)
        figures.append(figure_of(attribute, n_annotated=n_annotated, missing_on=[]))
    rule = Rule(
        cluster=cluster,
        vertical=before.vertical,
        schema=before.schema,
        definition=relearnt.definition.as_json(),
        stylesheet=relearnt.stylesheet,
        figures=figures,
        validation={"pages": relearnt.verdict.n_pages, "repaired": relearnt.measures},
        learner=before.learner,
        comment="repaired after a site change",
    )
    pages = SamplePages(
        annotated=_snapshots_of_pages(cluster, [page.url for page in relearnt.annotated]),
        unannotated=_snapshots_of_pages(cluster, relearnt.unannotated),
        held_out=[],
    )
    _save_draft(rule, before=before, pages=pages, actor=actor)
    return rule


@transaction.atomic
def _save_draft(rule: Rule, *, before: Rule, pages: SamplePages, actor: User | None) -> None:
    """Save a version that follows another one; its cluster describes the same vertical from now on."""
    save_version(rule, pages=pages, actor=actor)
    vertical = vertical_of(rule.cluster)
    if vertical is None or vertical.pk != before.vertical_id:
        Assignment.objects.update_or_create(
            site=rule.cluster.site, cluster=rule.cluster, defaults={"vertical": before.vertical}
        )
    audit.record(
        actor=actor,
        action="rule.repaired",
        subject=str(rule),
        site=rule.cluster.site,
        detail={"from": str(before), "comment": rule.comment},
    )


def _snapshots_of_cluster(cluster: Cluster) -> list[Snapshot]:
    """Return the latest snapshots of a cluster's pages."""
    members = PageMembership.objects.of_cluster(cluster)
    return _latest_snapshots(Page.objects.filter(pk__in=members.values("page")))


def _snapshots_of_pages(cluster: Cluster, urls: Sequence[str]) -> list[Snapshot]:
    """Return the latest snapshots of some pages of a cluster's site, in the order of their addresses."""
    snapshots = _latest_snapshots(Page.objects.filter(site=cluster.site_id, url__in=urls))
    index_by_url = {url: index for index, url in enumerate(urls)}
    return sorted(snapshots, key=lambda snapshot: index_by_url[snapshot.page.url])


def _latest_snapshots(pages: QuerySet[Page]) -> list[Snapshot]:
    with_snapshot = pages.filter(latest_snapshot__isnull=False)
    snapshots = [
        page.latest_snapshot for page in with_snapshot.select_related("latest_snapshot__page")
    ]
    return [snapshot for snapshot in snapshots if snapshot is not None]


def _annotate(
    relearnt: RelearntRule, vertical: Vertical, cluster: Cluster, actor: User | None
) -> None:
    """Annotate the new snapshots with what was found again; annotations of the old ones end."""
    page_by_url = {page.url: page for page in relearnt.proposed}
    live = Annotation.objects.live().filter(
        page__url__in=list(page_by_url), page__site=cluster.site_id
    )
    urls = {page.url for page in relearnt.annotated}
    urls.update(live.values_list("page__url", flat=True))
    attributes = {
        attribute.name: attribute
        for attribute in Attribute.objects.live().filter(vertical=vertical)
    }
    for snapshot in _snapshots_of_pages(cluster, sorted(urls)):
        _annotate_snapshot(snapshot, page_by_url[snapshot.page.url], attributes, actor)
    audit.record(
        actor=actor,
        action="annotations.repaired",
        subject=cluster.name,
        site=cluster.site,
        detail={"pages": len(urls)},
    )


def _annotate_snapshot(
    snapshot: Snapshot, page: ProposedPage, attributes: Mapping[str, Attribute], actor: User | None
) -> None:
    tree = read_tree(snapshot)
    if tree is None:
        return
    texts = read_texts(tree)
    marks: dict[Attribute | None, list[AnnotatedValue]] = {}
    for name, values in page.values.items():
        if name not in attributes:
            continue
        try:
            anchors = [anchor_node(texts, value.place.xpath, value.place.text) for value in values]
        except AnchorProblem:
            continue
        marks[attributes[name]] = [
            AnnotatedValue(anchor, _record_around(anchor.xpath, page)) for anchor in anchors
        ]
    if page.records:
        marks[None] = [AnnotatedValue(record=tuple(record)) for record in page.records]
    for name in page.absent & attributes.keys():
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


def _record_around(xpath: str, page: ProposedPage) -> tuple[str, ...]:
    """Return the record in which a node stands; nothing where it is in none."""
    for record in page.records:
        if any(f"{xpath}/".startswith(f"{element}/") for element in record):
            return tuple(record)
    return ()


def _accept(proposal: Proposal, cluster: Cluster, rule: Rule, actor: User | None) -> None:
    proposal.state, proposal.cluster, proposal.rule = Proposal.State.ACCEPTED, cluster, rule
    proposal.accepted_at, proposal.accepted_by = timezone.now(), actor
    proposal.save(update_fields=["state", "cluster", "rule", "accepted_at", "accepted_by"])


def _retire_unserved(
    site: Site, plans: Iterable[RepairPlan], served: Collection[int], actor: User | None
) -> None:
    """Retire the rules whose cluster changed and for which nothing could be published."""
    for plan in plans:
        rule = plan.rule
        if rule is None or plan.reused_rule is not None or rule.cluster_id in served:
            continue
        published = Rule.objects.published().filter(pk=rule.pk)
        if not published.update(state=Rule.State.RETIRED, retired_at=timezone.now()):
            continue  # it is retired already
        audit.record(
            actor=actor,
            action="rule.retired",
            subject=str(rule),
            site=site,
            detail={"why": "its pages changed and no repair passed the field test"},
        )


def _draw_samples(site: Site, cluster: Cluster) -> None:
    """Draw the samples of a repaired cluster anew, so that an editor sees the pages as they are now."""
    try:
        run_here(sampling.samples_request(site=site, cluster=cluster.name))
    except (jobs.JobExists, jobs.JobFailed, jobs.JobNotClaimed, ValidationError):
        return  # the rule serves; samples can be drawn at any time
