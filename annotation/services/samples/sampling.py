"""Draw the pages of each cluster that are worth annotating."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.algorithms import sampling
from annotation.models import Sample
from annotation.services.samples.worth import reasons_to_leave_out
from clustering.models import Cluster, Clustering, PageMembership, Snapshot
from clustering.services.looks import assets
from clustering.services.pages.stored_pages import StoredPage, read_pages, sample_pages
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import JobKind, JobRequest

MAX_SIZE = 1_000
MAX_PAGES = 2_000  # of a cluster that are looked at; always the same ones of a larger cluster


def samples_request(
    *,
    site: Site,
    cluster: str = "",
    size: int = sampling.SAMPLE_SIZE,
    scheme: str = "weighted",
    prefer_unseen: bool = True,
) -> JobRequest:
    """Describe the drawing of samples of one cluster, or of all. Raises ValidationError."""
    _check(site, cluster, size, scheme)
    params = {"cluster": cluster, "size": size, "scheme": scheme, "prefer_unseen": prefer_unseen}
    return JobRequest(
        kind=DRAW_SAMPLES,
        title=f"Draw samples of {site.name}" + (f", {cluster}" if cluster else ""),
        site=site,
        params=params,
        key=f"draw_samples:{site.pk}:{cluster}",
        detail=params,
    )


def draw_samples(run: jobs.JobRun) -> dict[str, Any]:
    """Draw the samples that the job asks for; each cluster's replace those that it had."""
    params = run.job.params
    clusters = clusters_to_draw(run.site, params["cluster"])
    n_samples = 0
    for n_done, cluster in enumerate(clusters):
        run.renew(n_done=n_done, n_total=len(clusters), message=cluster.title)
        pages = sample_pages(_pages_of(cluster), MAX_PAGES)
        pages.sort(key=lambda page: page.url)
        with run.kept_alive():
            # One page after the other, so that no tree stays in memory. A page whose bytes are gone
            # is read as an empty one: what was seen has as many places as there are pages.
            seen = [sampling.observe(page.tree) for page in read_pages(pages)]
            drawn = sampling.draw(
                seen,
                size=params["size"],
                scheme=params["scheme"],
                prefer_unseen=params["prefer_unseen"],
            )
        drawn_pages = [(pages[place], gain) for place, gain in drawn]
        n_samples += _replace(run, cluster, drawn_pages)
        run.report(cluster)
    run.renew(n_done=len(clusters))
    return {"clusters": len(clusters), "samples": n_samples}


DRAW_SAMPLES = JobKind(
    "annotation.draw_samples", Job.Queue.LEARN, draw_samples, "samples.requested"
)


def draw_samples_with_looks(run: jobs.JobRun) -> dict[str, Any]:
    """Draw samples, then start a job that fetches what their pages are drawn with."""
    result = draw_samples(run)
    clusters = clusters_to_draw(run.site, run.job.params["cluster"])
    drawn = Snapshot.objects.filter(samples__cluster__in=clusters).select_related("page__site")
    assets.start_fetching_assets(snapshots=drawn.distinct(), actor=run.job.created_by)
    return result


def _check(site: Site, cluster: str, size: int, scheme: str) -> None:
    if scheme not in sampling.SCHEMES:
        raise ValidationError(str(sampling.UnknownScheme(scheme)))
    if not 1 <= size <= MAX_SIZE:
        raise ValidationError(f"the size must be from 1 to {MAX_SIZE:,}, not {size}")
    if not Clustering.objects.current().filter(site=site).exists():
        raise ValidationError(f"{site.name} has no clusters yet; cluster its pages first")
    if cluster and not clusters_to_draw(site, cluster):
        names = ", ".join(present.name for present in _present(site)[:20])
        raise ValidationError(f"{site.name} has no cluster {cluster!r}; it has: {names or 'none'}")


def clusters_to_draw(site: Site, name: str) -> list[Cluster]:
    """Return the clusters with pages worth annotating, or the one of this name whatever it is."""
    present = _present(site)
    if name:
        return [cluster for cluster in present if cluster.name == name]
    left_out = reasons_to_leave_out(present)
    return [cluster for cluster in present if cluster.pk not in left_out]


def clusters_left_out(site: Site) -> list[tuple[Cluster, str]]:
    """Return the clusters with pages that are sampled only if they are named, with why."""
    present = _present(site)
    reasons = reasons_to_leave_out(present)
    return [(cluster, reasons[cluster.pk]) for cluster in present if cluster.pk in reasons]


def _present(site: Site) -> list[Cluster]:
    return list(Cluster.objects.present().filter(site=site).order_by("name"))


def _pages_of(cluster: Cluster) -> list[StoredPage]:
    """Return the cluster's pages that can be learnt from."""
    members = PageMembership.objects.of_cluster(cluster).learnable()
    rows = members.order_by("page").values_list(
        "page_id",
        "page__url",
        "page__url_hash",
        "page__latest_snapshot_id",
        "page__latest_snapshot__body",
        "page__latest_snapshot__content_type",
    )
    return [
        StoredPage(pk, url, bytes(url_hash), snapshot, body, content_type)
        for pk, url, url_hash, snapshot, body, content_type in rows.iterator(chunk_size=5_000)
    ]


def _replace(run: jobs.JobRun, cluster: Cluster, drawn: Sequence[tuple[StoredPage, float]]) -> int:
    """Replace a cluster's samples."""
    with transaction.atomic():
        run.renew()
        Cluster.objects.select_for_update(no_key=True).get(pk=cluster.pk)
        Sample.objects.filter(cluster=cluster).delete()
        Sample.objects.bulk_create(
            Sample(
                cluster=cluster,
                page_id=page.pk,
                snapshot_id=page.snapshot,
                rank=rank,
                gain=gain,
                scheme=run.job.params["scheme"],
            )
            for rank, (page, gain) in enumerate(drawn, 1)
        )
    return len(drawn)
