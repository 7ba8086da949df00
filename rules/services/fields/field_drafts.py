"""Draft the rules of a site from what other sites of its vertical tell of their fields."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.algorithms.fields.profiles import SiteProfile
from annotation.models import Annotation, Assignment, Vertical
from annotation.services.samples.worth import reasons_to_leave_out
from clustering.models import Cluster, Clustering, PageMembership
from rules.models import Rule
from rules.services.fields.cluster_drafts import DraftedRule, make_draft
from rules.services.fields.field_profiles import known_profiles
from rules.services.learning.place_pictures import start_drawing_places
from rules.services.learning.sample_pages import SamplePages, sample_pages_of
from rules.services.learning.schemas import vertical_of
from rules.services.learning.versions import lock_versions, save_version
from vertex.core.models import Job, Site, User
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest
from vertex.core.services.people import audit


def drafting_request(*, site: Site, cluster: str = "", min_certainty: float = 0.0) -> JobRequest:
    """Describe the drafting of the rules of one cluster, or of all that nobody annotated.

    Raises ValidationError.
    """
    if not Clustering.objects.current().filter(site=site).exists():
        raise ValidationError(f"{site.name} has no clusters yet; cluster its pages first")
    present = Cluster.objects.present().filter(site=site)
    if cluster and not present.filter(name=cluster).exists():
        names = ", ".join(present.values_list("name", flat=True)[:20])
        raise ValidationError(f"{site.name} has no cluster {cluster!r}; it has: {names or 'none'}")
    if not 0 <= min_certainty <= 1:
        raise ValidationError(f"a certainty lies between 0 and 1; {min_certainty} does not")
    params = {"cluster": cluster, "min_certainty": min_certainty}
    return JobRequest(
        kind=DRAFT_RULES,
        title=f"Draft rules of {site.name}" + (f", {cluster}" if cluster else ""),
        site=site,
        params=params,
        key=f"draft_rules:{site.pk}",
        detail=params,
    )


def draft_rules(run: JobRun) -> dict[str, Any]:
    """Draft the rule of each cluster that nobody annotated and that has none; none is published.

    Raises JobFailed where no cluster has a vertical, or no other site of it a published rule.
    """
    site, params = run.site, run.job.params
    clusters = _clusters_to_draft(site, params["cluster"])
    profiles_by_vertical: dict[int, list[SiteProfile]] = {}
    n_drafted = n_fields = 0
    for n_done, (cluster, vertical) in enumerate(clusters):
        run.renew(n_done=n_done, n_total=len(clusters), message=cluster.title)
        if vertical.pk not in profiles_by_vertical:
            profiles_by_vertical[vertical.pk] = known_profiles(vertical, besides=site, run=run)
        profiles = profiles_by_vertical[vertical.pk]
        with run.kept_alive():
            rule = draft_cluster(
                cluster=cluster,
                vertical=vertical,
                profiles=profiles,
                min_certainty=params["min_certainty"],
                actor=run.job.created_by,
            )
        if rule is None:
            continue
        n_drafted += 1
        for line in rule.figures:
            n_fields += line["kind"] != "none"
            run.report({"cluster": cluster.name, **line})
    run.renew(n_done=len(clusters))
    if not n_drafted and not any(profiles_by_vertical.values()):
        raise jobs.JobFailed(
            f"no other site of the vertical of {site.name} has a published rule, and its pages "
            "declare nothing, so nothing is known to draft by; publish one first, or annotate a "
            "page"
        )
    return {"rules": n_drafted, "fields": n_fields}


DRAFT_RULES = JobKind("rules.draft_rules", Job.Queue.LEARN, draft_rules, "rules.draft_requested")


def _clusters_to_draft(site: Site, name: str) -> list[tuple[Cluster, Vertical]]:
    """Return the clusters that may be drafted, with their verticals.

    Annotated ones are left to the learner, and those of lists and the like left out, unless they
    are asked for by name. Raises JobFailed where there is none, and says why.
    """
    present = Cluster.objects.present().filter(site=site).order_by("name")
    clusters = list(present.filter(name=name) if name else present)
    left_out = {} if name else reasons_to_leave_out(clusters)
    pairs = []
    for cluster in clusters:
        if cluster.pk in left_out:
            continue
        vertical = vertical_of(cluster)
        if vertical is None or _is_of_people(cluster):
            continue
        if name or not _is_annotated(cluster):
            pairs.append((cluster, vertical))
    if not pairs:
        raise jobs.JobFailed(
            f"nothing to draft in {name or 'any cluster'} of {site.name}: clusters need a "
            "vertical; those with a published rule or one written by hand are left to people, and "
            "so are those with annotations, and those that are not worth annotating, unless they "
            "are named"
        )
    return pairs


def can_be_drafted(site: Site) -> bool:
    """Return whether a cluster of a site with a vertical has neither rule nor annotations."""
    if not Assignment.objects.filter(site=site).exists():
        return False
    ruled = Rule.objects.of_site(site).exclude(origin=Rule.Origin.DRAFTED).values("cluster")
    annotated_pages = Annotation.objects.live().filter(page__site=site).values("page")
    memberships = PageMembership.objects.current().filter(page__in=annotated_pages)
    annotated = memberships.filter(cluster__isnull=False).values("cluster")
    clusters = Cluster.objects.present().filter(site=site)
    return clusters.exclude(pk__in=ruled).exclude(pk__in=annotated).exists()


def _is_of_people(cluster: Cluster) -> bool:
    """Return whether a rule of a cluster is published, or somebody wrote one."""
    rules = Rule.objects.filter(cluster=cluster)
    by_hand = rules.filter(origin__in=(Rule.Origin.EDITED, Rule.Origin.IMPORTED))
    return by_hand.exists() or rules.published().exists()


def _is_annotated(cluster: Cluster) -> bool:
    annotations = Annotation.objects.live().of_cluster(cluster)
    return annotations.filter(attribute__isnull=False).exists()


def draft_cluster(
    *,
    cluster: Cluster,
    vertical: Vertical,
    profiles: list[SiteProfile],
    min_certainty: float = 0.0,
    actor: User | None = None,
) -> Rule | None:
    """Save a draft of a cluster's rule in place of the last; None where nothing was recognised."""
    drafted = make_draft(
        cluster,
        vertical,
        profiles,
        min_certainty=min_certainty,
        annotated=sample_pages_of(cluster).annotated,
    )
    return None if drafted is None else _save(cluster, vertical, drafted, actor)


@transaction.atomic
def _save(
    cluster: Cluster, vertical: Vertical, drafted: DraftedRule, actor: User | None
) -> Rule | None:
    """Save the draft; None where a person published a rule or wrote one meanwhile."""
    newest = lock_versions(cluster)
    if _is_of_people(cluster):
        return None
    is_replaced = (
        newest is not None
        and newest.origin == Rule.Origin.DRAFTED
        and newest.state == Rule.State.DRAFT
    )
    rule = newest if newest is not None and is_replaced else Rule(cluster=cluster)
    rule.origin = Rule.Origin.DRAFTED
    rule.vertical = vertical
    rule.schema = [attribute.as_json() for attribute in vertical.attribute_types()]
    rule.definition = drafted.rule.as_json()
    rule.stylesheet = drafted.stylesheet
    rule.figures = drafted.figures
    rule.validation = {}
    annotated = {snapshot.pk for snapshot in drafted.annotated}
    others = [snapshot for snapshot in drafted.snapshots if snapshot.pk not in annotated]
    save_version(rule, pages=SamplePages(drafted.annotated, others, []), actor=actor)
    audit.record(
        actor=actor,
        action="rule.drafted",
        subject=str(rule),
        site=cluster.site,
        detail={"cluster": cluster.name, "version": rule.version},
    )
    start_drawing_places(rule=rule, actor=actor)
    return rule
