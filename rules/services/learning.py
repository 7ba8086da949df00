"""Learn the rule of each annotated cluster, and say what it does on the samples."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.db import models, transaction

from annotation.models import Annotation
from clustering.models import Cluster, Clustering, Job
from clustering.services import audit, jobs
from rules.algorithms.learner import LEARNERS, learn_cluster
from rules.algorithms.run_rule import RunnableRule, extract_tree
from rules.algorithms.stylesheet import stylesheet_of
from rules.models import Rule, RuleSample
from rules.services.publishing import publish_rule
from rules.services.sample_pages import SamplePages, annotated_page, sample_pages_of, tree_of, trees_of
from rules.services.schemas import schema_of, specs_of, types_of, vertical_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lxml.html import HtmlElement

    from clustering.models import Site, Snapshot, User
    from clustering.services.jobs import JobRun
    from rules.algorithms.rule import AttributeRule, ClusterRule
    from rules.algorithms.targets import AnnotatedPage, AttributeSpec

    Report = Callable[[dict[str, Any]], None]


def request_learning(
    *,
    site: Site,
    cluster: str = "",
    learner: str = "default",
    is_draft: bool = True,
    is_forced: bool = False,
    actor: User | None = None,
    rings: bool = True,
) -> Job:
    """Let a job learn the rule of one annotated cluster, or of all. Raises ValidationError, JobExists."""
    if learner not in LEARNERS:
        raise ValidationError(f"there is no learner {learner!r}; there are: {', '.join(LEARNERS)}")
    if not Clustering.objects.current().filter(site=site).exists():
        raise ValidationError(f"{site.name} has no clusters yet; cluster its pages first")
    if cluster and not _present(site).filter(name=cluster).exists():
        names = ", ".join(_present(site).values_list("name", flat=True)[:20])
        raise ValidationError(f"{site.name} has no cluster {cluster!r}; it has: {names or 'none'}")
    params = {"cluster": cluster, "learner": learner, "is_draft": is_draft, "is_forced": is_forced}
    with transaction.atomic():
        job = jobs.create_job(
            task="rules.learn_rules",
            queue=Job.Queue.LEARN,
            title=f"Learn rules of {site.name}" + (f", {cluster}" if cluster else ""),
            site=site,
            params=params,
            key=f"learn_rules:{site.pk}",
            actor=actor,
            rings=rings,
        )
        audit.record(actor=actor, action="rules.requested", subject=site.name, site=site, detail=params)
    return job


def learn_rules(run: JobRun, report: Report | None = None) -> dict[str, Any]:
    """Learn the rules that a job asks for; what each attribute came to is told line by line.

    Raises JobFailed where nothing is annotated, or a rule may not be published.
    """
    site, params = run.job.site, run.job.params
    if site is None:
        raise jobs.JobFailed("the site was deleted meanwhile")
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
            if report:
                report({"cluster": cluster.name, **line})
        if not params["is_draft"]:
            try:
                publish_rule(rule=rule, actor=run.job.created_by, is_forced=params["is_forced"])
            except ValidationError as error:
                refused += error.messages
    run.renew(n_done=len(clusters))
    if refused:
        raise jobs.JobFailed(" ".join(refused))
    return {"rules": len(clusters), "published": 0 if params["is_draft"] else len(clusters)}


def learn_rule(*, cluster: Cluster, learner: str = "default", actor: User | None = None) -> Rule:
    """Learn a further version of a cluster's rule, as a draft.

    Raises JobFailed where the cluster describes no vertical.
    """
    vertical = vertical_of(cluster)
    if vertical is None:
        raise jobs.JobFailed(
            f"{cluster.site.name} has no vertical, so nobody knows what to extract from {cluster.name}; "
            "assign one first"
        )
    pages, schema = sample_pages_of(cluster), schema_of(vertical)
    annotated = [page for page in map(annotated_page, pages.annotated) if page is not None]
    learnt = _learn(annotated, trees_of(pages.unannotated), specs_of(schema), learner)
    stylesheet = stylesheet_of(learnt, title=f"{cluster.site.name}: {cluster.title}")
    trial = RunnableRule(cluster.name, 0, stylesheet, types_of(schema))
    missing = {snapshot.pk: _missing_on(trial, snapshot) for snapshot in pages.samples}
    told = [
        _figures(
            rule,
            n_annotated=sum(rule.attribute in {*page.values, *page.absent} for page in annotated),
            missing_on=[s.page.url for s in pages.samples if rule.attribute in missing[s.pk]],
        )
        for rule in learnt.attributes
    ]
    with transaction.atomic():
        Cluster.objects.select_for_update(no_key=True).get(pk=cluster.pk)
        rule = Rule.objects.create(
            cluster=cluster,
            version=_next_version(cluster),
            vertical=vertical,
            schema=schema,
            definition=learnt.as_json(),
            stylesheet=stylesheet,
            figures=told,
            validation=_validation(trial, pages.held_out),
            learner=learner,
            made_by=actor,
        )
        _store_samples(rule, pages)
        detail = {"cluster": cluster.name, "version": rule.version, "annotated": len(annotated)}
        audit.record(actor=actor, action="rule.learnt", subject=str(rule), site=cluster.site, detail=detail)
    return rule


def _learn(
    annotated: Sequence[AnnotatedPage],
    unannotated: Sequence[HtmlElement],
    specs: Sequence[AttributeSpec],
    learner: str,
) -> ClusterRule:
    """Learn the rule; on a page of records each attribute has a value in each, so it is learnt as multi."""
    if not any(page.records for page in annotated):
        return learn_cluster(annotated, unannotated, specs, learner=learner)
    as_multi = [replace(spec, is_multi=True) for spec in specs]
    learnt = learn_cluster(annotated, unannotated, as_multi, learner=learner)
    rules = zip(learnt.attributes, specs, strict=True)
    return replace(learnt, attributes=tuple(replace(rule, is_multi=spec.is_multi) for rule, spec in rules))


def _present(site: Site) -> models.QuerySet[Cluster]:
    return Cluster.objects.present().filter(site=site)


def _annotated(site: Site, name: str) -> list[Cluster]:
    """Return the clusters of a site with annotations on their pages, or the one of this name if it has."""
    annotated = Annotation.objects.live().filter(page__site=site, attribute__isnull=False).values("page")
    found = _present(site).filter(memberships__clustering__is_current=True, memberships__page__in=annotated)
    if name:
        found = found.filter(name=name)
    return list(found.distinct().order_by("name"))


def _next_version(cluster: Cluster) -> int:
    last = Rule.objects.filter(cluster=cluster).aggregate(last=models.Max("version"))["last"]
    return (last or 0) + 1


def _missing_on(rule: RunnableRule, snapshot: Snapshot) -> set[str]:
    """Return the attributes that a rule does not find on a page."""
    tree = tree_of(snapshot)
    if tree is None:
        return {attribute.name for attribute in rule.attributes}
    records = extract_tree(tree, snapshot.page.url, rule).records
    return {a.name for a in rule.attributes if not any(a.name in record.values for record in records)}


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
        missing = _missing_on(rule, snapshot)
        n_pages += 1
        for name in n_found.keys() - missing:
            n_found[name] += 1
    return {"pages": n_pages, "found": n_found}


def _store_samples(rule: Rule, pages: SamplePages) -> None:
    """Keep the pages as they were when the rule was learnt."""
    uses = (
        (RuleSample.Use.ANNOTATED, pages.annotated),
        (RuleSample.Use.UNANNOTATED, pages.unannotated),
        (RuleSample.Use.HELD_OUT, pages.held_out),
    )
    RuleSample.objects.bulk_create(
        RuleSample(rule=rule, snapshot=snapshot, use=use) for use, snapshots in uses for snapshot in snapshots
    )
