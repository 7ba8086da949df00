"""Draw small pictures of the pages that show what a cluster is, by a browser, else as outlines.

A picture is a file named by the hash of the page's bytes, so that it never grows old and no row
knows of it.
"""

from __future__ import annotations

import re
import secrets
from base64 import b64encode
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple, Self

from django.conf import settings

from clustering.dom.frame.outlines import draw_outline
from clustering.dom.frame.rendering import render_body
from clustering.dom.frame.still_pages import make_still, still_rendering
from clustering.dom.page import PageTooLarge
from clustering.fetching.browser.chromium import BrowserMissing
from clustering.fetching.browser.picturing import Camera, open_camera
from clustering.fetching.refusals import FetchRefused
from clustering.models import (
    Asset,
    ClusterDoubt,
    ClusterFigures,
    ClusterLayout,
    Page,
    Snapshot,
    SnapshotAssets,
)
from clustering.services.children.limits import ChildrenBusy
from clustering.services.children.stored import PageTooHeavy, call_on_page
from clustering.services.looks.asset_fetching import sheet_text
from vertex.core.models import Job, Site, User
from vertex.core.services.jobs.jobs import JobExists, JobRun, Work
from vertex.core.services.jobs.requests import JobKind, JobRequest, enqueue
from vertex.core.storage import BodyDamaged, BodyMissing, page_store, refuse_full_disk

KINDS = {"png": "image/png", "svg": "image/svg+xml"}
MAX_INLINED_BYTES = 1_000_000  # of images and fonts in the page that is drawn
PICTURES_PER_CLUSTER = 5
MAX_PICTURES = 600  # of a site; the others are drawn as outlines when somebody looks at them
MAX_FAILURES_IN_A_ROW = 3  # of the browser, which is left alone then
BODY_NAME = re.compile(r"[0-9a-f]{64}")
OWN_FILE = re.compile(r"\.?([0-9a-f]{64})\.(?:png|svg|[0-9a-f]{8}\.(part))")
UNFINISHED_RETENTION = timedelta(days=1)  # of files that a worker left half-written
FILES_PER_SWEEP = 1_000


class Thumbnail(NamedTuple):
    """A picture as it is handed out."""

    picture: bytes
    content_type: str


def thumbnails_request(*, site: Site) -> JobRequest:
    """Describe the job that draws the pictures of a site's clusters."""
    return JobRequest(
        kind=DRAW_THUMBNAILS,
        title=f"Draw thumbnails of {site.name}",
        site=site,
        key=f"draw_thumbnails:{site.pk}",
    )


def start_drawing(*, site: Site, actor: User | None = None) -> None:
    """Start the job that draws the pictures of a site's clusters.

    Where one is unfinished, it draws them, or outlines stand in.
    """
    with suppress(JobExists):
        enqueue(thumbnails_request(site=site), actor=actor)


def with_thumbnails(work: Work) -> Work:
    """Return work that changes a site's current clusters, then starts a job for their pictures."""

    def work_and_request(run: JobRun) -> dict[str, Any] | None:
        result = work(run)
        if run.job.site is not None and not run.job.params.get("compare"):
            start_drawing(site=run.job.site, actor=run.job.created_by)
        return result

    return work_and_request


def draw_thumbnails(run: JobRun) -> dict[str, Any]:
    """Draw the missing pictures of a site's clusters, with one browser for all of them."""
    missing = _undrawn(_example_snapshots(run.site))
    n_by_kind = {"png": 0, "svg": 0, "none": 0}
    with _Drawer() as drawer:
        for n_done, snapshot in enumerate(missing):
            run.renew(n_done=n_done, n_total=len(missing), message=snapshot.final_url[:200])
            n_by_kind[_draw(drawer, snapshot)] += 1
    run.renew(n_done=len(missing), n_total=len(missing), message="")
    return {
        "pictures": n_by_kind["png"],
        "outlines": n_by_kind["svg"],
        "without": n_by_kind["none"],
    }


DRAW_THUMBNAILS = JobKind(
    "clustering.draw_thumbnails", Job.Queue.KEEP, draw_thumbnails, "thumbnails.requested"
)


def find_thumbnail(body: str) -> Thumbnail | None:
    """Return the picture of a page's bytes; its outline, drawn now, where there is none yet.

    None where the bytes are gone or too large.
    """
    for kind, content_type in KINDS.items():
        path = _file_of(body, kind)
        if path is not None:
            with suppress(OSError):
                return Thumbnail(path.read_bytes(), content_type)
    snapshot = Snapshot.objects.filter(body=body).first()
    outline = _outline(snapshot) if snapshot is not None else None
    return None if outline is None else Thumbnail(outline.encode(), KINDS["svg"])


def sweep_thumbnails(*, now: datetime) -> int:
    """Delete pictures of bodies that no snapshot has, and half-written ones; return how many."""
    n_swept = 0
    files = (settings.VAR_DIR / "thumbnails").glob("??/*")
    while batch := list(islice(files, FILES_PER_SWEEP)):
        matches = [(path, OWN_FILE.fullmatch(path.name)) for path in batch]
        own = [(path, match[1], match[2]) for path, match in matches if match]
        bodies = {body for _, body, _ in own}
        used = set(Snapshot.objects.filter(body__in=bodies).values_list("body", flat=True))
        for path, body, is_unfinished in own:
            is_useless = _is_left_behind(path, now) if is_unfinished else body not in used
            if is_useless:
                path.unlink(missing_ok=True)
                n_swept += 1
    return n_swept


def examples_of(
    cluster_figures: Iterable[ClusterFigures], at_most: int = 1
) -> dict[int, list[Page]]:
    """Return pages that show what each cluster is, by the id of its figures, typical ones first."""
    pks_by_figures = {
        figures.pk: [pk for pk in figures.examples if isinstance(pk, int)][:at_most]
        for figures in cluster_figures
    }
    stored = Page.objects.filter(latest_snapshot__isnull=False).select_related("latest_snapshot")
    page_by_pk = stored.in_bulk([pk for pks in pks_by_figures.values() for pk in pks])
    return {
        figures: [page_by_pk[pk] for pk in pks if pk in page_by_pk]
        for figures, pks in pks_by_figures.items()
    }


def _example_snapshots(site: Site) -> list[Snapshot]:
    """Return what is to be drawn, the most wanted first.

    1. Both sides of each doubt.
    2. The most typical page of each cluster.
    3. The page that shows how each layout looks.
    4. The other examples of the clusters, by rank.
    """
    cluster_figures = ClusterFigures.objects.current().filter(clustering__site=site)
    examples = examples_of(list(cluster_figures), PICTURES_PER_CLUSTER).values()
    by_rank = list(zip_longest(*examples))
    wanted = [*chain(*by_rank[:1]), *_layout_examples(site), *chain(*by_rank[1:])]
    snapshot_by_body = {snapshot.body: snapshot for snapshot in _doubtful_snapshots(site)}
    for page in wanted:
        if page is not None and page.latest_snapshot:
            snapshot_by_body[page.latest_snapshot.body] = page.latest_snapshot
    return list(snapshot_by_body.values())[:MAX_PICTURES]


def _layout_examples(site: Site) -> list[Page]:
    """Return the page that shows how each layout of a site's clusters looks."""
    layouts = ClusterLayout.objects.filter(clustering__site=site, clustering__is_current=True)
    pages = Page.objects.filter(pk__in=layouts.values("example"), latest_snapshot__isnull=False)
    return list(pages.select_related("latest_snapshot").order_by("pk"))


def _doubtful_snapshots(site: Site) -> list[Snapshot]:
    """Return the most typical page of each side of each doubt, as it was fetched last."""
    doubts = ClusterDoubt.objects.current(site).unanswered()
    pks = [side[0] for doubt in doubts for side in (doubt.left, doubt.right)]
    stored = Page.objects.filter(latest_snapshot__isnull=False).select_related("latest_snapshot")
    page_by_pk = stored.in_bulk(pks)
    snapshots = [page_by_pk[pk].latest_snapshot for pk in pks if pk in page_by_pk]
    return [snapshot for snapshot in snapshots if snapshot is not None]


@dataclass(slots=True)
class _Drawer:
    """A browser while there is one that works; nothing else afterwards."""

    _camera: Camera | None = None
    _contexts: ExitStack = field(default_factory=ExitStack)
    _n_failed: int = 0

    def __enter__(self) -> Self:
        with suppress(BrowserMissing):
            self._camera = self._contexts.enter_context(open_camera())
        return self

    def __exit__(self, *error: object) -> None:
        self._contexts.close()

    def picture(self, html: str) -> bytes | None:
        """Return a PNG, None where the browser fails; after a failure it is started anew."""
        if self._camera is None or not html:
            return None
        try:
            picture = self._camera.picture(html)
        except FetchRefused:
            self._n_failed += 1
            self._contexts.close()
            self._camera = None
            if self._n_failed < MAX_FAILURES_IN_A_ROW:
                self.__enter__()
            return None
        self._n_failed = 0
        return picture


def _draw(drawer: _Drawer, snapshot: Snapshot) -> str:
    """Draw a page and save the file; return its kind, `none` where there is nothing to draw."""
    try:
        picture = drawer.picture(_still(snapshot))
        outline = "" if picture is not None else call_on_page(snapshot, draw_outline)
    except (BodyMissing, BodyDamaged, PageTooLarge, PageTooHeavy):
        return "none"
    if picture is not None:
        _save(snapshot.body, "png", picture)
        return "png"
    _save(snapshot.body, "svg", outline.encode())
    return "svg"


def _undrawn(snapshots: list[Snapshot]) -> list[Snapshot]:
    """Return those without a picture, and those whose files were fetched after it was drawn."""
    fetched_at: dict[int, datetime] = {}
    for assets in SnapshotAssets.objects.filter(snapshot__in=snapshots):
        if assets.has_files:
            fetched_at[assets.snapshot_id] = assets.fetched_at
    return [
        snapshot for snapshot in snapshots if _is_undrawn(snapshot, fetched_at.get(snapshot.pk))
    ]


def _is_undrawn(snapshot: Snapshot, fetched_at: datetime | None) -> bool:
    path = _file_of(snapshot.body, "png")
    if path is None:
        return True
    with suppress(FileNotFoundError):
        drawn_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        return fetched_at is not None and drawn_at < fetched_at
    return True


def _still(snapshot: Snapshot) -> str:
    """Return what the browser draws: the page with its fetched files, else without any.

    Raises PageTooLarge, PageTooHeavy, BodyMissing, BodyDamaged.
    """
    assets = SnapshotAssets.objects.filter(snapshot=snapshot).first()
    if assets is None or not assets.has_files:
        return call_on_page(snapshot, make_still)
    return numbered_still(snapshot) or call_on_page(snapshot, make_still)


def numbered_still(snapshot: Snapshot) -> str:
    """Return a page that is drawn and does nothing, its elements numbered; blank if it has none.

    Raises PageTooLarge, PageTooHeavy, BodyMissing, BodyDamaged.
    """
    assets = SnapshotAssets.objects.filter(snapshot=snapshot).first()
    files = _inlined_files(assets.assets if assets else [])
    rendered = call_on_page(
        snapshot,
        render_body,
        base_url=snapshot.final_url,
        addresses=files.addresses,
        sheets=files.sheets,
        script=None,
    )
    return still_rendering(rendered) if rendered else ""


class _InlinedFiles(NamedTuple):
    """The files of a page, to be written into it."""

    addresses: dict[str, tuple[str, str]]  # with their kinds, by URL
    sheets: dict[str, str]


def _inlined_files(pks: Sequence[int]) -> _InlinedFiles:
    """Return as many of a page's files as a picture needs, those that it is drawn with first."""
    asset_by_pk = Asset.objects.exclude(body="").in_bulk(pks)
    files = _InlinedFiles({}, {})
    n_left = MAX_INLINED_BYTES
    for asset in [asset_by_pk[pk] for pk in pks if pk in asset_by_pk]:
        sheet = sheet_text(asset)
        if sheet is not None:
            files.sheets[asset.url] = sheet
        elif asset.n_bytes <= n_left:
            body = b64encode(page_store().read(asset.body)).decode()
            files.addresses[asset.url] = (asset.kind, f"data:{asset.content_type};base64,{body}")
            n_left -= asset.n_bytes
    return files


def _outline(snapshot: Snapshot) -> str | None:
    try:
        return call_on_page(snapshot, draw_outline)
    except (BodyMissing, BodyDamaged, PageTooLarge, PageTooHeavy, ChildrenBusy):
        return None


def _save(body: str, kind: str, picture: bytes) -> None:
    """Write a picture in one step, so that no reader sees half of it. Raises DiskFull."""
    folder = _folder(body)
    refuse_full_disk(folder)
    part = folder / f".{body}.{secrets.token_hex(4)}.part"
    part.write_bytes(picture)
    part.replace(folder / f"{body}.{kind}")


def _file_of(body: str, kind: str) -> Path | None:
    """Return the file of a picture, None where there is none or the name is no hash."""
    if not BODY_NAME.fullmatch(body):
        return None
    path = _folder(body) / f"{body}.{kind}"
    return path if path.is_file() else None


def _is_left_behind(part: Path, now: datetime) -> bool:
    with suppress(FileNotFoundError):
        return datetime.fromtimestamp(part.stat().st_mtime, UTC) < now - UNFINISHED_RETENTION
    return False


def _folder(body: str) -> Path:
    folder: Path = settings.VAR_DIR / "thumbnails" / body[:2]
    return folder
