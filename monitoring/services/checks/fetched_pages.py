"""Fetch a check's or a repair's pages so that a killed worker's successor goes on from there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from clustering.dom.page import PageTooLarge, parse_page
from clustering.models import Page, Snapshot
from clustering.services.crawl.errands import open_errands
from clustering.services.crawl.rendered_pages import rendered_pages
from monitoring.models import Check, FetchedPage
from monitoring.services.checks.fresh_pages import FreshPage, errand_for, page_of
from monitoring.services.checks.tested_pages import read_body
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.storage import page_store
from vertex.core.texts import storable

MAX_SECONDS = 1_800.0  # of a check
AGAIN = "again"  # the page is to be fetched once more


def fetch_pages(
    run: JobRun,
    pages: Iterable[Page],
    *,
    check: Check | None = None,
    seconds: float = MAX_SECONDS,
    tries: int = 2,
) -> None:
    """Fetch the pages that were not fetched yet for a check, or else for the job. Raises HostTaken.

    Each page is stored at once.
    """
    owner: dict[str, Any] = {"check_run": check} if check else {"job": run.job}
    wanted = sorted(pages, key=lambda page: page.url)
    settled = FetchedPage.objects.filter(**owner).exclude(why=AGAIN)
    done = set(settled.values_list("page", flat=True))
    missing = {page.url: page for page in wanted if page.pk not in done}
    with run.kept_alive(), open_errands(run) as errands:
        visits = [errand_for(url, tries=tries) for url in missing]
        for errand in errands.do(visits, seconds=seconds):
            page = missing[errand.url]
            columns = _columns(page_of(errand))
            with transaction.atomic():
                done.add(page.pk)
                run.renew(
                    n_done=len(done), n_total=len(wanted), message=f"fetching {page.url}"[:300]
                )
                _save(owner, page, columns)


def fresh_pages(*, check: Check | None = None, job: Job | None = None) -> dict[str, FreshPage]:
    """Return the pages that answered and can still be read, by address."""
    rows = FetchedPage.objects.filter(**_owner(check, job)).exclude(body="").select_related("page")
    pages = {}
    for row in rows:
        body = read_body(row.body)
        if body is not None:
            pages[row.page.url] = FreshPage(
                row.page.url,
                body,
                row.content_type,
                status=row.status or 0,
                final_url=row.final_url,
            )
    return pages


def silences(check: Check) -> dict[str, str]:
    """Return why pages did not answer, by address."""
    rows = FetchedPage.objects.filter(check_run=check, body="").exclude(why="")
    return dict(rows.values_list("page__url", "why"))


def tries_by_url(check: Check) -> dict[str, int]:
    """Return how often each page was fetched."""
    return dict(FetchedPage.objects.filter(check_run=check).values_list("page__url", "n_tries"))


def fetch_again(*, check: Check, urls: Collection[str]) -> None:
    """Mark pages to be fetched once more."""
    FetchedPage.objects.filter(check_run=check, page__url__in=list(urls)).update(why=AGAIN)


def store_bodies(pages: Iterable[tuple[int, FreshPage]]) -> dict[int, tuple[FreshPage, str]]:
    """Store the bodies of pages outside a transaction; return page and body's name, by page."""
    wanted = [(pk, page) for pk, page in pages if page.body]
    names = page_store().put_many([page.body for _, page in wanted]) if wanted else []
    return {pk: (page, name) for (pk, page), name in zip(wanted, names, strict=True)}


def save_snapshots(site: Site, bodies: Mapping[int, tuple[FreshPage, str]]) -> dict[int, Snapshot]:
    """Return snapshots of pages as they are now, by page; they do not replace what is extracted.

    A snapshot that no page names as its latest is read by nobody who does not ask for it: neither
    clusters nor records change.
    """
    names = [name for _, name in bodies.values()]
    rows = Snapshot.objects.filter(page__in=list(bodies), body__in=names).order_by("pk")
    stored = {(row.page_id, row.body): row for row in rows}
    rendered = rendered_pages(site)
    snapshots = {}
    for page_id, (page, name) in bodies.items():
        snapshot = stored.get((page_id, name))
        snapshots[page_id] = snapshot or _create_snapshot(
            page_id, page, name, is_rendered=rendered.has(page.url)
        )
    return snapshots


def _create_snapshot(page_id: int, page: FreshPage, body: str, *, is_rendered: bool) -> Snapshot:
    try:
        parsed = parse_page(page.body, page.content_type)
        encoding, problem = parsed.encoding, parsed.problem
    except PageTooLarge:
        encoding, problem = "", Snapshot.Problem.TRUNCATED.value
    now = timezone.now()
    return Snapshot.objects.create(
        page_id=page_id,
        body=body,
        n_bytes=len(page.body),
        status=page.status,
        content_type=storable(page.content_type, 200),
        encoding=encoding,
        requested_url=page.url,
        final_url=page.final_url or page.url,
        problem=problem,
        is_rendered=is_rendered,
        fetched_at=now,
        seen_at=now,
    )


def _owner(check: Check | None, job: Job | None) -> dict[str, Any]:
    return {"check_run": check} if check else {"job": job}


def _columns(result: FreshPage | str) -> dict[str, Any]:
    """Return a fetched page's columns, with its body stored; or those of why there is none."""
    if isinstance(result, str):
        return {"body": "", "status": None, "content_type": "", "final_url": "", "why": result[:40]}
    return {
        "body": page_store().put(result.body),
        "status": result.status,
        "content_type": storable(result.content_type, 200),
        "final_url": storable(result.final_url),
        "why": "",
    }


def _save(owner: dict[str, Any], page: Page, columns: dict[str, Any]) -> None:
    row = FetchedPage.objects.filter(page=page, **owner).first()
    if row is None:
        FetchedPage.objects.create(page=page, fetched_at=timezone.now(), **owner, **columns)
        return
    for name, value in columns.items():
        setattr(row, name, value)
    row.n_tries, row.fetched_at = row.n_tries + 1, timezone.now()
    row.save()
