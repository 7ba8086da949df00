"""Fetch what stored pages are drawn with: style sheets, images and fonts, once for a site.

A job does it, for pages that somebody looks at: samples, bellwethers, both sides of a site change,
pages that an editor opens. No page of a crawl waits for its files. What comes is cleaned before it
is kept, in the page store; what does not come is a row that says why. `SnapshotAssets` names the
assets that a snapshot was given and never changes by itself, so that a page goes on looking as on
the day that it was seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.db import transaction
from django.utils import timezone

from clustering.dom.frame.rendering import files_wanted_by
from clustering.dom.page import PageTooLarge
from clustering.models import Asset, Snapshot, SnapshotAssets
from clustering.services.children.stored import PageTooHeavy, call_on_page
from clustering.services.crawl.errands import open_errands, postpones
from clustering.services.looks.asset_fetching import PageFiles, SiteFiles
from vertex.core.models import Job, Site, User
from vertex.core.services.jobs.jobs import JobExists, JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest, enqueue
from vertex.core.storage import BodyDamaged, BodyMissing

MAX_SNAPSHOTS = 10_000  # of one job
ROWS_PER_STATEMENT = 500
MAX_ROUNDS = 7  # sheets that import sheets that name images


def start_fetching_assets(
    *, snapshots: Iterable[Snapshot], actor: User | None = None, again: bool = False
) -> Job | None:
    """Create the job that fetches what these snapshots of one site are drawn with.

    Returns None where all of them have it, and the unfinished job that is already to do the same.
    With `again`, what they have is fetched anew. Raises ValueError where they are of several sites.
    """
    wanted = list(snapshots)
    if not again:
        done = _with_assets([snapshot.pk for snapshot in wanted])
        wanted = [snapshot for snapshot in wanted if snapshot.pk not in done]
    if not wanted:
        return None
    site = wanted[0].page.site
    if any(snapshot.page.site_id != site.pk for snapshot in wanted):
        raise ValueError("the snapshots are of several sites")
    pks = sorted({snapshot.pk for snapshot in wanted})[:MAX_SNAPSHOTS]
    request = JobRequest(
        kind=FETCH_ASSETS,
        title=_title(site, pks, wanted[0]),
        site=site,
        params={"snapshots": pks, "again": again},
        key=f"fetch_assets:{site.pk}:{sha256(repr(pks).encode()).hexdigest()[:32]}",
    )
    try:
        return enqueue(request, actor=actor)
    except JobExists as unfinished:
        return unfinished.job


def unfinished_job(snapshot: Snapshot) -> Job | None:
    """Return the job that is to fetch this snapshot's assets, None where there is none."""
    jobs = Job.objects.unfinished().filter(task=FETCH_ASSETS.task, site=snapshot.page.site_id)
    for job in jobs.order_by("pk"):
        if snapshot.pk in job.params["snapshots"]:
            return job
    return None


@postpones
def fetch_assets(run: JobRun) -> dict[str, Any]:
    """Fetch the assets of each of the job's snapshots; those that have theirs are done.

    Files are asked for in the turns of their hosts, which crawls give way to.
    """
    site, pks = run.site, run.job.params["snapshots"]
    n_missing = 0
    is_again = bool(run.job.params.get("again"))
    done = set(pks[: run.job.n_done]) if is_again else _with_assets(pks)
    with open_errands(run, is_for_files=True) as errands:
        files = SiteFiles(site, errands, is_anew=is_again)
        for n_done, pk in enumerate(pks):
            run.renew(n_done=n_done, n_total=len(pks))
            snapshot = (
                Snapshot.objects.filter(pk=pk, page__site=site).select_related("page").first()
            )
            if snapshot is not None and pk not in done:
                n_missing += _fetch_assets_of(run, files, snapshot).n_missing
    run.renew(n_done=len(pks), n_total=len(pks), message="")
    return {"snapshots": len(pks), "missing": n_missing}


FETCH_ASSETS = JobKind("clustering.fetch_assets", Job.Queue.FETCH, fetch_assets)


def sweep_assets(run: JobRun, *, before: datetime) -> int:
    """Delete assets that no snapshot has any more; those of archives cannot come again and stay."""
    n_deleted = 0
    for site in Asset.objects.order_by("site").values_list("site", flat=True).distinct():
        run.renew(message="Assets that no page is drawn with")
        with transaction.atomic():
            rows = SnapshotAssets.objects.filter(snapshot__page__site=site)
            used = {pk for assets in rows.values_list("assets", flat=True) for pk in assets}
            old = Asset.objects.filter(site=site, is_from_archive=False, fetched_at__lt=before)
            unused = [pk for pk in old.values_list("pk", flat=True) if pk not in used]
            for start in range(0, len(unused), ROWS_PER_STATEMENT):
                batch = unused[start : start + ROWS_PER_STATEMENT]
                n_deleted += Asset.objects.filter(pk__in=batch).delete()[0]
    return n_deleted


def _title(site: Site, pks: list[int], first: Snapshot) -> str:
    subject = first.page.url if len(pks) == 1 else f"{len(pks):,} pages of {site.name}"
    return f"Fetch the looks of {subject}"


def _with_assets(pks: list[int]) -> set[int]:
    """Return those of some snapshots whose assets were fetched."""
    return set(SnapshotAssets.objects.filter(snapshot__in=pks).values_list("snapshot", flat=True))


def _fetch_assets_of(run: JobRun, files: SiteFiles, snapshot: Snapshot) -> SnapshotAssets:
    """Fetch what one snapshot is drawn with and store which assets it has."""
    page = PageFiles(files, snapshot)
    with run.kept_alive():
        for _ in range(MAX_ROUNDS):
            if not page.fetch(_wanted_files(page)):
                break
    with transaction.atomic():
        run.renew(message=snapshot.final_url[:200])
        snapshot_assets, _ = SnapshotAssets.objects.update_or_create(
            snapshot=snapshot,
            defaults={
                "assets": [asset.pk for asset in page.assets.values()],
                "n_missing": sum(not asset.body for asset in page.assets.values()),
                "n_left_out": len(page.left_out),
                "n_bytes": page.n_bytes,
                "fetched_at": timezone.now(),
            },
        )
        return snapshot_assets


def _wanted_files(page: PageFiles) -> dict[str, str]:
    """Return what a page is drawn with, as far as its sheets came; nothing if it is unreadable."""
    try:
        return call_on_page(
            page.snapshot,
            files_wanted_by,
            base_url=page.snapshot.final_url,
            sheets=page.read_sheets(),
        )
    except (BodyMissing, BodyDamaged, PageTooLarge, PageTooHeavy):
        return {}
