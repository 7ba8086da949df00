"""Write all that a site owns into one file."""

from __future__ import annotations

import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
from django.apps import apps
from django.conf import settings
from django.db import connection, models
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.dom.addresses import address_keys
from clustering.models import Asset, Clustering, Snapshot
from clustering.services.clusters.clustering_inputs import first_inbound_xpaths
from vertex.core.models import Job, Site, User
from vertex.core.services.files.backup import consistent_reads
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest
from vertex.core.storage import BodyDamaged, BodyMissing, page_store

FORMAT = 1  # of the rows and their description
APPS = ("core", "clustering", "annotation", "rules", "monitoring")
ROWS_PER_QUERY = 1_000
# What rows of a site name and what belongs to no site.
NAMED = ("annotation.vertical", "annotation.attribute", "core.user")
FIELDS_OF_PEOPLE = ("id", "username", "first_name", "last_name")
ORDER_BY_MODEL = {"rules.record": "change_number"}  # an import numbers their changes anew
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


def export_site(run: JobRun, place: Path | None = None) -> dict[str, Any]:
    """Write a site's rows and bodies into a zip that `import_site` and `import_pages` take again.

    `manifest.jsonl` lists the snapshots from old to new with their files under `pages/`; `rows/`
    holds every row that belongs to the site, of each app, in one state of the database, with the
    verticals and the names of the people that these name; `assets/` what its pages are drawn with,
    `export.json` what wrote it. In a place whose name does not end in `.zip`, the file is named
    after the site and the job.
    """
    site = run.site
    path = place or settings.EXPORT_DIR
    if path.suffix != ".zip" or path.is_dir():
        path /= f"{site.name}-{run.job.pk}.zip"
    path.parent.mkdir(parents=True, exist_ok=True)
    # A worker that lost its lease may still write.
    partial = path.with_suffix(f".{run.lease[:8]}.partial")
    try:
        with (
            page_store().held(),
            zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive,
        ):
            run.renew(message="Rows")
            with run.kept_alive(), consistent_reads():
                _export_rows_of_site(archive, site)
            n_snapshots = _export_bodies(run, archive, site)
            _export_assets(run, archive, site)
        run.renew()
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return {"file": path.name, "snapshots": n_snapshots, "bytes": path.stat().st_size}


EXPORT_SITE = JobKind("clustering.export_site", Job.Queue.KEEP, export_site, "site.exported")


def sweep_exports(*, now: datetime) -> int:
    """Remove half-written exports and those whose job, or site, is gone; return how many."""
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
    """Write each file that pages are drawn with once; of one the page store lost, only the row."""
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
    """Add the first link to each page where pages are grouped by links: a bundle matches by it."""
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


def applied_migrations() -> list[list[str]]:
    """Return the migrations that say what the rows of a site look like, as [app, name]."""
    applied = MigrationRecorder(connection).applied_migrations()
    return sorted([app, name] for app, name in applied if app in APPS)


def _export_rows_of_site(archive: zipfile.ZipFile, site: Site) -> None:
    """Write the rows of the site, and those of verticals and people that they name."""
    description = {
        "format": FORMAT,
        "made_at": timezone.now().isoformat(),
        "migrations": applied_migrations(),
    }
    archive.writestr("export.json", orjson.dumps(description, option=orjson.OPT_INDENT_2))
    named: dict[str, set[int]] = defaultdict(set)
    for model, place in models_of_a_site():
        _export_rows(archive, model, {place: site.pk}, named)
    vertical, attribute = (
        apps.get_model("annotation", name)  # of a layer above
        for name in ("Vertical", "Attribute")
    )
    attributes = attribute._default_manager.filter(pk__in=named[attribute._meta.label_lower])
    verticals = named[vertical._meta.label_lower].union(
        attributes.values_list("vertical_id", flat=True)
    )
    _export_rows(archive, vertical, {"pk__in": verticals}, named)
    _export_rows(archive, attribute, {"vertical__in": verticals}, named)
    _export_rows(archive, User, {"pk__in": named[User._meta.label_lower]}, named, FIELDS_OF_PEOPLE)


def _export_rows(
    archive: zipfile.ZipFile,
    model: type[models.Model],
    wanted: dict[str, Any],
    named: dict[str, set[int]],
    fields: Iterable[str] = (),
) -> None:
    """Write rows as JSON lines and note what they name; keys and passwords stay out or sealed."""
    label = model._meta.label_lower
    fields = fields or [field.attname for field in exported_fields(model)]
    naming = {
        field.attname: field.remote_field.model._meta.label_lower
        for field in model._meta.concrete_fields
        if isinstance(field, models.ForeignKey) and field.attname in fields
    }
    order = ORDER_BY_MODEL.get(label, "pk")
    rows = model._default_manager.filter(**wanted).order_by(order).values(*fields)
    hide_secrets = getattr(model, "hide_secrets", None)
    with archive.open(f"rows/{label}.jsonl", "w", force_zip64=True) as file:
        for row in rows.iterator(ROWS_PER_QUERY):
            for name, target in naming.items():
                if target in NAMED and row[name] is not None:
                    named[target].add(row[name])
            if hide_secrets is not None:
                hide_secrets(row)
            file.write(orjson.dumps(row, default=str) + b"\n")


def exported_fields(model: type[models.Model]) -> list[Any]:
    """Return the fields that are written of a model: what is binary follows from the others."""
    return [
        field for field in model._meta.concrete_fields if not isinstance(field, models.BinaryField)
    ]
