"""Let plans of repair come into force: store the new pages, cluster them, publish the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotation.algorithms.anchors.anchoring import anchor_node
from annotation.algorithms.anchors.node_paths import AnchorProblem
from annotation.algorithms.anchors.page_texts import read_texts
from annotation.models import Annotation, Assignment, Attribute
from annotation.services.annotations.annotating import annotate, annotate_page
from annotation.services.annotations.stored_marks import AnnotatedValue
from annotation.services.samples import sampling
from clustering.models import Cluster, Clustering, Page, PageMembership, Snapshot
from clustering.services.clusters.clustering_runs import cluster_site
from clustering.services.clusters.clusterings import cancel_left_run, request_clustering
from clustering.services.pages.pages import Visit, prepare_visits, store_visits
from monitoring.algorithms.repair import ProposedPage
from monitoring.models import Proposal, SiteChange
from monitoring.services.checks.changes import end_change
from monitoring.services.checks.fresh_pages import FreshPage
from monitoring.services.repair.plans import RepairPlan
from rules.models import Rule, RuleSample
from rules.services.learning.sample_pages import tree_of
from rules.services.learning.schemas import vertical_of
from rules.services.review.publishing import publish_rule
from vertex.core.models import Job, Site, User
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.people import audit

AT_ONCE = 50  # pages stored in one transaction


def accept_plans(
    run: JobRun,
    site: Site,
    plans: Sequence[RepairPlan],
    fresh: Mapping[str, FreshPage],
    proposals: Sequence[Proposal],
) -> list[tuple[str | None, bool]]:
    """Apply the plans that the field test lets pass.

    Returns the name of each plan's cluster from then on, and whether the plan gave it a rule.

    A rule that lost its pages and found no successor retires, so that nobody reads wrong values.
    """
    actor = run.job.created_by
    _store_pages(run, site, fresh)
    with run.kept_alive():
        _cluster(site, actor)
    clusters = [_cluster_of(site, plan) for plan in plans]
    served = set()
    for plan, proposal, cluster in zip(plans, proposals, clusters, strict=True):
        if cluster is None:
            continue
        with run.kept_alive():
            rule = _rule_of(plan, cluster, actor)
        if rule is not None:
            served.add(rule.cluster_id)
            _note_accepted(proposal, cluster, rule, actor)
            end_change(cluster=cluster, end=SiteChange.End.REPAIRED)
    _retire_unserved(site, plans, served, actor)
    _draw_samples(
        site, [c for c, plan in zip(clusters, plans, strict=True) if c and plan.may_be_published]
    )
    return [
        (cluster.name if cluster else None, proposal.state == Proposal.State.ACCEPTED)
        for cluster, proposal in zip(clusters, proposals, strict=True)
    ]


def _store_pages(run: JobRun, site: Site, fresh: Mapping[str, FreshPage]) -> None:
    """Store the pages as the newest snapshots, batch by batch."""
    pages = list(fresh.values())
    for start in range(0, len(pages), AT_ONCE):
        now = timezone.now()
        visits = [
            Visit(page.url, page.body, now, page.status, page.content_type, page.final_url)
            for page in pages[start : start + AT_ONCE]
        ]
        prepared = prepare_visits(visits)
        with transaction.atomic():
            run.renew(message="storing pages")
            store_visits(site=site, prepared=prepared, job=run.job)


def _cluster(site: Site, actor: User | None) -> None:
    """Cluster the site anew by the algorithm that it works with."""
    current = Clustering.objects.current().filter(site=site).without_model().first()
    algorithm = current.algorithm if current else "auto"
    _do(
        partial(request_clustering, site=site, algorithm=algorithm, actor=actor, rings=False),
        cluster_site,
    )


def _do(request: Callable[[], Job], work: Any) -> None:
    """Do another job within this one; one that a killed worker left in the middle ends. Raises JobFailed."""
    try:
        job = request()
    except jobs.JobExists as unfinished:
        if not cancel_left_run(job=unfinished.job):
            raise
        job = request()
    done = jobs.run_job(job.pk, work)
    if done.state != Job.State.DONE:
        raise jobs.JobFailed(done.error or f"“{done.title}” (job {done.pk}) did not end well")


def _cluster_of(site: Site, plan: RepairPlan) -> Cluster | None:
    """Return the cluster in which most of a plan's pages are now."""
    members = PageMembership.objects.current().filter(clustering__site=site, cluster__isnull=False)
    rows = members.values_list("page__url", "cluster").iterator(chunk_size=5_000)
    counts = Counter(cluster for url, cluster in rows if url in plan.new.urls)
    return Cluster.objects.get(pk=counts.most_common(1)[0][0]) if counts else None


def _rule_of(plan: RepairPlan, cluster: Cluster, actor: User | None) -> Rule | None:
    """Return the rule that serves a cluster from now on; None where the plan has none to publish."""
    if plan.reuse.from_cluster is not None and plan.rule is not None:
        return (
            plan.rule
            if plan.rule.cluster_id == cluster.pk
            else _copy_rule(plan.rule, cluster, actor)
        )
    if not plan.may_be_published:
        return None
    rule = _new_rule(plan, cluster, actor)
    try:
        publish_rule(rule=rule, actor=actor)
    except ValidationError:
        return None  # it stays a draft, to be looked at
    _annotate(plan, cluster, actor)
    return rule


def _copy_rule(rule: Rule, cluster: Cluster, actor: User | None) -> Rule | None:
    """Let another cluster be served by a rule as well; one that it has already stays."""
    published = Rule.objects.published().filter(cluster=cluster).first()
    if published is not None:
        return published
    with transaction.atomic():
        copy = _create(
            cluster,
            rule,
            actor,
            f"reused from {rule}",
            {
                "definition": rule.definition,
                "stylesheet": rule.stylesheet,
                "figures": rule.figures,
                "validation": rule.validation,
                "origin": rule.origin,
                "edited_from": rule.edited_from,
            },
        )
        _keep_samples(copy, [], _snapshots(cluster, None)[:20])
    try:
        publish_rule(rule=copy, actor=actor)
    except ValidationError:
        return None
    return copy


def _new_rule(plan: RepairPlan, cluster: Cluster, actor: User | None) -> Rule:
    relearnt, before = plan.relearnt, plan.rule
    assert relearnt is not None  # noqa: S101 - may_be_published says so
    assert before is not None  # noqa: S101 - nothing is learnt anew without a rule before
    with transaction.atomic():
        rule = _create(
            cluster,
            before,
            actor,
            "repaired after a site change",
            {
                "definition": relearnt.definition.as_json(),
                "stylesheet": relearnt.stylesheet,
                "figures": _figures(plan),
                "validation": {"pages": relearnt.verdict.n_pages, "repaired": relearnt.measures},
            },
        )
        annotated = [page.url for page in relearnt.annotated]
        _keep_samples(
            rule, _snapshots(cluster, annotated), _snapshots(cluster, relearnt.unannotated)
        )
    return rule


def _create(
    cluster: Cluster, before: Rule, actor: User | None, comment: str, made: dict[str, Any]
) -> Rule:
    """Write a further version of a cluster's rule, as a draft; the cluster describes the same vertical."""
    Cluster.objects.select_for_update(no_key=True).get(pk=cluster.pk)
    vertical = vertical_of(cluster)
    if vertical is None or vertical.pk != before.vertical_id:
        Assignment.objects.update_or_create(
            site=cluster.site, cluster=cluster, defaults={"vertical": before.vertical}
        )
    last = Rule.objects.filter(cluster=cluster).aggregate(last=Max("version"))["last"] or 0
    rule = Rule.objects.create(
        cluster=cluster,
        version=last + 1,
        vertical=before.vertical,
        schema=before.schema,
        learner=before.learner,
        comment=comment,
        made_by=actor,
        **made,
    )
    audit.record(
        actor=actor,
        action="rule.repaired",
        subject=str(rule),
        site=cluster.site,
        detail={"from": str(before), "comment": comment},
    )
    return rule


def _figures(plan: RepairPlan) -> list[dict[str, Any]]:
    relearnt = plan.relearnt
    assert relearnt is not None  # noqa: S101 - the caller has checked
    told = []
    for one in relearnt.definition.attributes:
        best = one.alternatives[0] if one.alternatives else None
        told.append(
            {
                "attribute": one.attribute,
                "kind": best.kind if best else "none",
                "xpath": best.xpath if best else "",
                "precision": best.numbers.precision if best else 0.0,
                "distance": best.numbers.distance if best else 0,
                "support": best.numbers.support if best else 0.0,
                "n_annotated": sum(one.attribute in page.values for page in relearnt.annotated),
                "missing_on": [],
            }
        )
    return told


def _snapshots(cluster: Cluster, urls: Sequence[str] | None) -> list[Snapshot]:
    """Return the latest snapshots of some pages of a cluster's site, or of the cluster's own pages."""
    if urls is None:
        members = (
            PageMembership.objects.current().filter(cluster=cluster).order_by("page__url_hash")
        )
        pages = Page.objects.filter(pk__in=members.values("page"))
    else:
        pages = Page.objects.filter(site=cluster.site_id, url__in=urls)
    found = pages.filter(latest_snapshot__isnull=False).select_related("latest_snapshot__page")
    order = {url: place for place, url in enumerate(urls or ())}
    snapshots = [
        page.latest_snapshot for page in sorted(found, key=lambda page: order.get(page.url, 0))
    ]
    return [snapshot for snapshot in snapshots if snapshot is not None]


def _keep_samples(rule: Rule, annotated: Iterable[Snapshot], others: Iterable[Snapshot]) -> None:
    uses = ((RuleSample.Use.ANNOTATED, annotated), (RuleSample.Use.UNANNOTATED, others))
    RuleSample.objects.bulk_create(
        RuleSample(rule=rule, snapshot=snapshot, use=use)
        for use, snapshots in uses
        for snapshot in snapshots
    )


def _annotate(plan: RepairPlan, cluster: Cluster, actor: User | None) -> None:
    """Write down what was found again as annotations of the new snapshots; those of the old ones go."""
    relearnt = plan.relearnt
    assert relearnt is not None  # noqa: S101 - the caller has checked
    pages = {page.url: page for page in relearnt.proposed}
    live = Annotation.objects.live().filter(page__url__in=list(pages), page__site=cluster.site_id)
    wanted = {page.url for page in relearnt.annotated} | set(
        live.values_list("page__url", flat=True)
    )
    attributes = (
        {one.name: one for one in Attribute.objects.live().filter(vertical=plan.rule.vertical)}
        if plan.rule
        else {}
    )
    for snapshot in _snapshots(cluster, sorted(wanted)):
        _annotate_page(snapshot, pages[snapshot.page.url], attributes, actor)
    audit.record(
        actor=actor,
        action="annotations.repaired",
        subject=cluster.name,
        site=cluster.site,
        detail={"pages": len(wanted)},
    )


def _annotate_page(
    snapshot: Snapshot, page: ProposedPage, attributes: Mapping[str, Attribute], actor: User | None
) -> None:
    tree = tree_of(snapshot)
    if tree is None:
        return
    texts = read_texts(tree)
    marks: dict[Attribute | None, list[AnnotatedValue]] = {}
    for name, found in page.values.items():
        try:
            anchors = [anchor_node(texts, one.place.xpath, one.place.text) for one in found]
        except AnchorProblem:
            continue
        if name in attributes:
            marks[attributes[name]] = [
                AnnotatedValue(anchor, _record_of(anchor.xpath, page)) for anchor in anchors
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


def _record_of(xpath: str, page: ProposedPage) -> tuple[str, ...]:
    """Return the record in which a node stands; nothing where it is in none."""
    around = (
        record
        for record in page.records
        if any(f"{xpath}/".startswith(f"{one}/") for one in record)
    )
    return tuple(next(around, ()))


def _note_accepted(proposal: Proposal, cluster: Cluster, rule: Rule, actor: User | None) -> None:
    proposal.state, proposal.cluster, proposal.rule = Proposal.State.ACCEPTED, cluster, rule
    proposal.accepted_at, proposal.accepted_by = timezone.now(), actor
    proposal.save(update_fields=["state", "cluster", "rule", "accepted_at", "accepted_by"])


def _retire_unserved(
    site: Site, plans: Sequence[RepairPlan], served: set[int], actor: User | None
) -> None:
    """Retire the rules whose cluster changed and for which nothing could be published."""
    changed = {
        plan.rule.pk: plan.rule
        for plan in plans
        if plan.rule is not None
        and plan.reuse.from_cluster is None
        and plan.rule.cluster_id not in served
    }
    for rule in changed.values():
        if (
            Rule.objects.published()
            .filter(pk=rule.pk)
            .update(state=Rule.State.RETIRED, retired_at=timezone.now())
        ):
            audit.record(
                actor=actor,
                action="rule.retired",
                subject=str(rule),
                site=site,
                detail={"why": "its pages changed and no repair passed the field test"},
            )


def _draw_samples(site: Site, clusters: Sequence[Cluster]) -> None:
    """Draw the samples of repaired clusters anew, so that an editor sees the pages as they are now."""
    for cluster in clusters:
        try:
            request = partial(
                sampling.request_samples, site=site, cluster=cluster.name, rings=False
            )
            _do(request, sampling.draw_samples)
        except (jobs.JobExists, jobs.JobFailed, jobs.JobNotClaimed, ValidationError):
            continue  # the rule serves; samples can be drawn at any time
