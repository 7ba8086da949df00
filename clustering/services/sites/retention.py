"""How long things are kept: the retention of snapshots, the sweep of bodies, the end of a site."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.db import transaction
from django.db.models import RESTRICT, Exists, F, OuterRef, Q, Window
from django.db.models.fields.reverse_related import ForeignObjectRel
from django.db.models.functions import RowNumber
from django.utils import timezone

from clustering.models import Asset, Link, Page, Snapshot, SnapshotAssets
from clustering.services.clusters.observation_store import sweep_observations
from clustering.services.looks import assets, thumbnails
from clustering.services.sites import site_export
from vertex.core.models import Job, Site, User
from vertex.core.models.bodies import bodies_named
from vertex.core.services.files import uploads
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest, enqueue
from vertex.core.services.jobs.step_limits import sweep_notes
from vertex.core.storage import page_store

ROWS_PER_TRANSACTION = 1_000
# Younger ones may belong to a row that is about to be committed.
MIN_AGE_OF_SWEPT_BODY = timedelta(days=1)


def sweep_request() -> JobRequest:
    """Describe the job that applies the retention."""
    return JobRequest(kind=SWEEP, title="Sweep old snapshots", key="sweep")


def sweep(run: JobRun) -> dict[str, Any]:
    """Drop what has had its time: sessions, uploads, exports, snapshots, bodies without a name."""
    SessionStore.clear_expired()
    uploads.sweep_uploads(now=timezone.now())
    sweep_notes(now=timezone.now())
    site_export.sweep_exports(now=timezone.now())
    n_snapshots = 0
    for site in Site.objects.all():
        run.renew(n_done=n_snapshots, message=f"Snapshots of {site.name}")
        n_snapshots += sum(drop_old_snapshots(run, site))
    assets.sweep_assets(run, before=timezone.now() - MIN_AGE_OF_SWEPT_BODY)
    n_bodies = sweep_bodies(run)
    thumbnails.sweep_thumbnails(now=timezone.now())
    sweep_observations(now=timezone.now())
    return {"snapshots": n_snapshots, "bodies": n_bodies}


SWEEP = JobKind("clustering.sweep", Job.Queue.KEEP, sweep)


def drop_old_snapshots(run: JobRun, site: Site) -> Iterator[int]:
    """Drop a site's snapshots beyond the number kept, except those that anything refers to."""
    n_kept = site.snapshots_kept or settings.SNAPSHOTS_KEPT
    age_rank = Window(
        RowNumber(), partition_by=F("page_id"), order_by=[F("fetched_at").desc(), F("id").desc()]
    )
    ranked = (
        Snapshot.objects.filter(page__site=site)
        .annotate(age_rank=age_rank)
        .filter(age_rank__gt=n_kept)
    )
    droppable = list(ranked.values_list("pk", flat=True))
    for start in range(0, len(droppable), ROWS_PER_TRANSACTION):
        with transaction.atomic():
            run.renew()
            batch = Snapshot.objects.filter(pk__in=droppable[start : start + ROWS_PER_TRANSACTION])
            yield batch.exclude(is_referred_to()).delete()[0]


def is_referred_to() -> Q:
    """Match snapshots to which a row of any app refers: a sample, an annotation, a golden record.

    A snapshot's assets do not keep it: they go with it.
    """
    held = Q()
    for relation in Snapshot._meta.get_fields(include_hidden=True):
        # Many to many: that table has keys of its own.
        if (
            isinstance(relation, ForeignObjectRel)
            and not relation.many_to_many
            and relation.related_model is not SnapshotAssets
        ):
            rows = relation.related_model._default_manager.filter(
                **{relation.field.name: OuterRef("pk")}
            )
            held |= Q(Exists(rows))
    return held


def sweep_bodies(run: JobRun) -> int:
    """Delete bodies that no snapshot names, unless they are young or a backup is being made."""
    store = page_store()
    n_deleted = 0
    # A backup may hold it for longer than the lease.
    with (
        run.kept_alive(),
        store.held(exclusively=True),
    ):
        names = iter(store.names())
        while batch := [name for name, _ in zip(names, range(ROWS_PER_TRANSACTION), strict=False)]:
            run.renew(message="Bodies that nothing names")
            named = bodies_named(among=batch)
            unnamed = (name for name in batch if name not in named)
            n_deleted += sum(
                store.delete(name, older_than=MIN_AGE_OF_SWEPT_BODY) for name in unnamed
            )
    return n_deleted


def start_deletion(*, site: Site, actor: User | None, create: Callable[..., Job] = enqueue) -> Job:
    """Hide a site, cancel its jobs, and create the job that deletes all that it owns.

    `create` is `create_here` where the caller deletes the site at once. Raises JobExists.
    """
    request = JobRequest(
        kind=DELETE_SITE,
        title=f"Delete {site.name}",
        params={"site": site.pk},
        key=f"delete_site:{site.pk}",
        subject=site.name,
        detail={"root_url": site.root_url},
    )
    with transaction.atomic():
        Site.objects.filter(pk=site.pk, deletion_requested_at=None).update(
            deletion_requested_at=timezone.now()
        )
        for job in site.jobs.filter(state__in=[Job.State.DUE, Job.State.RUNNING]):
            jobs.cancel_job(job=job, actor=actor)
        return create(request, actor=actor)


def delete_site(run: JobRun) -> dict[str, Any]:
    """Delete a site in small steps: its pages with all that hangs on them, then itself."""
    site = Site.objects.filter(pk=run.job.params["site"]).first()
    if site is None:
        return {"pages": 0}
    n_pages = 0
    run.renew(n_total=site.n_pages)
    while batch := list(
        Page.objects.filter(site=site).values_list("pk", flat=True)[:ROWS_PER_TRANSACTION]
    ):
        with transaction.atomic():
            n_pages += len(batch)
            run.renew(n_done=n_pages)
            Link.objects.filter(page_id__in=batch)._raw_delete("default")  # noqa: SLF001 - nothing refers to links
            _delete_what_restricts(batch)
            Page.objects.filter(pk__in=batch).delete()
    with transaction.atomic():
        run.renew()
        Asset.objects.filter(site=site)._raw_delete("default")  # noqa: SLF001 - nothing refers to assets
        site.delete()
    return {"pages": n_pages}


DELETE_SITE = JobKind("clustering.delete_site", Job.Queue.KEEP, delete_site, "site.deleted")


def _delete_what_restricts(pages: list[int]) -> None:
    """Delete the rows that keep snapshots of these pages: those of rules do not go with a page."""
    for relation in Snapshot._meta.get_fields(include_hidden=True):
        if isinstance(relation, ForeignObjectRel) and relation.on_delete is RESTRICT:
            rows = relation.related_model._default_manager
            rows.filter(**{f"{relation.field.name}__page__in": pages}).delete()
