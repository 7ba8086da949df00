"""Learn the rule of each annotated cluster, and report what it does on the samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import models, transaction

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Annotation, Vertical
from clustering.models import Cluster, Clustering, Snapshot
from rules.algorithms.learning.learner import LEARNERS, learn_from
from rules.algorithms.learning.list_learner import learn_list
from rules.algorithms.learning.samples import Samples
from rules.algorithms.rule.rule import ClusterRule
from rules.algorithms.running.records import Extracted, RunnableRule
from rules.algorithms.running.run_rule import extract_tree
from rules.algorithms.stylesheet.stylesheet import stylesheet_of
from rules.models import Rule, RuleSample
from rules.services.learning.place_pictures import start_drawing_places
from rules.services.learning.sample_pages import (
    ClusterSamples,
    extract_snapshot,
    read_cluster_samples,
    sample_pages_of,
)
from rules.services.learning.schemas import runnable, vertical_of
from rules.services.learning.versions import figure_of, lock_versions, save_version
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
    """Describe the learning of one annotated cluster's rule, or of all. Raises ValidationError."""
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
    refusals = []
    for n_done, cluster in enumerate(clusters):
        run.renew(n_done=n_done, n_total=len(clusters), message=cluster.title)
        with run.kept_alive():
            rule = _learnt_before(run, cluster) or learn_rule(
                cluster=cluster, learner=params["learner"], actor=run.job.created_by
            )
        for line in rule.figures:
            run.report({"cluster": cluster.name, **line})
        if params["is_draft"]:
            start_drawing_places(rule=rule, actor=run.job.created_by)
        elif rule.state != Rule.State.PUBLISHED:
            try:
                publish_rule(rule=rule, actor=run.job.created_by, is_forced=params["is_forced"])
            except ValidationError as error:
                refusals += error.messages
    run.renew(n_done=len(clusters))
    if refusals:
        raise jobs.JobFailed(" ".join(refusals))
    return {"rules": len(clusters), "published": 0 if params["is_draft"] else len(clusters)}


def _learnt_before(run: JobRun, cluster: Cluster) -> Rule | None:
    """Return the rule that a worker of this job learnt before it was gone.

    None where there is none, or people changed since what it rests on: the job may be tried
    again much later.
    """
    job = run.job
    if job.started_at is None or job.started_at == job.claimed_at:
        return None  # no worker came before
    newest = Rule.objects.filter(cluster=cluster).order_by("-version").first()
    if newest is None or newest.made_at < job.started_at or newest.origin != Rule.Origin.LEARNT:
        return None
    is_own = newest.made_by_id == job.created_by_id and newest.learner == job.params["learner"]
    return newest if is_own and newest.validation and _is_up_to_date(newest) else None


def _is_up_to_date(rule: Rule) -> bool:
    """Return whether annotations and vertical are as they were when a rule was learnt."""
    vertical = vertical_of(rule.cluster)
    attributes = vertical.attribute_types() if vertical is not None else []
    later = Annotation.objects.of_cluster(rule.cluster).filter(made_at__gt=rule.made_at)
    return rule.schema == [each.as_json() for each in attributes] and not later.exists()


LEARN_RULES = JobKind("rules.learn_rules", Job.Queue.LEARN, learn_rules, "rules.requested")


class LearntRule(NamedTuple):
    """A rule just learnt, with all that it was learnt from."""

    cluster: Cluster
    vertical: Vertical
    attributes: list[AttributeType]
    samples: ClusterSamples
    rule: ClusterRule
    stylesheet: str
    extracted: list[Extracted | None]  # on the samples, in their order; None without a tree


def learn_rule(*, cluster: Cluster, learner: str = "default", actor: User | None = None) -> Rule:
    """Learn a further version of a cluster's rule, as a draft.

    Raises JobFailed where the cluster describes no vertical.
    """
    learnt = learn_samples(cluster, learner)
    unversioned = RunnableRule(
        cluster.name, 0, learnt.stylesheet, learnt.attributes, ranks=learnt.rule.ranks
    )
    rule = Rule(cluster=cluster, learner=learner)
    rule.validation = _validation(unversioned, learnt.samples.pages.held_out)
    _save_learnt(rule, learnt, actor)
    return rule


@transaction.atomic
def save_draft(*, learnt: LearntRule, actor: User | None = None) -> Rule:
    """Save what was learnt as the newest version, if that is a learnt draft, else as a further one.

    Pages that were no samples are not read: `check_held_out` does that.
    """
    newest = lock_versions(learnt.cluster)
    if newest is not None and newest.state == Rule.State.DRAFT and newest.definition:
        rule = newest
        rule.validation = {}
    else:
        rule = Rule(cluster=learnt.cluster)
    _save_learnt(rule, learnt, actor)
    start_drawing_places(rule=rule, actor=actor)
    return rule


def check_held_out(*, rule: Rule) -> None:
    """Measure a draft on pages that were no samples, where that was not done yet."""
    if rule.validation:
        return
    held_out = rule.samples.filter(use=RuleSample.Use.HELD_OUT).select_related("snapshot__page")
    untrusted = replace(runnable(rule), trust={})
    rule.validation = _validation(untrusted, [sample.snapshot for sample in held_out])
    rule.save(update_fields=["validation"])


def learn_samples(
    cluster: Cluster, learner: str = "default", *, is_cached: bool = False
) -> LearntRule:
    """Learn from a cluster's samples and run what was learnt on them.

    `is_cached` keeps the pages for the next time, where it comes soon. Raises JobFailed where the
    cluster describes no vertical.
    """
    vertical = vertical_of(cluster)
    if vertical is None:
        raise jobs.JobFailed(
            f"{cluster.site.name} has no vertical, so nobody knows what to extract from "
            f"{cluster.name}; "
            "assign one first"
        )
    attributes = vertical.attribute_types()
    samples = read_cluster_samples(sample_pages_of(cluster), is_cached=is_cached)
    rule = _learn(samples.indexed, attributes, learner)
    stylesheet = stylesheet_of(rule, title=f"{cluster.site.name}: {cluster.title}")
    unversioned = RunnableRule(cluster.name, 0, stylesheet, attributes, ranks=rule.ranks)
    extracted = [
        None if tree is None else extract_tree(tree, snapshot.page.url, unversioned, nodes=True)
        for snapshot, tree in zip(samples.pages.samples, samples.trees, strict=True)
    ]
    return LearntRule(cluster, vertical, attributes, samples, rule, stylesheet, extracted)


def _save_learnt(rule: Rule, learnt: LearntRule, actor: User | None) -> None:
    """Save what was learnt as this version."""
    rule.vertical = learnt.vertical
    rule.schema = [attribute.as_json() for attribute in learnt.attributes]
    rule.definition = learnt.rule.as_json()
    rule.stylesheet = learnt.stylesheet
    rule.figures = _figures_of(learnt)
    rule.opinions = []
    with transaction.atomic():
        save_version(rule, pages=learnt.samples.pages, actor=actor)
        audit.record(
            actor=actor,
            action="rule.learnt",
            subject=str(rule),
            site=learnt.cluster.site,
            detail={
                "cluster": learnt.cluster.name,
                "version": rule.version,
                "annotated": len(learnt.samples.annotated),
            },
        )


def _figures_of(learnt: LearntRule) -> list[dict[str, Any]]:
    """Return what each attribute's rule is and measured, as the command line prints it."""
    missing = [
        (snapshot.page.given_url, _missing_in(extracted, learnt.attributes))
        for snapshot, extracted in zip(learnt.samples.pages.samples, learnt.extracted, strict=True)
    ]
    figures = []
    for rule in learnt.rule.attributes:
        name = rule.attribute
        n_annotated = sum(
            name in page.values or name in page.absent for page in learnt.samples.annotated
        )
        missing_on = [url for url, names in missing if name in names]
        figure = figure_of(rule, n_annotated=n_annotated, missing_on=missing_on)
        if rule.failures:
            figure["reason"] = rule.reason or "; ".join(map(str, rule.failures))
        figures.append(figure)
    return figures


def _missing_in(extracted: Extracted | None, attributes: Sequence[AttributeType]) -> set[str]:
    """Return the attributes of which no value was found on a page."""
    missing = {attribute.name for attribute in attributes}
    for record in extracted.records if extracted else []:
        missing -= record.values.keys()
    return missing


def _learn(samples: Samples, attributes: Sequence[AttributeType], learner: str) -> ClusterRule:
    """Learn the rule; that of a list where records are annotated."""
    is_list = any(page.records for page in samples.pages)
    learn = learn_list if is_list else learn_from
    return learn(samples, attributes, learner=learner)


def _present(site: Site) -> models.QuerySet[Cluster]:
    return Cluster.objects.present().filter(site=site)


def _annotated(site: Site, name: str) -> list[Cluster]:
    """Return a site's clusters with annotated pages, or of them only the one of this name."""
    annotated = (
        Annotation.objects.live().filter(page__site=site, attribute__isnull=False).values("page")
    )
    clusters = _present(site).filter(
        memberships__clustering__is_current=True, memberships__page__in=annotated
    )
    if name:
        clusters = clusters.filter(name=name)
    return list(clusters.distinct().order_by("name"))


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
