"""Save plans with proposals so that accepting publishes what was seen; know what changed since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Count, Max, QuerySet

from annotation.models import Annotation
from clustering.dom.addresses import url_hash
from clustering.models import Cluster, Page, PageMembership
from monitoring.algorithms.repair import ProposedPage
from monitoring.models import FetchedPage, Proposal, SavedPlan
from monitoring.services.checks.fresh_pages import FreshPage
from monitoring.services.repair.hints import hints_of
from monitoring.services.repair.plans import RepairPlan, attributes_json, evidence_json
from monitoring.services.repair.relearning import RelearntRule
from rules.models import Rule
from rules.services.learning.versions import figure_of
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import JobRun

WAY_OUT = "Run the repair again, so that it is planned anew."


class ValueNode(NamedTuple):
    """Where a value was found again."""

    xpath: str
    text: str


class PageValues(NamedTuple):
    """What is annotated on a page once the proposal is accepted."""

    values: Mapping[str, Sequence[ValueNode]]  # by attribute
    absent: Sequence[str]  # attributes
    records: Sequence[Sequence[str]]  # of a list, the XPaths of each one's elements

    @classmethod
    def from_json(cls, payload: Mapping[str, Any]) -> PageValues:
        values = {
            name: [ValueNode(xpath, text) for xpath, text in nodes]
            for name, nodes in payload["values"].items()
        }
        return cls(values, payload["absent"], payload["records"])

    def as_json(self) -> dict[str, Any]:
        return {
            "values": {name: [list(node) for node in nodes] for name, nodes in self.values.items()},
            "absent": list(self.absent),
            "records": [list(record) for record in self.records],
        }


def save_proposals(
    run: JobRun, site: Site, plans: Sequence[RepairPlan], fresh: Mapping[str, FreshPage]
) -> list[Proposal]:
    """Save plans as proposals, which replace those of before that wait."""
    hints = [hints_of(plan, site, fresh, run) for plan in plans]
    cluster_by_name = {cluster.name: cluster for cluster in Cluster.objects.filter(site=site)}
    proposals = [
        Proposal(
            site=site,
            job=run.job,
            name=plan.new.name,
            cluster=cluster_by_name.get(plan.new.name),
            from_cluster=plan.rule.cluster if plan.rule else None,
            decision=plan.decision,
            variant=plan.reuse.variant,
            why=plan.reason,
            url_share=round(plan.reuse.url_share, 4),
            n_urls=len(plan.new.urls),
            field_test=plan.relearnt.verdict.has_passed if plan.relearnt else None,
            attributes=attributes_json(plan),
            evidence=evidence_json(plan),
            silent=list(plan.relearnt.silent) if plan.relearnt else [],
            page_to_annotate=_page_to_annotate(site, plan),
            hints=hints_of_plan,
        )
        for plan, hints_of_plan in zip(plans, hints, strict=True)
    ]
    with transaction.atomic():
        run.renew(message="storing")
        Proposal.objects.waiting().filter(site=site).update(state=Proposal.State.REPLACED)
        Proposal.objects.bulk_create(proposals)
        for proposal, plan in zip(proposals, plans, strict=True):
            save_plan(proposal, plan, fresh)
    return proposals


def _page_to_annotate(site: Site, plan: RepairPlan) -> Page | None:
    """Return the page that would settle most of what a plan leaves out; None where none would."""
    url = plan.relearnt.page_to_annotate if plan.relearnt else ""
    return _pages(site, [url]).first() if url else None


def save_plan(proposal: Proposal, plan: RepairPlan, fresh: Mapping[str, FreshPage]) -> SavedPlan:
    """Save what accepting a proposal does."""
    urls = sorted(plan.new.urls)
    saved = SavedPlan(
        proposal=proposal,
        rule=plan.rule,
        cluster=main_cluster(proposal.site, urls),
        last_annotation=_last_annotation(proposal.site, urls),
        urls=urls,
        pages_digest=digest_of(fresh[url] for url in urls),
    )
    relearnt = plan.relearnt
    if relearnt is not None:
        saved.definition = relearnt.definition.as_json()
        saved.stylesheet = relearnt.stylesheet
        saved.figures = _figures(relearnt)
        saved.validation = {"pages": relearnt.verdict.n_pages, "repaired": relearnt.measures}
        saved.annotated = [page.url for page in relearnt.annotated]
        saved.unannotated = list(relearnt.unannotated)
        saved.values = {page.url: _page_values(page).as_json() for page in relearnt.proposed}
    saved.save()
    return saved


def _figures(relearnt: RelearntRule) -> list[dict[str, Any]]:
    figures = []
    for attribute in relearnt.definition.attributes:
        n_annotated = sum(attribute.attribute in page.values for page in relearnt.annotated)
        figures.append(figure_of(attribute, n_annotated=n_annotated, missing_on=[]))
    return figures


def _page_values(page: ProposedPage) -> PageValues:
    values = {
        name: [ValueNode(value.place.xpath, value.place.text) for value in found_values]
        for name, found_values in page.values.items()
    }
    return PageValues(values, sorted(page.absent), page.records)


def saved_plan_of(proposal: Proposal) -> SavedPlan | None:
    """Return the plan of a proposal; None where it was made before plans were saved."""
    plans = SavedPlan.objects.select_related("proposal__site", "rule__cluster", "cluster")
    return plans.filter(proposal=proposal).first()


def changes_since(proposal: Proposal) -> list[str]:
    """Return what changed of what a proposal rests on since it was made, a sentence each.

    It rests on its pages, the rule in use, the cluster of the pages and their annotations. Of a
    proposal without a saved plan only the pages are known: it is planned anew when it is accepted.
    """
    sentences = []
    source = source_of(proposal)
    if source and not Path(source).exists():
        sentences.append(f"The archive that it was made from is gone: {source}.")
    if not source and not _fetched_pages(proposal).exists():
        sentences.append("The pages that were fetched for it are not kept any more.")
    plan = saved_plan_of(proposal)
    if plan is None:
        return sentences
    sentences += _changes_of_rules(plan)
    cluster = main_cluster(proposal.site, plan.urls)
    if cluster and plan.cluster and cluster != plan.cluster:
        sentences.append(
            f"Most of its pages are in {cluster.name} now, and were in {plan.cluster.name}."
        )
    if _last_annotation(proposal.site, plan.urls) > plan.last_annotation:
        sentences.append("Some of its pages were annotated.")
    return sentences


def _changes_of_rules(plan: SavedPlan) -> list[str]:
    """Return what changed of the rules of a plan's clusters."""
    if plan.rule is None:
        has_rule = plan.proposal.decision != Proposal.Decision.NEEDS_ANNOTATION
        return ["The rule that it follows was deleted."] if has_rule else []
    sentences = []
    if plan.rule.state != Rule.State.PUBLISHED:
        sentences.append(f"{plan.rule} is not published any more.")
    clusters = [plan.rule.cluster, *([plan.cluster] if plan.cluster else [])]
    newer = Rule.objects.published().filter(cluster__in=clusters, published_at__gt=plan.made_at)
    newer = newer.exclude(pk=plan.rule.pk).select_related("cluster")
    return [*sentences, *(f"{rule} was published." for rule in newer)]


def outdated_text(proposal: Proposal, changes: Iterable[str]) -> str:
    """Return why a proposal cannot be accepted any more, and what to do."""
    return f"The proposal for {proposal.name} is out of date. {' '.join(changes)} {WAY_OUT}"


def source_of(proposal: Proposal) -> str:
    """Return the archive that a proposal was made from; blank where its pages were fetched."""
    return str(proposal.job.params.get("source", "")) if proposal.job else ""


def _fetched_pages(proposal: Proposal) -> QuerySet[FetchedPage]:
    """Return the pages that were fetched for a proposal and answered."""
    pages = FetchedPage.objects.filter(job=proposal.job_id, job__isnull=False)
    return pages.exclude(body="")


def digest_of(pages: Iterable[FreshPage]) -> str:
    """Return what is the same for the same bytes at the same addresses."""
    digest = sha256()
    for page in pages:
        digest.update(sha256(page.url.encode("utf-8", "surrogatepass")).digest())
        digest.update(sha256(page.body).digest())
    return digest.hexdigest()


def main_cluster(site: Site, urls: Iterable[str]) -> Cluster | None:
    """Return the cluster in which most of some pages are now; None where they are in none."""
    members = PageMembership.objects.of_site(site).filter(page__in=_pages(site, urls))
    counts = members.values("cluster").annotate(n=Count("pk")).order_by("-n", "cluster")
    most = counts.first()
    return Cluster.objects.get(pk=most["cluster"]) if most else None


def _last_annotation(site: Site, urls: Iterable[str]) -> int:
    """Return the number of the newest annotation of some pages; 0 where they have none."""
    annotations = Annotation.objects.filter(page__in=_pages(site, urls))
    newest: int | None = annotations.aggregate(newest=Max("pk"))["newest"]
    return newest or 0


def _pages(site: Site, urls: Iterable[str]) -> QuerySet[Page]:
    return Page.objects.filter(site=site, url_hash__in=[url_hash(url) for url in urls])
