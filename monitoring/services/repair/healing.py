"""Mend a site after a change: reuse the rules that still serve, propose new ones for the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.algorithms.attribute_types import AttributeType
from clustering.models import Cluster, ClusterFigures, Page, PageMembership
from monitoring.algorithms.rule_reuse import NewCluster, OldCluster, Versions, find_reuse
from monitoring.models import FetchedPage, Proposal
from monitoring.services.checks import fetched_pages
from monitoring.services.checks.fresh_pages import FreshPage, pages_of_source
from monitoring.services.checks.host_leases import postpones
from monitoring.services.checks.tested_pages import lines_with, read_body
from monitoring.services.repair.accepting import accept_plans
from monitoring.services.repair.fresh_clusters import cluster_fresh
from monitoring.services.repair.plans import RepairPlan
from monitoring.services.repair.relearning import OldPage, relearn, versions_with
from rules.models import GoldenRecord, Record, Rule
from rules.services.learning.schemas import runnable
from vertex.core.models import Job, Site, User
from vertex.core.services.files.files import check_exists
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.people import audit

Report = Callable[[dict[str, Any]], None]

N_KNOWN = 40  # pages of a cluster whose old and new versions are compared
MOST_SECONDS = 7_200.0  # that fetching may take
N_FETCHED = 80  # pages of a cluster that are fetched where there is no archive


def request_healing(
    *,
    site: Site,
    source: str = "",
    is_accepted: bool = False,
    only: Sequence[str] | None = None,
    pages_of: int | None = None,
    is_careful: bool = False,
    actor: User | None = None,
    rings: bool = True,
) -> Job:
    """Let a job mend a site. Raises ValidationError, UnreadableFile, JobExists.

    `only` names the plans to be accepted, proposed before by the job `pages_of`; where it `is_careful`, those
    that pass the field test are accepted and the others wait.
    """
    if not Rule.objects.published().of_site(site).exists():
        raise ValidationError(
            f"{site.name} has no published rule to mend; learn one first: manage.py learn_rules {site.name}"
        )
    path = Path(source).absolute() if source else None
    if path:
        check_exists(path)
    params = {
        "source": str(path or ""),
        "is_accepted": is_accepted,
        "only": list(only) if only is not None else None,
        "pages_of": pages_of,
        "is_careful": is_careful,
        "is_patient": rings,
    }
    with transaction.atomic():
        job = jobs.create_job(
            task="monitoring.heal_site",
            queue=Job.Queue.LEARN,
            title=f"Mend {site.name}",
            site=site,
            params=params,
            key=f"heal_site:{site.pk}",
            actor=actor,
            rings=rings,
        )
        audit.record(
            actor=actor, action="healing.requested", subject=site.name, site=site, detail=params
        )
    return job


@postpones
def heal_site(run: JobRun, report: Report | None = None) -> dict[str, Any]:
    """RepairPlan the rules of a job's site as it is now, and apply them if it says so. Raises JobFailed."""
    site = run.job.site
    if site is None:
        raise jobs.JobFailed("the site was deleted meanwhile")
    rules = list(Rule.objects.published().of_site(site).select_related("cluster"))
    fresh = _fresh_pages(run, site, rules)
    if not fresh:
        raise jobs.JobFailed("no page could be read from there; nothing is changed")
    with run.kept_alive():
        clusters = cluster_fresh(site, fresh, renew=run.renew)
    old = _old_clusters(site, rules)
    plans = []
    for number, one in enumerate(clusters):
        run.renew(n_done=number, n_total=len(clusters), message=one.name)
        with run.kept_alive():
            plans.append(
                _plan(NewCluster(one.name, one.vector_by_url, one.signature), old, rules, fresh)
            )
    lines = [line_of(plan) for plan in plans]
    proposals = _proposals(run, site, plans, lines)
    if run.job.params["is_accepted"]:
        _accept(run, site, list(zip(plans, lines, proposals, strict=True)), fresh)
    if not run.job.params["source"]:
        _keep_fetched(run, site)
    for line in lines:
        if report:
            report(line)
    decisions = [line["decision"] for line in lines]
    return {decision: decisions.count(decision) for decision in sorted(set(decisions))} | {
        "accepted": sum(bool(line.get("accepted")) for line in lines)
    }


def _accept(
    run: JobRun,
    site: Site,
    planned: Sequence[tuple[RepairPlan, dict[str, Any], Proposal | None]],
    fresh: Mapping[str, FreshPage],
) -> None:
    """Apply the plans that the job is to accept, and note in their lines what came of them."""
    chosen = [
        (plan, line, proposal)
        for plan, line, proposal in planned
        if proposal and _is_chosen(run, plan)
    ]
    plans = [plan for plan, _, _ in chosen]
    is_whole = len(chosen) == len(planned)
    pages = (
        fresh if is_whole else {url: fresh[url] for plan in plans for url in sorted(plan.new.urls)}
    )
    served = accept_plans(
        run, site, plans, pages, [proposal for _, _, proposal in chosen if proposal]
    )
    for (_, line, _), (name, is_served) in zip(chosen, served, strict=True):
        line["cluster"], line["accepted"] = name or line["cluster"], is_served


def _is_chosen(run: JobRun, plan: RepairPlan) -> bool:
    params = run.job.params
    if params.get("only") is not None:
        return plan.new.name in params["only"]
    if params.get("is_careful"):
        return plan.may_be_published or (
            plan.reuse.from_cluster is not None and plan.rule is not None
        )
    return True


def line_of(plan: RepairPlan) -> dict[str, Any]:
    """Return what is told of a plan."""
    from_cluster = plan.reuse.from_cluster or (plan.rule.cluster.name if plan.rule else None)
    line: dict[str, Any] = {
        "cluster": plan.new.name,
        "decision": plan.decision,
        "from_cluster": from_cluster,
        "url_share": round(plan.reuse.url_share, 4),
        "urls": sorted(plan.new.urls),
        "attributes": _attributes(plan),
        "reason": " ".join(plan.why),
    }
    if plan.relearnt is not None:
        line["field_test"] = plan.relearnt.verdict.has_passed
    return line


def _attributes(plan: RepairPlan) -> dict[str, Any]:
    if plan.relearnt is not None:
        xpaths = {
            one.attribute: one.alternatives[0].xpath
            for one in plan.relearnt.definition.attributes
            if one.alternatives
        }
        measures = plan.relearnt.measures
        return {
            name: {"xpath": xpath, **measures.get(name, {"precision": 0.0})}
            for name, xpath in xpaths.items()
        }
    if plan.reuse.from_cluster is None or plan.rule is None:
        return {}
    return {
        figure["attribute"]: {"xpath": figure["xpath"], "precision": figure["precision"]}
        for figure in plan.rule.figures
        if figure.get("xpath")
    }


def _fresh_pages(run: JobRun, site: Site, rules: Sequence[Rule]) -> dict[str, FreshPage]:
    source = run.job.params.get("source", "")
    if source:
        return pages_of_source(Path(source), site, renew=run.renew)
    proposed_by = Job.objects.filter(pk=run.job.params.get("pages_of")).first()
    fresh = fetched_pages.fresh_pages(job=proposed_by) if proposed_by else {}
    if fresh:
        return fresh
    pages: set[int] = set()
    for rule in rules:
        members = (
            PageMembership.objects.current()
            .filter(cluster=rule.cluster_id)
            .order_by("page__url_hash")
        )
        golden = GoldenRecord.objects.filter(rule=rule).values_list("page", flat=True)
        pages |= {*golden, *members.values_list("page", flat=True)[:N_FETCHED]}
    fetched_pages.fetch_pages(run, site, Page.objects.filter(pk__in=pages), seconds=MOST_SECONDS)
    return fetched_pages.fresh_pages(job=run.job)


def _keep_fetched(run: JobRun, site: Site) -> None:
    """Keep what was fetched as snapshots, so that old and new can be seen side by side and be accepted."""
    rows = {row.page_id: row for row in FetchedPage.objects.filter(job=run.job).exclude(body="")}
    urls = dict(Page.objects.filter(pk__in=list(rows)).values_list("url", "pk"))
    fresh = fetched_pages.fresh_pages(job=run.job)
    with run.kept_alive():
        bodies = fetched_pages.keep_bodies((urls[url], page) for url, page in fresh.items())
    with transaction.atomic():
        run.renew(message="keeping pages")
        for pk, snapshot in fetched_pages.keep_snapshots(site, bodies).items():
            FetchedPage.objects.filter(pk=rows[pk].pk).update(snapshot=snapshot)


def _old_clusters(site: Site, rules: Sequence[Rule]) -> list[OldCluster]:
    """Return the clusters as they are stored; those with a rule know the pages that it served before, too.

    A page that came in after the change may have left its cluster already.
    """
    extents = ClusterFigures.objects.filter(clustering__site=site, clustering__is_current=True)
    told = {
        cluster: (signature, importance)
        for cluster, signature, importance in extents.values_list(
            "cluster", "signature", "importance"
        )
    }
    urls: dict[int, set[str]] = {}
    members = PageMembership.objects.current().filter(clustering__site=site, cluster__isnull=False)
    for cluster, url in members.values_list("cluster", "page__url").iterator(chunk_size=5_000):
        urls.setdefault(cluster, set()).add(url)
    ruled = {rule.cluster_id for rule in rules}
    golden = GoldenRecord.objects.filter(rule__in=rules).values_list("rule__cluster", "page__url")
    served = Record.objects.there().filter(cluster__in=ruled).values_list("cluster", "page__url")
    for cluster, url in [*golden, *served.iterator(chunk_size=5_000)]:
        urls.setdefault(cluster, set()).add(url)
    return [
        OldCluster(
            cluster.name,
            frozenset(urls.get(cluster.pk, ())),
            *told.get(cluster.pk, ("", 0.0)),
            cluster.pk in ruled,
        )
        for cluster in Cluster.objects.filter(pk__in={*urls, *ruled})
    ]


def _plan(
    new: NewCluster,
    old: Sequence[OldCluster],
    rules: Sequence[Rule],
    fresh: Mapping[str, FreshPage],
) -> RepairPlan:
    rule_by_name = {rule.cluster.name: rule for rule in rules}

    def versions_of(one: OldCluster) -> tuple[list[Versions], Sequence[AttributeType]]:
        rule = rule_by_name[one.name]
        ready = runnable(rule)
        return versions_with(ready, old_pages(rule, new.urls & one.urls), fresh), ready.attributes

    reuse = find_reuse(new, old, versions_of)
    if reuse.from_cluster is not None:
        return RepairPlan(new, reuse, rule_by_name[reuse.from_cluster])
    best = max(
        (one for one in old if one.has_rule and one.urls & new.urls),
        key=lambda one: (len(one.urls & new.urls), one.importance, one.name),
        default=None,
    )
    if best is None or not _is_mostly_of(new, best, old):
        return RepairPlan(new, reuse)
    rule = rule_by_name[best.name]
    known = [
        page
        for page in old_pages(rule, new.urls & best.urls)
        if page.body != fresh[page.url].body and any(line.values for line in page.golden)
    ]
    return RepairPlan(new, reuse, rule, relearn(rule, known, fresh, new.urls))


def _is_mostly_of(new: NewCluster, best: OldCluster, old: Sequence[OldCluster]) -> bool:
    """Say whether no cluster without a rule had more of the new cluster's pages."""
    shared = len(best.urls & new.urls)
    return all(len(one.urls & new.urls) <= shared for one in old if not one.has_rule)


def old_pages(rule: Rule, urls: frozenset[str]) -> list[OldPage]:
    """Return pages as they were, those with golden records first, with what the rule extracts from them."""
    golden = GoldenRecord.objects.filter(rule=rule, page__url__in=urls).select_related(
        "page", "snapshot"
    )
    pages = [
        OldPage(one.page.url, one.lines, read_body(one.snapshot.body), one.snapshot.content_type)
        for one in golden.order_by("pk")[:N_KNOWN]
    ]
    known = {page.url for page in pages}
    members = PageMembership.objects.current().filter(
        cluster=rule.cluster_id, page__latest_snapshot__isnull=False
    )
    others = members.order_by("page__url_hash").values_list("page", flat=True)
    ready = runnable(rule)
    for page in (
        Page.objects.filter(pk__in=list(others))
        .select_related("latest_snapshot")
        .order_by("url_hash")
    ):
        if len(pages) >= N_KNOWN:
            break
        snapshot = page.latest_snapshot
        if page.url in known or page.url not in urls or snapshot is None or snapshot.status >= 400:
            continue
        body = read_body(snapshot.body)
        lines = lines_with(
            ready, FreshPage(page.url, body, snapshot.content_type, snapshot.status), nodes=True
        )
        pages.append(OldPage(page.url, lines, body, snapshot.content_type))
    return pages


def _proposals(
    run: JobRun, site: Site, plans: Sequence[RepairPlan], lines: Sequence[Mapping[str, Any]]
) -> Sequence[Proposal | None]:
    """Return the proposals of plans: new ones, or those that somebody accepts. Raises JobFailed."""
    only = run.job.params.get("only")
    if only is None:
        return _keep_proposals(run, site, plans, lines)
    waiting = {one.name: one for one in Proposal.objects.waiting().filter(site=site, name__in=only)}
    decisions = {line["cluster"]: line["decision"] for line in lines}
    for name, proposal in waiting.items():
        if decisions.get(name) != proposal.decision:
            raise jobs.JobFailed(
                f"{name} would be planned otherwise now; let the repair be proposed again"
            )
    return [waiting.get(plan.new.name) for plan in plans]


def _keep_proposals(
    run: JobRun, site: Site, plans: Sequence[RepairPlan], lines: Sequence[Mapping[str, Any]]
) -> list[Proposal]:
    """Write the plans down; those of before are replaced."""
    clusters = {cluster.name: cluster for cluster in Cluster.objects.filter(site=site)}
    with transaction.atomic():
        run.renew(message="storing")
        Proposal.objects.waiting().filter(site=site).update(state=Proposal.State.REPLACED)
        return Proposal.objects.bulk_create(
            Proposal(
                site=site,
                job=run.job,
                name=plan.new.name,
                cluster=clusters.get(plan.new.name),
                from_cluster=plan.rule.cluster if plan.rule else None,
                decision=plan.decision,
                why=" ".join(plan.why),
                url_share=line["url_share"],
                n_urls=len(line["urls"]),
                field_test=line.get("field_test"),
                attributes=line["attributes"],
                evidence=_evidence(plan),
            )
            for plan, line in zip(plans, lines, strict=True)
        )


def _evidence(plan: RepairPlan) -> dict[str, Any]:
    """Return the values found again on the annotated pages, each with its score."""
    if plan.relearnt is None:
        return {}
    return {
        page.url: {
            name: [
                {"xpath": one.place.xpath, "text": one.place.text[:300], "score": one.score}
                for one in found
            ]
            for name, found in page.values.items()
        }
        for page in plan.relearnt.annotated
    }
