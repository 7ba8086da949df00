"""Learn the rule of each annotated cluster, and say what it does on the samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils import timezone
from lxml.etree import _Element

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Annotation, Vertical
from annotation.services.page.stored_pages import tree_of
from clustering.models import Cluster, Clustering, Snapshot
from rules.algorithms.learning.learner import LEARNERS, learn_from
from rules.algorithms.learning.list_learner import learn_list
from rules.algorithms.learning.samples import Samples, read_samples
from rules.algorithms.learning.targets import AnnotatedPage
from rules.algorithms.rule.rule import AttributeRule, ClusterRule
from rules.algorithms.running.records import Extracted, RunnableRule
from rules.algorithms.running.run_rule import extract_tree
from rules.algorithms.stylesheet.stylesheet import stylesheet_of
from rules.models import Rule, RuleSample
from rules.services.learning.sample_pages import (
    SamplePages,
    annotated_page,
    extract_snapshot,
    sample_pages_of,
)
from rules.services.learning.schemas import runnable, vertical_of
from rules.services.learning.tree_cache import WALKS, kept_tree
from rules.services.review.publishing import publish_rule
from vertex.core.models import Job, Site, User
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest
from vertex.core.services.people import audit


def learning_request(
    *,
    site: Site,
    cluster: str = "",
    learner: str = "default",
    is_draft: bool = True,
    is_forced: bool = False,
) -> JobRequest:
    """Describe the learning of the rule of one annotated cluster, or of all. Raises ValidationError."""
    if learner not in LEARNERS:
        raise ValidationError(f"there is no learner {learner!r}; there are: {', '.join(LEARNERS)}")
    if not Clustering.objects.current().filter(site=site).exists():
        raise ValidationError(f"{site.name} has no clusters yet; cluster its pages first")
    if cluster and not _present(site).filter(name=cluster).exists():
        names = ", ".join(_present(site).values_list("name", flat=True)[:20])
        raise ValidationError(f"{site.name} has no cluster {cluster!r}; it has: {names or 'none'}")
    params = {"cluster": cluster, "learner": learner, "is_draft": is_draft, "is_forced": is_forced}
    return JobRequest(
        kind=LEARN_RULES,
        title=f"Learn rules of {site.name}" + (f", {cluster}" if cluster else ""),
        site=site,
        params=params,
        key=f"learn_rules:{site.pk}",
        detail=params,
    )


def learn_rules(run: JobRun) -> dict[str, Any]:
    """Learn the rules that a job asks for; what each attribute came to is reported.

    Raises JobFailed where nothing is annotated, or a rule may not be published.
    """
    site, params = run.site, run.job.params
    clusters = _annotated(site, params["cluster"])
    if not clusters:
        raise jobs.JobFailed(
            f"nothing is annotated in {params['cluster'] or 'any cluster'} of {site.name}; "
            "annotate a page first, or import annotations"
        )
    refused = []
    for n_done, cluster in enumerate(clusters):
        run.renew(n_done=n_done, n_total=len(clusters), message=cluster.title)
        with run.kept_alive():
            rule = learn_rule(cluster=cluster, learner=params["learner"], actor=run.job.created_by)
        for line in rule.figures:
            run.report({"cluster": cluster.name, **line})
        if not params["is_draft"]:
            try:
                publish_rule(rule=rule, actor=run.job.created_by, is_forced=params["is_forced"])
            except ValidationError as error:
                refused += error.messages
    run.renew(n_done=len(clusters))
    if refused:
        raise jobs.JobFailed(" ".join(refused))
    return {"rules": len(clusters), "published": 0 if params["is_draft"] else len(clusters)}


LEARN_RULES = JobKind("rules.learn_rules", Job.Queue.LEARN, learn_rules, "rules.requested")


class LearntRule(NamedTuple):
    """A rule just learnt, with all that it was learnt from."""

    cluster: Cluster
    vertical: Vertical
    attributes: list[AttributeType]
    pages: SamplePages
    marked: dict[int, AnnotatedPage]  # by snapshot, those that have a tree
    trees: list[_Element | None]  # of the samples, in their order
    samples: Samples
    rule: ClusterRule
    stylesheet: str
    extracted: list[Extracted | None]  # on the samples, in their order

    @property
    def annotated(self) -> list[AnnotatedPage]:
        return list(self.marked.values())

    @property
    def runnable(self) -> RunnableRule:
        return RunnableRule(self.cluster.name, 0, self.stylesheet, self.attributes)


def learn_rule(*, cluster: Cluster, learner: str = "default", actor: User | None = None) -> Rule:
    """Learn a further version of a cluster's rule, as a draft.

    Raises JobFailed where the cluster describes no vertical.
    """
    learnt = learn_samples(cluster, learner)
    validation = _validation(learnt.runnable, learnt.pages.held_out)
    with transaction.atomic():
        Cluster.objects.select_for_update(no_key=True).get(pk=cluster.pk)
        rule = Rule(cluster=cluster, version=next_version(cluster), learner=learner)
        _write(rule, learnt, validation, actor)
    return rule


def keep_draft(*, cluster: Cluster, actor: User | None = None) -> tuple[Rule, LearntRule]:
    """Learn a cluster's rule anew and let the newest version be what was learnt, if it is a draft.

    Else that is a further version. Pages that were no samples are not looked at: `check_held_out` does that.
    Raises JobFailed where the cluster describes no vertical.
    """
    learnt = learn_samples(cluster, is_kept=True)
    with transaction.atomic():
        Cluster.objects.select_for_update(no_key=True).get(pk=cluster.pk)
        newest = Rule.objects.filter(cluster=cluster).order_by("-version").first()
        is_draft = (
            newest is not None and newest.state == Rule.State.DRAFT and bool(newest.definition)
        )
        rule = (
            newest if is_draft and newest else Rule(cluster=cluster, version=next_version(cluster))
        )
        _write(rule, learnt, {}, actor)
    return rule, learnt


def check_held_out(*, rule: Rule) -> None:
    """Measure a draft on pages that were no samples, where that was not done yet."""
    if rule.validation:
        return
    trial = replace(runnable(rule), trust={})
    held_out = [
        sample.snapshot
        for sample in rule.samples.filter(use=RuleSample.Use.HELD_OUT).select_related(
            "snapshot__page"
        )
    ]
    rule.validation = _validation(trial, held_out)
    rule.save(update_fields=["validation"])


def learn_samples(
    cluster: Cluster, learner: str = "default", *, is_kept: bool = False
) -> LearntRule:
    """Learn from a cluster's samples and run what was learnt on them. Raises JobFailed.

    The pages are kept for the next time where it comes soon.
    """
    vertical = vertical_of(cluster)
    if vertical is None:
        raise jobs.JobFailed(
            f"{cluster.site.name} has no vertical, so nobody knows what to extract from {cluster.name}; "
            "assign one first"
        )
    pages, attributes = sample_pages_of(cluster), vertical.attribute_types()
    read = kept_tree if is_kept else tree_of
    marked = {s.pk: page for s in pages.annotated if (page := annotated_page(s, read)) is not None}
    others = {snapshot.pk: read(snapshot) for snapshot in pages.unannotated}
    trees_of_others = [tree for tree in others.values() if tree is not None]
    samples = read_samples(list(marked.values()), trees_of_others, WALKS if is_kept else None)
    rule = _learn(samples, attributes, learner)
    trees = [
        page.tree if (page := marked.get(s.pk)) is not None else others.get(s.pk)
        for s in pages.samples
    ]
    learnt = LearntRule(
        cluster=cluster,
        vertical=vertical,
        attributes=attributes,
        pages=pages,
        marked=marked,
        trees=trees,
        samples=samples,
        rule=rule,
        stylesheet=stylesheet_of(rule, title=f"{cluster.site.name}: {cluster.title}"),
        extracted=[],
    )
    ready = learnt.runnable
    for snapshot, tree in zip(pages.samples, learnt.trees, strict=True):
        found = None if tree is None else extract_tree(tree, snapshot.page.url, ready, nodes=True)
        learnt.extracted.append(found)
    return learnt


def _write(rule: Rule, learnt: LearntRule, validation: dict[str, Any], actor: User | None) -> None:
    """Let a version be what was learnt."""
    rule.vertical = learnt.vertical
    rule.schema = [attribute.as_json() for attribute in learnt.attributes]
    rule.definition, rule.stylesheet = learnt.rule.as_json(), learnt.stylesheet
    rule.figures, rule.validation = _told(learnt), validation
    rule.made_at, rule.made_by = timezone.now(), actor
    rule.save()
    rule.samples.all().delete()
    store_samples(rule, learnt.pages)
    detail = {
        "cluster": learnt.cluster.name,
        "version": rule.version,
        "annotated": len(learnt.annotated),
    }
    audit.record(
        actor=actor,
        action="rule.learnt",
        subject=str(rule),
        site=learnt.cluster.site,
        detail=detail,
    )


def _told(learnt: LearntRule) -> list[dict[str, Any]]:
    missing = [
        (snapshot.page.url, _missing_in(found, learnt.attributes))
        for snapshot, found in zip(learnt.pages.samples, learnt.extracted, strict=True)
    ]
    return [
        _figures(
            rule,
            n_annotated=sum(
                rule.attribute in {*page.values, *page.absent} for page in learnt.annotated
            ),
            missing_on=[url for url, names in missing if rule.attribute in names],
        )
        for rule in learnt.rule.attributes
    ]


def _learn(samples: Samples, attributes: Sequence[AttributeType], learner: str) -> ClusterRule:
    """Learn the rule; fields of records within these, where an editor said where the records are."""
    is_list = any(page.records for page in samples.pages)
    return (learn_list if is_list else learn_from)(samples, attributes, learner=learner)


def _present(site: Site) -> models.QuerySet[Cluster]:
    return Cluster.objects.present().filter(site=site)


def _annotated(site: Site, name: str) -> list[Cluster]:
    """Return the clusters of a site with annotations on their pages, or the one of this name if it has."""
    annotated = (
        Annotation.objects.live().filter(page__site=site, attribute__isnull=False).values("page")
    )
    found = _present(site).filter(
        memberships__clustering__is_current=True, memberships__page__in=annotated
    )
    if name:
        found = found.filter(name=name)
    return list(found.distinct().order_by("name"))


def next_version(cluster: Cluster) -> int:
    """Return the number of the version that comes next; the caller holds the cluster's row."""
    last = Rule.objects.filter(cluster=cluster).aggregate(last=models.Max("version"))["last"]
    return (last or 0) + 1


def _missing_in(found: Extracted | None, attributes: Sequence[AttributeType]) -> set[str]:
    """Return the attributes of which no value was found on a page."""
    records = found.records if found else []
    names = [attribute.name for attribute in attributes]
    return {name for name in names if not any(name in record.values for record in records)}


def _figures(rule: AttributeRule, *, n_annotated: int, missing_on: list[str]) -> dict[str, Any]:
    """Return what an attribute's rule is and measured, as the command line tells it."""
    best = rule.alternatives[0] if rule.alternatives else None
    told: dict[str, Any] = {
        "attribute": rule.attribute,
        "kind": best.kind if best else "none",
        "xpath": best.xpath if best else "",
        "precision": best.numbers.precision if best else 0.0,
        "distance": best.numbers.distance if best else 0,
        "support": best.numbers.support if best else 0.0,
        "n_annotated": n_annotated,
        "missing_on": missing_on,
    }
    if rule.failures:
        told["reason"] = rule.reason or "; ".join(
            f"{failure.step}: {failure.reason}" + (f" ({failure.page})" if failure.page else "")
            for failure in rule.failures
        )
    return told


def _validation(rule: RunnableRule, held_out: Iterable[Snapshot]) -> dict[str, Any]:
    """Return on how many pages that were no samples each attribute has a value."""
    n_found: dict[str, int] = {attribute.name: 0 for attribute in rule.attributes}
    n_pages = 0
    for snapshot in held_out:
        extracted = extract_snapshot(snapshot, rule)
        n_pages += 1
        records = extracted.records if extracted else []
        for name in n_found:
            n_found[name] += any(name in record.values for record in records)
    return {"pages": n_pages, "found": n_found}


def store_samples(rule: Rule, pages: SamplePages) -> None:
    """Keep the pages as they were when the rule was learnt."""
    uses = (
        (RuleSample.Use.ANNOTATED, pages.annotated),
        (RuleSample.Use.UNANNOTATED, pages.unannotated),
        (RuleSample.Use.HELD_OUT, pages.held_out),
    )
    RuleSample.objects.bulk_create(
        RuleSample(rule=rule, snapshot=snapshot, use=use)
        for use, snapshots in uses
        for snapshot in snapshots
    )
