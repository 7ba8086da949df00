"""The chain: which step follows which, from pages that came in to checked and repaired records.

This is the one place that says what the machine begins by itself. A step has a condition, which a
query over the rows answers: that something came since the step was last started. `go_on` asks the
steps one after the other, at each tick of the clock. What a step was started for and its job are
written in one transaction, so that no step starts twice, and none is lost: what is not written is
found again by the next tick.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from annotation.models import Assignment, Sample
from annotation.services.samples.sampling import DRAW_SAMPLES, samples_request
from clustering.models import Clustering
from clustering.services.clusters.arrivals import ASSIGN_ARRIVALS, plan_arrivals
from clustering.services.clusters.clusterings import CLUSTER_SITE, clustering_request
from clustering.services.clusters.observing import (
    OBSERVE_PAGES,
    is_worth_a_job,
    observing_request,
)
from clustering.services.crawl.address_lists import VISIT_ADDRESSES
from clustering.services.crawl.crawling import CRAWL_SITE
from clustering.services.crawl.revisiting import REVISIT_PAGES
from clustering.services.crawl.sitemap_crawling import CRAWL_SITEMAPS
from clustering.services.pages.importing import IMPORT_PAGES
from monitoring.models import Alert, ChainStep, Check, SiteChange
from monitoring.services.checks.checking import RUN_CHECKS
from monitoring.services.checks.schedules import plan_checks
from monitoring.services.repair.proposals import propose_repairs
from monitoring.services.repair.repairing import HEAL_SITE
from monitoring.services.stream.kept_lists import start_due_lists
from monitoring.services.stream.planning import start_visits
from rules.models import FieldProfile, Rule
from rules.services.fields.field_drafts import DRAFT_RULES, drafting_request
from rules.services.learning.learning import LEARN_RULES
from rules.services.records.extracting import EXTRACT_RECORDS, extraction_request
from vertex.core.models import Job, Site, User
from vertex.core.models.sites import SiteQuerySet
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.jobs.requests import JobRequest, enqueue
from vertex.core.services.people import audit

MIN_PAGES_TO_CLUSTER: Final = 20  # stored pages of a site that was never clustered
AS_IT_WAS: Final = (Check.Verdict.AS_IT_WAS, Check.Verdict.CONTENT_CHANGED)
LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)
BRINGS_PAGES: Final = tuple(
    kind.task for kind in (CRAWL_SITE, CRAWL_SITEMAPS, VISIT_ADDRESSES, REVISIT_PAGES, IMPORT_PAGES)
)
Start = Callable[[datetime, Collection[int]], int]


class DeclaredStep(NamedTuple):
    """A step of the chain."""

    key: str
    title: str
    condition: str  # when the machine begins it
    follower: str  # the step that goes on with what it leaves; blank after the last
    tasks: tuple[str, ...]  # of the jobs that do it, whoever asks for them
    start: Start | None = None  # at all sites but the paused ones; None: a person does it


def go_on(now: datetime | None = None) -> int:
    """Start each step where its condition holds and it is not paused; return the number of jobs."""
    now = now or timezone.now()
    paused: dict[str, list[int]] = {}
    for step, site in ChainStep.objects.filter(is_paused=True).values_list("step", "site"):
        paused.setdefault(step, []).append(site)
    return sum(
        step.start(now, paused.get(step.key, ())) for step in CHAIN if step.start is not None
    )


def pause_step(*, site: Site, step: str, is_paused: bool, actor: User | None) -> ChainStep:
    """Pause a site's step or let it go on; jobs under way finish. Raises ValidationError."""
    if step not in STEP_BY_KEY or STEP_BY_KEY[step].start is None:
        pausable = ", ".join(each.key for each in CHAIN if each.start is not None)
        raise ValidationError(f"{step!r} is no step that can be paused; there are: {pausable}")
    with transaction.atomic():
        row, _ = ChainStep.objects.select_for_update().get_or_create(site=site, step=step)
        if row.is_paused == is_paused:
            return row
        row.is_paused, row.changed_at, row.changed_by = is_paused, timezone.now(), actor
        row.save(update_fields=["is_paused", "changed_at", "changed_by"])
        audit.record(
            actor=actor,
            action="chain_step.paused" if is_paused else "chain_step.resumed",
            subject=step,
            site=site,
        )
    return row


@contextmanager
def all_steps_paused(sites: QuerySet[Site]) -> Iterator[None]:
    """Pause all steps of some sites while somebody takes them; what people paused stays paused."""
    keys = [step.key for step in CHAIN if step.start is not None]
    rows = [ChainStep(site=site, step=key) for site in sites for key in keys]
    ChainStep.objects.bulk_create(rows, ignore_conflicts=True)
    going = ChainStep.objects.filter(site__in=sites, step__in=keys, is_paused=False)
    pks = list(going.values_list("pk", flat=True))
    ChainStep.objects.filter(pk__in=pks).update(is_paused=True)
    try:
        yield
    finally:
        ChainStep.objects.filter(pk__in=pks).update(is_paused=False)


def _crawl(now: datetime, paused: Collection[int]) -> int:
    return start_visits(now, paused=paused) + start_due_lists(now, paused=paused)


def _observe(_now: datetime, paused: Collection[int]) -> int:
    sites = _quiet_sites(paused).annotate(wanted_at=F("last_snapshot_at"))
    return _start_once("observe", sites, _observing_request_if_needed)


def _observing_request_if_needed(site: Site) -> JobRequest | None:
    return observing_request(site=site) if is_worth_a_job(site) else None


def _assign(_now: datetime, paused: Collection[int]) -> int:
    return plan_arrivals(paused=paused)


def _cluster(_now: datetime, paused: Collection[int]) -> int:
    clustered = Clustering.objects.current().filter(site=OuterRef("pk"))
    sites = _quiet_sites(paused).filter(~Exists(clustered), n_pages__gte=MIN_PAGES_TO_CLUSTER)
    sites = sites.annotate(wanted_at=F("last_snapshot_at"))
    return _start_once("cluster", sites, _clustering_request_if_enough)


def _clustering_request_if_enough(site: Site) -> JobRequest | None:
    stored = site.pages.filter(latest_snapshot__isnull=False)
    if len(stored.values_list("pk", flat=True)[:MIN_PAGES_TO_CLUSTER]) < MIN_PAGES_TO_CLUSTER:
        return None
    return clustering_request(site=site)


def _draw_samples(_now: datetime, paused: Collection[int]) -> int:
    drawn = Sample.objects.filter(cluster__site=OuterRef("pk"))
    sites = _described_sites(paused).filter(~Exists(drawn))
    return _start_once("samples", sites, lambda site: samples_request(site=site))


def _draft(_now: datetime, paused: Collection[int]) -> int:
    assigned = Assignment.objects.filter(site=OuterRef(OuterRef("pk"))).values("vertical")
    others = FieldProfile.objects.filter(vertical__in=assigned)
    others = others.exclude(cluster__site=OuterRef("pk"))
    ruled = Rule.objects.filter(cluster__site=OuterRef("pk"))
    sites = _described_sites(paused).filter(Exists(others), ~Exists(ruled))
    return _start_once("proposals", sites, lambda site: drafting_request(site=site))


def _extract(_now: datetime, paused: Collection[int]) -> int:
    """Extract where pages came, rules were published, or what was held back may pass."""
    published = Rule.objects.published().filter(cluster__site=OuterRef("pk"))
    sites = _free_sites(paused).filter(Exists(published), last_snapshot_at__isnull=False)
    wanted_at = Greatest(
        F("last_snapshot_at"),
        _last(published, "published_at"),
        _last(SiteChange.objects.filter(site=OuterRef("pk")), "ended_at"),
        _last(
            Alert.objects.filter(site=OuterRef("pk"), kind=Alert.Kind.HELD),
            "ended_at",
        ),
        _last(
            Check.objects.done().filter(site=OuterRef("pk"), verdict__in=AS_IT_WAS),
            "made_at",
        ),
    )
    return _start_once(
        "extract",
        sites.annotate(wanted_at=wanted_at),
        lambda site: extraction_request(site=site),
    )


def _check(now: datetime, paused: Collection[int]) -> int:
    return plan_checks(now, paused=paused)


def _repair(_now: datetime, paused: Collection[int]) -> int:
    return propose_repairs(paused=paused)


CHAIN: Final = (
    DeclaredStep(
        "crawl",
        "Fetch",
        "Pages with records are due by their freshness goal, or a kept list by its times; "
        "a first crawl is "
        "asked for by a person.",
        "observe",
        BRINGS_PAGES,
        _crawl,
    ),
    DeclaredStep(
        "observe",
        "Read pages",
        "Pages came in, no other job is bringing more, "
        "and they are too many to be read in passing.",
        "assign",
        (OBSERVE_PAGES.task,),
        _observe,
    ),
    DeclaredStep(
        "assign",
        "Assign to clusters",
        "Pages came in after the current clustering.",
        "extract",
        (ASSIGN_ARRIVALS.task,),
        _assign,
    ),
    DeclaredStep(
        "cluster",
        "Cluster",
        f"The site has {MIN_PAGES_TO_CLUSTER} stored pages and no clusters yet.",
        "samples",
        (CLUSTER_SITE.task,),
        _cluster,
    ),
    DeclaredStep(
        "samples",
        "Draw samples",
        "There are clusters, a vertical describes them, and no sample was drawn.",
        "proposals",
        (DRAW_SAMPLES.task,),
        _draw_samples,
    ),
    DeclaredStep(
        "proposals",
        "Propose rules",
        "The vertical has published rules at other sites, and this site has no rule.",
        "publish",
        (DRAFT_RULES.task, LEARN_RULES.task),
        _draft,
    ),
    DeclaredStep(
        "publish",
        "Annotate and publish",
        "A person annotates, looks at the proposals and publishes.",
        "extract",
        (),
    ),
    DeclaredStep(
        "extract",
        "Extract",
        "Pages came in, a rule was published, a check found all well, "
        "or what was held back may pass.",
        "check",
        (EXTRACT_RECORDS.task,),
        _extract,
    ),
    DeclaredStep(
        "check",
        "Check",
        "The schedule of the site says so, or values were held back.",
        "repair",
        (RUN_CHECKS.task,),
        _check,
    ),
    DeclaredStep(
        "repair",
        "Propose repairs",
        "A check found a site change, and the schedule does not say to do nothing.",
        "publish",
        (HEAL_SITE.task,),
        _repair,
    ),
)
STEP_BY_KEY: Final = {step.key: step for step in CHAIN}


def _start_once(
    step: str, sites: QuerySet[Site], request_of: Callable[[Site], JobRequest | None]
) -> int:
    """Start a step at the sites where something came (`wanted_at`) since it was last started.

    A site at which there turns out to be nothing to do is not asked again before something comes.
    """
    rows = ChainStep.objects.filter(site=OuterRef("pk"), step=step)
    started_for = Subquery(rows.values("started_for")[:1])
    due = sites.annotate(started_for=started_for).filter(wanted_at__isnull=False)
    due = due.filter(Q(started_for=None) | Q(wanted_at__gt=F("started_for")))
    return sum(_start(step, site, request_of) for site in due)


def _start(step: str, site: Site, request_of: Callable[[Site], JobRequest | None]) -> bool:
    """Start a step at one site; return whether there is a new job."""
    wanted_at: datetime = site.wanted_at  # type: ignore[attr-defined]  # annotated
    try:
        request = request_of(site)
        with transaction.atomic():
            ChainStep.objects.get_or_create(site=site, step=step)
            row = ChainStep.objects.select_for_update().get(site=site, step=step)
            if row.is_paused or (row.started_for is not None and row.started_for >= wanted_at):
                return False  # another clock was faster, or a person
            row.started_for = wanted_at
            row.job = None if request is None else enqueue(request)
            row.save(update_fields=["started_for", "job"])
    except (JobExists, ValidationError):
        return False  # one is under way, and has perhaps listed its pages: the next tick asks again
    return request is not None


def _free_sites(paused: Collection[int]) -> SiteQuerySet:
    return Site.objects.filter(deletion_requested_at=None).exclude(pk__in=paused)


def _quiet_sites(paused: Collection[int]) -> SiteQuerySet:
    """Return the sites to which no job is bringing pages."""
    bringing = Job.objects.unfinished().filter(site=OuterRef("pk"), task__in=BRINGS_PAGES)
    return _free_sites(paused).filter(~Exists(bringing))


def _described_sites(paused: Collection[int]) -> SiteQuerySet:
    """Return sites with clusters and a vertical, wanted at the last clustering or assignment."""
    current = Clustering.objects.current().filter(site=OuterRef("pk"))
    assigned = Assignment.objects.filter(site=OuterRef("pk"))
    sites = _free_sites(paused).filter(Exists(current), Exists(assigned))
    return sites.annotate(
        wanted_at=Greatest(_last(current, "made_at"), _last(assigned, "assigned_at"))
    )


def _last(rows: QuerySet[Any], field: str) -> Coalesce:
    """Return the last time of a site's rows; long ago where there is none."""
    with_time = rows.filter(**{f"{field}__isnull": False}).order_by(f"-{field}")
    return Coalesce(Subquery(with_time.values(field)[:1]), Value(LONG_AGO))
