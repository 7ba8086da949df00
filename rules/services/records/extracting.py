"""Run published rules on a site's stored pages: only where something is new, safe from crashes.

A page is due where its latest snapshot was not extracted yet, or other rules or clusters decide
than when it was. Each batch is one transaction with the job's lease; a run that was cut off goes on
with what is still due.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Exists, F, OuterRef

from clustering.algorithms.grouping import RawPage
from clustering.dom.addresses import address_keys
from clustering.models import Page, PageMembership
from clustering.services.clusters.clustering_inputs import first_inbound_xpaths
from clustering.services.pages.stored_pages import (
    MOST_UNREADABLE,
    StoredPage,
    read_pages,
    stored_pages,
)
from rules.algorithms.running.matching import Match
from rules.algorithms.running.record_lines import (
    Line,
    SiteRules,
    line_json,
    line_of_error,
    line_without_rule,
    lines_of_extracted,
)
from rules.algorithms.running.records import ExtractedRecord
from rules.bundle.extraction import extract, lines_of
from rules.models import Extraction, Record
from rules.services.records.borrowing import decide_borrowing
from rules.services.records.page_clusters import assign_new_pages
from rules.services.records.published_rules import PublishedRules, published_rules
from rules.services.records.storing import ExtractedPage, store_extracted
from rules.services.seams import held_follow_up, record_guard
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest

PAGES_PER_BATCH = 100
BY_HAND = "by_hand"


def extraction_request(*, site: Site) -> JobRequest:
    """Describe the extraction of what is due of a site."""
    return JobRequest(
        kind=EXTRACT_RECORDS,
        title=f"Extract records of {site.name}",
        site=site,
        key=f"extract_records:{site.pk}",
    )


def extract_records(run: JobRun) -> dict[str, Any]:
    """Do the work of an extraction job. Raises JobFailed.

    Everything that an extraction may start is started here:

    1. Pages that came since the clustering are assigned to clusters; where it was made of very few
       pages, the site is clustered anew. Clusters without a rule borrow one that reads their pages.
    2. The published rules run on the pages that are due, batch by batch. One whose bytes cannot be
       read keeps its records and stays due; where many cannot, the job fails in the end.
    3. The guard chooses the pages of the batch that are held back; the others are stored.
    4. What is held back is followed up: monitoring counts it, and alerts people and requests a
       check where constant values of many pages changed.
    """
    site = run.site
    assign_new_pages(run, site)
    with run.kept_alive():
        decide_borrowing(site)
    published = published_rules(site)
    if not published.rule_by_cluster:
        raise jobs.JobFailed(
            f"{site.name} has no published rule; learn one first: manage.py learn_rules {site.name}"
        )
    due = due_pages(site, published.ruleset_version)
    n_by_state: Counter[str] = Counter()
    for start in range(0, len(due), PAGES_PER_BATCH):
        pages = stored_pages(site, due[start : start + PAGES_PER_BATCH])
        with run.kept_alive():  # a rule may take seconds on each page before it is stopped
            extracted = extract_pages(site, pages, published)
        with transaction.atomic():
            run.renew(n_done=start + len(pages), n_total=len(due), message="extracting")
            held = record_guard()(site, extracted, published.rule_by_cluster)
            believed = [page for page in extracted if page.page.pk not in held.keys]
            n_by_state.update(store_extracted(believed, site_id=site.pk, published=published))
            if len(extracted) < len(pages):
                n_by_state["unreadable"] += len(pages) - len(extracted)
            if held.pages:
                n_by_state["held"] += len(held.pages)
            held_follow_up()(site, held)
        for page in extracted:
            run.report(page)
    if n_by_state["unreadable"] > MOST_UNREADABLE:
        raise jobs.JobFailed(
            f"{n_by_state['unreadable']:,} of {len(due):,} pages cannot be read: their bytes are "
            "gone or damaged. Their records stay as they were, and they are due again. Bring the "
            "page store back or fetch the pages again, then retry the job"
        )
    return {"pages": len(due), **n_by_state}


EXTRACT_RECORDS = JobKind(
    "rules.extract_records", Job.Queue.EXTRACT, extract_records, "records.requested"
)


def due_pages(site: Site, ruleset_version: str) -> list[int]:
    """Return the pages that were not extracted yet as they and the rules are now."""
    seen = Extraction.objects.filter(
        page=OuterRef("pk"),
        snapshot_seen=OuterRef("latest_snapshot_id"),
        rules_seen=ruleset_version,
    )
    pages = Page.objects.filter(site=site, latest_snapshot__isnull=False)
    return list(pages.filter(~Exists(seen)).order_by("pk").values_list("pk", flat=True))


def extract_pages(
    site: Site, pages: Sequence[StoredPage], published: PublishedRules
) -> list[ExtractedPage]:
    """Return what the published rules make of some pages of a site, of those that can be read."""
    membership_by_page = _memberships([page.pk for page in pages])
    xpaths = {}
    if published.rules.clusters.goes_by_links:
        xpaths = first_inbound_xpaths(site, [page.url for page in pages])
    extracted = []
    raw_pages = read_pages(pages, xpaths, most_unreadable=None)
    for page, raw in zip(pages, raw_pages, strict=True):
        if raw.is_unreadable:
            continue
        membership = membership_by_page.get(page.pk, _Membership(None, is_by_hand=False))
        if membership.is_by_hand and membership.cluster is not None:
            lines = lines_by_hand(raw, membership.cluster, published.rules)
        else:
            lines = lines_of(raw, published.rules, nodes=True)
        if page.status >= HTTPStatus.BAD_REQUEST and lines[0].record is not None:
            lines = [line_of_error(raw.url, lines[0].cluster, page.status)]
        agrees = lines[0].cluster == membership.cluster
        extracted.append(ExtractedPage(page, lines, agrees))
    return extracted


def lines_by_hand(page: RawPage, cluster: str, site: SiteRules) -> list[Line]:
    """Return the lines of a page that a person put into a cluster, whatever the page looks like."""
    rule = site.rule_for(cluster)
    if rule is None:
        return [
            line_without_rule(page.url, Match(cluster, BY_HAND, "A person put the page there."))
        ]
    extracted = extract(page, rule, nodes=True)
    return lines_of_extracted(page.url, rule, extracted, cluster)


def stored_lines(
    site: Site, given_urls: Mapping[str, Sequence[str]] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the JSON lines of a site's stored pages: one a record, or why there is none.

    `given_urls` holds for the pages that are wanted, by normalised address, how it was written: a
    page that was asked for under two spellings has its lines under both.
    """
    extractions = Extraction.objects.filter(site=site).select_related(
        "page", "cluster", "rule__cluster"
    )
    for extraction in extractions.order_by("page").iterator(chunk_size=500):
        page = extraction.page
        urls = [page.given_url] if given_urls is None else given_urls.get(page.url, ())
        if not urls:
            continue
        records = (
            Record.objects.there()
            .filter(page=extraction.page_id)
            .select_related("cluster", "rule__cluster")
        )
        rows = list(records.order_by("index", "key"))
        for url in urls:
            if rows:
                yield from (_stored_line(record, url) for record in rows)
            else:
                yield _reason_line(extraction, url)


class _Membership(NamedTuple):
    """The cluster that a page is in."""

    cluster: str | None
    is_by_hand: bool  # a person moved the page there


def _memberships(pages: Sequence[int]) -> dict[int, _Membership]:
    """Return each page's cluster, and whether a person put it there."""
    rows = PageMembership.objects.current().filter(page__in=pages)
    by_hand = rows.exclude(cluster=F("found")).filter(cluster__changes__kind="move")
    moved = set(by_hand.values_list("page", flat=True))
    return {
        page: _Membership(name, is_by_hand=page in moved)
        for page, name in rows.values_list("page", "cluster__name")
    }


def _stored_line(record: Record, url: str) -> dict[str, Any]:
    outcome = ExtractedRecord(
        values=record.values,
        raw=record.raw,
        normalized=record.normalized,
        missing=record.missing,
        failed=record.failed,
        confidence=record.confidence,
        problems=record.problems,
        nodes=record.nodes,
        index=record.index if record.key else None,
        key=record.key or None,
        details_url=record.details_url,
    )
    rule = str(record.rule) if record.rule else None
    payload = line_json(Line(url, record.cluster.name, rule, outcome), nodes=True)
    payload.pop("record_nodes", None)  # which elements a record consists of is not stored
    return payload


def _reason_line(extraction: Extraction, url: str) -> dict[str, Any]:
    # Unlike a fresh line, one of a stored page has blank values even where no rule serves the page.
    return {
        **address_keys(url),
        "cluster": extraction.cluster.name if extraction.cluster else None,
        "rule": str(extraction.rule) if extraction.rule else None,
        "record": {},
        "raw": {},
        "reason": extraction.reason,
        "why": extraction.why,
    }
