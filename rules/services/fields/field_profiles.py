"""Learn what the fields of a vertical look like from the published rules of its sites."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils import timezone
from lxml.etree import _Element

from annotation.algorithms.fields.profiles import SiteProfile, fit_of, profile_site
from annotation.algorithms.fields.recognising import MAX_PAGES, find_described_slots
from annotation.models import Vertical
from clustering.models import Cluster, PageMembership, Snapshot
from clustering.services.pages.stored_trees import read_tree
from rules.algorithms.running.records import texts_of
from rules.models import FieldProfile, Rule
from rules.services.learning.sample_pages import RuleStopped, extract_snapshot
from rules.services.learning.schemas import runnable
from vertex.core.models import Job, Site, User
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobExists, JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest, enqueue
from vertex.core.services.people.people import keeps_sites_apart

MAX_PROFILES: Final = 20  # of a vertical; more make drafts slower, not better


class PageWithRecord(NamedTuple):
    """A page that has one record, with what a rule extracts from it."""

    snapshot: Snapshot
    tree: _Element
    values: dict[str, list[str]]  # by attribute


def training_request(*, vertical: Vertical, sites: Sequence[Site] = ()) -> JobRequest:
    """Describe the learning of a vertical's fields from its sites, or from those named.

    Raises ValidationError where none of them has a published rule.
    """
    if not published_rules_of(vertical, sites).exists():
        names = ", ".join(site.name for site in sites) or "its sites"
        raise ValidationError(
            f"{vertical.name} cannot be learnt: none of {names} has a published rule; "
            "publish one first"
        )
    return JobRequest(
        kind=TRAIN_VERTICAL,
        title=f"Learn the fields of {vertical.name}",
        params={"vertical": vertical.name, "sites": [site.name for site in sites]},
        key=f"train_vertical:{vertical.pk}",
        subject=vertical.name,
    )


def train_vertical(run: JobRun) -> dict[str, Any]:
    """Do the work of a training job."""
    params = run.job.params
    vertical = Vertical.objects.get(name=params["vertical"])
    sites = list(Site.objects.filter(name__in=params["sites"]))
    rules = list(published_rules_of(vertical, sites))
    for n_done, rule in enumerate(rules):
        run.renew(n_done=n_done, n_total=len(rules), message=rule.cluster.site.name)
        with run.kept_alive():
            profile_rule(rule)
    run.renew(n_done=len(rules))
    profiles = FieldProfile.objects.filter(rule__in=rules).select_related("cluster__site")
    if not profiles:
        raise jobs.JobFailed(f"the pages of {vertical.name} show no values of its published rules")
    summary = summary_of(vertical, list(profiles))
    run.report(summary)
    return {"sites": summary["sites"], "pages": summary["pages"]}


TRAIN_VERTICAL = JobKind(
    "rules.train_vertical", Job.Queue.LEARN, train_vertical, "vertical.trained"
)


def start_profiling(*, rule: Rule, actor: User | None = None) -> None:
    """Create the job that learns what a just published rule tells of its vertical's fields.

    Where one of its cluster is already to do so, that one reads the rule that is published by then.
    Sites that are kept apart learn nothing from each other.
    """
    if keeps_sites_apart():
        return
    request = JobRequest(
        kind=PROFILE_RULE,
        title=f"Learn the fields of {rule.vertical.name} from {rule.cluster.site.name}",
        site=rule.cluster.site,
        params={"cluster": rule.cluster_id},
        key=f"profile_rule:{rule.cluster_id}",
        is_audited=False,
    )
    with suppress(JobExists):
        enqueue(request, actor=actor)


def profile_published(run: JobRun) -> dict[str, Any]:
    """Do the work of a job that learns from the published rule of one cluster."""
    published = Rule.objects.published().filter(cluster=run.job.params["cluster"])
    rule = published.select_related("cluster__site", "vertical").first()
    if rule is None:  # retired meanwhile
        return {"pages": 0}
    with run.kept_alive():
        profile_rule(rule)
    profile = FieldProfile.objects.filter(rule=rule).first()
    return {"pages": profile.n_pages if profile else 0}


PROFILE_RULE = JobKind("rules.profile_rule", Job.Queue.LEARN, profile_published)


def summary_of(vertical: Vertical, profiles: Sequence[FieldProfile]) -> dict[str, Any]:
    """Return what was learnt from how much, as the command line prints it."""
    attributes: dict[str, dict[str, int]] = {}
    sites_by_attribute: dict[str, set[int]] = {}
    for profile in profiles:
        for name, n_values in profile.n_values.items():
            figures = attributes.setdefault(name, {"n_values": 0, "n_sites": 0})
            figures["n_values"] += n_values
            sites = sites_by_attribute.setdefault(name, set())
            sites.add(profile.cluster.site_id)
            figures["n_sites"] = len(sites)
    return {
        "vertical": vertical.name,
        "sites": len({profile.cluster.site_id for profile in profiles}),
        "pages": sum(profile.n_pages for profile in profiles),
        "attributes": attributes,
    }


def published_rules_of(vertical: Vertical, sites: Sequence[Site] = ()) -> QuerySet[Rule]:
    """Return the published rules of a vertical, of some sites or of all."""
    rules = Rule.objects.published().filter(vertical=vertical)
    if sites:
        rules = rules.filter(cluster__site__in=sites)
    return rules.select_related("cluster__site").order_by("pk")


def known_profiles(vertical: Vertical, *, besides: Site, run: JobRun) -> list[SiteProfile]:
    """Return what the other sites of a vertical tell of its fields.

    What was published since the last time is learnt now. There are none where sites are kept apart.
    """
    if keeps_sites_apart():
        return []
    return _profiles_of(published_rules_of(vertical).exclude(cluster__site=besides), run)


def profiles_with_own(vertical: Vertical, *, site: Site, run: JobRun) -> list[SiteProfile]:
    """Return what a site tells of its vertical's fields, with the others unless kept apart."""
    sites = [site] if keeps_sites_apart() else []
    return _profiles_of(published_rules_of(vertical, sites), run)


def _profiles_of(rules: QuerySet[Rule], run: JobRun) -> list[SiteProfile]:
    rows = FieldProfile.objects.filter(rule__in=rules)
    known = set(rows.values_list("rule_id", flat=True))
    for rule in rules:
        if rule.pk not in known:
            with run.kept_alive():
                profile_rule(rule)
    return [SiteProfile.from_json(row.profile) for row in rows.order_by("pk")[:MAX_PROFILES]]


def profile_rule(rule: Rule) -> None:
    """Learn from what a published rule extracts from pages of its cluster.

    Nothing is stored where it extracts nothing, or records of lists.
    """
    pages = extracted_pages(rule)
    if not any(page.values for page in pages):
        return
    trees = [page.tree for page in pages]
    slots = find_described_slots(trees)
    fits, n_values = {}, {}
    for attribute in rule.attributes:
        wanted = [page.values.get(attribute.name, []) for page in pages]
        n_values[attribute.name] = sum(map(len, wanted))
        fits[attribute.name] = [
            fit_of(
                [slot.slot.values(page) for page in range(len(trees))],
                wanted,
                is_multi=attribute.is_multi,
            )
            for slot in slots
        ]
    profile = profile_site(rule.cluster.site.name, slots, fits)
    FieldProfile.objects.update_or_create(
        cluster=rule.cluster,
        defaults={
            "rule": rule,
            "vertical": rule.vertical,
            "profile": profile.as_json(),
            "n_values": n_values,
            "n_pages": len(trees),
            "made_at": timezone.now(),
        },
    )


def extracted_pages(rule: Rule) -> list[PageWithRecord]:
    """Return some pages of a rule's cluster with one record each, until it is stopped on one."""
    pages: list[PageWithRecord] = []
    ready = runnable(rule)
    for snapshot in pages_of(rule.cluster):
        try:
            extracted = extract_snapshot(snapshot, ready)
        except RuleStopped:
            break
        tree = read_tree(snapshot)
        if tree is None or extracted is None or len(extracted.records) != 1:
            continue
        record = extracted.records[0]
        values = {name: texts_of(value) for name, value in record.values.items()}
        pages.append(PageWithRecord(snapshot, tree, values))
    return pages


def pages_of(cluster: Cluster) -> list[Snapshot]:
    """Return some pages of a cluster that can be learnt from."""
    members = PageMembership.objects.of_cluster(cluster).learnable().order_by("page__url_hash")
    ids = members.values_list("page__latest_snapshot_id", flat=True)[:MAX_PAGES]
    return list(Snapshot.objects.filter(pk__in=list(ids)).select_related("page").order_by("pk"))
