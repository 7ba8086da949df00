"""Fetch what stored pages are drawn with: style sheets, images and fonts, once for a site.

A job does it, for pages that somebody looks at: samples, bellwethers, both sides of a site change, pages
that an editor opens. The crawl never waits for it. What comes is cleaned before it is kept, in the page
store; what does not come is a row that says why. A snapshot's look names the assets that it was given and
never changes by itself, so that a page goes on looking as on the day that it was seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.db import transaction
from django.utils import timezone

from clustering.dom.frame.rendering import wanted_files
from clustering.fetching.client import open_fetcher
from clustering.models import Asset, Snapshot, SnapshotAssets
from clustering.services.looks.asset_fetching import PageFiles, SiteFiles
from clustering.services.pages.stored_trees import read_tree
from vertex.core.models import Job, Site, User
from vertex.core.services.jobs.jobs import JobExists, JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest, enqueue

MOST_SNAPSHOTS = 10_000  # of one job
ROUNDS = 7  # sheets that import sheets that name images


def start_fetching_assets(
    *, snapshots: Iterable[Snapshot], actor: User | None = None, again: bool = False
) -> Job | None:
    """Create the job that fetches what these snapshots of one site are drawn with.

    Returns None where all of them have it, and the unfinished job that is already to do the same. With
    `again`, what they have is fetched anew. Raises ValueError where they are of several sites.
    """
    wanted = list(snapshots)
    if not again:
        have = set(
            SnapshotAssets.objects.filter(snapshot__in=wanted).values_list("snapshot", flat=True)
        )
        wanted = [snapshot for snapshot in wanted if snapshot.pk not in have]
    if not wanted:
        return None
    sites = {snapshot.page.site_id: snapshot.page.site for snapshot in wanted}
    if len(sites) > 1:
        raise ValueError("the snapshots are of several sites")
    pks = sorted({snapshot.pk for snapshot in wanted})[:MOST_SNAPSHOTS]
    site = next(iter(sites.values()))
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
    waiting = Job.objects.unfinished().filter(task=FETCH_ASSETS.task, site=snapshot.page.site_id)
    return next(
        (job for job in waiting.order_by("pk") if snapshot.pk in job.params["snapshots"]), None
    )


def fetch_assets(run: JobRun) -> dict[str, Any]:
    """Give each of the job's snapshots its look; those that have one are done."""
    site, pks = run.site, run.job.params["snapshots"]
    n_missing = 0
    done = set() if run.job.params.get("again") else _dressed(pks)
    with open_fetcher() as fetcher:
        files = SiteFiles(site, fetcher, is_anew=bool(run.job.params.get("again")))
        for n_done, pk in enumerate(pks):
            run.renew(n_done=n_done, n_total=len(pks))
            snapshot = (
                Snapshot.objects.filter(pk=pk, page__site=site).select_related("page").first()
            )
            if snapshot is not None and pk not in done:
                n_missing += _dress(run, files, snapshot).n_missing
    run.renew(n_done=len(pks), n_total=len(pks), message="")
    return {"snapshots": len(pks), "missing": n_missing}


FETCH_ASSETS = JobKind("clustering.fetch_assets", Job.Queue.KEEP, fetch_assets)


def sweep_assets(run: JobRun, *, before: datetime) -> int:
    """Delete assets that no look names any more; those of archives cannot come again and stay."""
    n_deleted = 0
    for site in Asset.objects.order_by("site").values_list("site", flat=True).distinct():
        run.renew(message="Assets that no page is drawn with")
        with transaction.atomic():
            looks = SnapshotAssets.objects.filter(snapshot__page__site=site).values_list(
                "assets", flat=True
            )
            named = {pk for assets in looks for pk in assets}
            old = Asset.objects.filter(site=site, is_from_archive=False, fetched_at__lt=before)
            unnamed = [pk for pk in old.values_list("pk", flat=True) if pk not in named]
            for start in range(0, len(unnamed), 500):
                n_deleted += Asset.objects.filter(pk__in=unnamed[start : start + 500]).delete()[0]
    return n_deleted


def _title(site: Site, pks: list[int], first: Snapshot) -> str:
    what = first.page.url if len(pks) == 1 else f"{len(pks):,} pages of {site.name}"
    return f"Fetch the looks of {what}"


def _dressed(pks: list[int]) -> set[int]:
    return set(SnapshotAssets.objects.filter(snapshot__in=pks).values_list("snapshot", flat=True))


def _dress(run: JobRun, files: SiteFiles, snapshot: Snapshot) -> SnapshotAssets:
    """Fetch what one snapshot is drawn with and write down what it has."""
    tree = read_tree(snapshot)
    page = PageFiles(files, snapshot)
    if tree is not None:
        with run.kept_alive():
            for _ in range(ROUNDS):
                if not page.fetch(
                    wanted_files(tree, base_url=snapshot.final_url, sheet_of=page.sheet_of)
                ):
                    break
    with transaction.atomic():
        run.renew(message=snapshot.final_url[:200])
        return SnapshotAssets.objects.update_or_create(
            snapshot=snapshot,
            defaults={
                "assets": [asset.pk for asset in page.assets.values()],
                "n_missing": sum(not asset.body for asset in page.assets.values()),
                "n_left_out": len(page.left_out),
                "n_bytes": page.n_bytes,
                "fetched_at": timezone.now(),
            },
        )[0]
