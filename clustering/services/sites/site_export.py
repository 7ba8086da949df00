"""Write all that a site owns into one file."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
from django.apps import apps
from django.conf import settings
from django.db import models

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.dom.addresses import address_keys
from clustering.models import Asset, Clustering, Snapshot
from clustering.services.clusters.clustering_inputs import first_inbound_xpaths
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest
from vertex.core.storage import BodyDamaged, BodyMissing, page_store

ROWS_PER_QUERY = 1_000
RENEWED_EVERY = 50_000  # rows: written in a few seconds
KEPT_WITHOUT_JOB = timedelta(days=1)
OWN_FILE = re.compile(r".+-([0-9]{1,18})(?:\.zip|\.warc\.gz|(\.[0-9a-f]{8}\.partial))")


def export_request(*, site: Site) -> JobRequest:
    """Describe the job that writes all that a site owns into one zip file."""
    return JobRequest(
        kind=EXPORT_SITE,
        title=f"Export {site.name}",
        site=site,
        key=f"export_site:{site.pk}",
    )


def export_site(run: JobRun, folder: Path | None = None) -> dict[str, Any]:
    """Write a site's rows and bodies into a zip file that `import_pages` takes again.

    `manifest.jsonl` lists the snapshots from old to new with their files under `pages/`; `rows/` holds every
    row that belongs to the site, of each app, `assets/` what its pages are drawn with.
    """
    site = run.site
    folder = folder or settings.EXPORT_DIR
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{site.name}-{run.job.pk}.zip"
    # A worker that lost its lease may still write.
    partial = path.with_suffix(f".{run.lease[:8]}.partial")
    try:
        with (
            page_store().held(),
            zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive,
        ):
            n_snapshots = _export_bodies(run, archive, site)
            _export_assets(run, archive, site)
            for model, place in models_of_a_site():
                run.renew(message=f"Rows: {model._meta.verbose_name_plural}")
                _export_rows(run, archive, model, {place: site.pk})
        run.renew()
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return {"file": path.name, "snapshots": n_snapshots, "bytes": path.stat().st_size}


EXPORT_SITE = JobKind("clustering.export_site", Job.Queue.KEEP, export_site, "site.exported")


def sweep_exports(*, now: datetime) -> int:
    """Remove exports whose job is gone, as with its site, and half-written ones; return how many."""
    n_swept = 0
    for path in settings.EXPORT_DIR.glob("*"):
        own = OWN_FILE.fullmatch(path.name)
        with suppress(FileNotFoundError):
            made_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            is_old = made_at < now - KEPT_WITHOUT_JOB
            if own and is_old and (own[2] or not Job.objects.filter(pk=int(own[1])).exists()):
                path.unlink()
                n_swept += 1
    return n_swept


def models_of_a_site() -> list[tuple[type[models.Model], str]]:
    """Return each model whose rows belong to a site, with the lookup that leads to it."""
    lookup_by_model: dict[type[models.Model], str] = {Site: "pk"}
    edge: list[type[models.Model]] = [Site]
    while edge:
        owner = edge.pop(0)
        for field in _owning_fields(owner):
            if field.model not in lookup_by_model:
                lookup_by_model[field.model] = (
                    field.name if owner is Site else f"{field.name}__{lookup_by_model[owner]}"
                )
                edge.append(field.model)
    return sorted(lookup_by_model.items(), key=lambda item: item[0]._meta.label_lower)


def _owning_fields(owner: type[models.Model]) -> list[Any]:
    """Return the foreign keys by which rows go when the owner's row goes."""
    return [
        field
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, models.ForeignKey)
        and field.remote_field.model is owner
        and field.remote_field.on_delete is models.CASCADE
        and model is not owner
    ]


def _export_bodies(run: JobRun, archive: zipfile.ZipFile, site: Site) -> int:
    """Write the manifest and, once each, the bodies that it names."""
    store = page_store()
    written: set[str] = set()
    lines = []
    snapshots = (
        Snapshot.objects.filter(page__site=site).select_related("page").order_by("fetched_at", "id")
    )
    run.renew(n_total=snapshots.count())
    for n_done, snapshot in enumerate(snapshots.iterator(ROWS_PER_QUERY), 1):
        if n_done % 100 == 0:
            run.renew(n_done=n_done, message="Pages")
        name = f"pages/{snapshot.body}.html"
        try:
            if snapshot.body not in written:
                archive.writestr(name, store.read(snapshot.body))
                written.add(snapshot.body)
        except (BodyMissing, BodyDamaged) as error:
            lines.append({**address_keys(snapshot.page.given_url), "problem": str(error)})
            continue
        lines.append(_manifest_line(snapshot, name))
    _add_inbound_xpaths(site, lines)
    archive.writestr("manifest.jsonl", b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return len(lines)


def _export_assets(run: JobRun, archive: zipfile.ZipFile, site: Site) -> None:
    store = page_store()
    names = (
        Asset.objects.filter(site=site)
        .exclude(body="")
        .order_by("body")
        .values_list("body", flat=True)
    )
    for n_done, name in enumerate(names.distinct().iterator(ROWS_PER_QUERY), 1):
        if n_done % 100 == 0:
            run.renew(message="Assets")
        with suppress(BodyMissing, BodyDamaged):
            archive.writestr(f"assets/{name}.bin", store.read(name))


def _manifest_line(snapshot: Snapshot, name: str) -> dict[str, Any]:
    return {
        **address_keys(snapshot.page.given_url),
        "file": name,
        "status": snapshot.status,
        "fetched_at": snapshot.fetched_at.isoformat(),
        "content_type": snapshot.content_type,
    }


def _add_inbound_xpaths(site: Site, lines: Sequence[dict[str, Any]]) -> None:
    """Add the first link to each page, by which a bundle matches it, where pages are grouped by links."""
    clustering = Clustering.objects.current().filter(site=site).without_model().first()
    if clustering is None or not CLUSTERERS[clustering.algorithm].goes_by_links:
        return
    for start in range(0, len(lines), ROWS_PER_QUERY):
        of_query = lines[start : start + ROWS_PER_QUERY]
        xpath_by_url = first_inbound_xpaths(site, [_normalised(line) for line in of_query])
        for line in of_query:
            if _normalised(line) in xpath_by_url:
                line["inbound_xpath"] = xpath_by_url[_normalised(line)]


def _normalised(line: Mapping[str, Any]) -> str:
    return str(line.get("normalized_url", line["url"]))


def _export_rows(
    run: JobRun, archive: zipfile.ZipFile, model: type[models.Model], of_site: dict[str, Any]
) -> None:
    """Write the rows as JSON lines; keys and passwords stay out, or are sealed."""
    fields = [
        field.attname
        for field in model._meta.concrete_fields
        if not isinstance(field, models.BinaryField)
    ]
    rows = model._default_manager.filter(**of_site).order_by("pk").values(*fields)
    hide_secrets = getattr(model, "hide_secrets", None)
    with archive.open(f"rows/{model._meta.label_lower}.jsonl", "w") as file:
        for n_written, row in enumerate(rows.iterator(ROWS_PER_QUERY), 1):
            if hide_secrets is not None:
                hide_secrets(row)
            file.write(orjson.dumps(row, default=str) + b"\n")
            if n_written % RENEWED_EVERY == 0:
                run.renew()
