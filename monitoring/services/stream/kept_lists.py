"""Lists of addresses that a site keeps: visited when due, each time as a job like other visits.

A visit and the time of the next one are written in one transaction, so that no visit is lost and
none begins twice. While a visit is under way, the next one of the same list is left out.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, Final

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from clustering.services.crawl.address_lists import (
    COMMENT,
    address_list_request,
    list_at_request,
)
from clustering.services.crawl.limits import CrawlLimits, entry_at
from monitoring.algorithms.slots import next_slot
from monitoring.models import KeptList
from monitoring.services.checks.schedules import check_timetable, replan_far_ones
from vertex.core.models import Job, Site, User
from vertex.core.services.files import uploads
from vertex.core.services.files.files import BOM, BROKEN, decompressed, why
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.jobs.requests import JobRequest, claim_or_create, enqueue
from vertex.core.services.people import audit
from vertex.core.storage import DiskFull
from vertex.core.texts import storable

MAX_LISTS: Final = 50  # of a site
MAX_KEPT: Final = 100_000  # addresses of a list
MAX_KEPT_BYTES: Final = 10 * 1024 * 1024
LISTS_PER_TICK: Final = 100
DROPPED_RETENTION: Final = timedelta(days=30)
TIMES: Final = ("every", "unit", "time_zone", "window_start", "window_end", "is_active")
CHOSEN: Final = (*TIMES, "name", "addresses", "url", "delay")


def add_list(
    *, site: Site, actor: User | None = None, now: datetime | None = None, **values: Any
) -> KeptList:
    """Keep a list of addresses, or the address of a file that has them. Raises ValidationError."""
    with transaction.atomic():
        _hold_lists(site.pk)
        _check_room(site)
        kept_list = KeptList(site=site, made_by=actor)
        _set_values(kept_list, values)
        kept_list.save()  # its times follow from its number
        _plan_next(kept_list, now or timezone.now())
        kept_list.save(update_fields=["next_at"])
        _record("kept_list.added", kept_list, actor, _audited(kept_list))
    return kept_list


def change_list(
    *, kept_list: KeptList, actor: User | None = None, now: datetime | None = None, **changes: Any
) -> KeptList:
    """Change what is given of a list and leave the rest; a new source replaces the old one.

    A visit that is under way goes on as it began. Where all is as it was, nothing is
    recorded. Raises ValidationError.
    """
    now = now or timezone.now()
    with transaction.atomic():
        _hold_lists(kept_list.site_id)
        row = KeptList.objects.present().select_for_update().filter(pk=kept_list.pk).first()
        if row is None:
            raise ValidationError(f"{kept_list.name} is deleted; take that back first.")
        before = {name: getattr(row, name) for name in CHOSEN}
        audited_before, times_before = _audited(row), _times(row)
        _set_values(row, changes)
        if before == {name: getattr(row, name) for name in CHOSEN}:
            return row
        if _times(row) != times_before:
            _plan_next(row, now)
        row.changed_at = now
        row.save()
        after = _audited(row)
        changed = {name: [audited_before[name], after[name]] for name in after}
        detail = {name: pair for name, pair in changed.items() if pair[0] != pair[1]}
        _record("kept_list.changed", row, actor, detail)
    return row


def drop_list(*, kept_list: KeptList, actor: User | None = None) -> None:
    """Delete a list; for a month that can be taken back. A visit that is under way goes on."""
    with transaction.atomic():
        present = KeptList.objects.present().filter(pk=kept_list.pk)
        if present.update(dropped_at=timezone.now(), next_at=None):
            _record("kept_list.dropped", kept_list, actor)


def restore_list(
    *, kept_list: KeptList, actor: User | None = None, now: datetime | None = None
) -> KeptList:
    """Take a list's deletion back. Raises ValidationError where its place or its name is gone."""
    with transaction.atomic():
        _hold_lists(kept_list.site_id)
        row = KeptList.objects.select_for_update().get(pk=kept_list.pk)
        if row.dropped_at is None:
            return row
        _check_room(row.site)
        _check_name(row)
        row.dropped_at = None
        _plan_next(row, now or timezone.now())
        row.save(update_fields=["dropped_at", "next_at"])
        _record("kept_list.restored", row, actor)
    return row


def visit_now(*, kept_list: KeptList, actor: User | None = None, is_audited: bool = True) -> Job:
    """Start a visit of a list; its times stay. Raises JobExists, ValidationError, DiskFull."""
    request = replace(_visit_request(kept_list), is_audited=is_audited)
    try:
        with transaction.atomic():
            job = enqueue(request, actor=actor)
            _keep_last_visit(kept_list, job)
    except BaseException:  # no job will read the file: it must not stay
        _drop_source(request)
        raise
    return job


def visit_here(*, kept_list: KeptList) -> Job:
    """Return the job of a visit to be done here. Raises JobExists, ValidationError or DiskFull."""
    request = _visit_request(kept_list)
    try:
        job = claim_or_create(request)
    except BaseException:
        _drop_source(request)
        raise
    _keep_last_visit(kept_list, job)
    return job


def start_due_lists(now: datetime, *, paused: Collection[int] = ()) -> int:
    """Start the visits that are due, but at paused sites; return how many were started."""
    replan_far_ones(KeptList.objects.running().defer("addresses"), now)
    due = KeptList.objects.due(now).exclude(site__in=paused).order_by("next_at", "pk")
    return sum(_start(pk, now) for pk in due.values_list("pk", flat=True)[:LISTS_PER_TICK])


def delete_dropped_lists(now: datetime) -> int:
    """Delete the lists whose deletion nobody took back, and return how many."""
    old = KeptList.objects.filter(dropped_at__lt=now - DROPPED_RETENTION)
    return old.delete()[0]


def addresses_of_file(file: BinaryIO, name: str = "") -> str:
    """Return the lines of a file, also of a .gz or .zst. Raises ValidationError."""
    try:
        content = decompressed(file, name).read(MAX_KEPT_BYTES + 1)
    except (OSError, *BROKEN) as error:
        raise ValidationError({"file": f"It cannot be read: {why(error)}."}) from None
    if len(content) > MAX_KEPT_BYTES:
        raise ValidationError(
            {"file": f"A list that is kept has at most {MAX_KEPT_BYTES >> 20} MB; split it."}
        )
    return content.removeprefix(BOM).decode(errors="replace")


def list_json(kept_list: KeptList) -> dict[str, Any]:
    """Return the line that commands write of a list."""
    job = kept_list.last_job
    return {
        "site": kept_list.site.name,
        "list": kept_list.name,
        **({"url": kept_list.url} if kept_list.url else {"addresses": kept_list.n_addresses}),
        "every": kept_list.every,
        "unit": kept_list.unit,
        "time_zone": kept_list.time_zone,
        "window_start": f"{kept_list.window_start:%H:%M}",
        "window_end": f"{kept_list.window_end:%H:%M}",
        "delay": kept_list.delay,
        "is_active": kept_list.is_active,
        "next_at": kept_list.next_at,
        "last_at": kept_list.last_at,
        "last_state": job.state if job else None,
        "last_result": job.result if job else None,
        "last_error": job.error if job else "",
        "left_out": kept_list.left_out,
    }


def _start(pk: int, now: datetime) -> bool:
    """Start the visit of a list that is due; return whether there is a job for it."""
    with transaction.atomic():
        due = KeptList.objects.due(now).select_for_update(of=("self",))
        kept_list = due.select_related("site").filter(pk=pk).first()
        if kept_list is None:
            return False  # another clock was faster, or somebody changed it
        try:
            with transaction.atomic():
                visit_now(kept_list=kept_list, is_audited=False)
        except (DiskFull, OSError) as error:  # of the folder in which its addresses would stand
            KeptList.objects.filter(pk=pk).update(left_out=str(error)[:300])
            return False  # it stays due until somebody made room
        except (JobExists, ValidationError, uploads.UploadTooLarge) as error:
            reason = " ".join(error.messages) if isinstance(error, ValidationError) else str(error)
            KeptList.objects.filter(pk=pk).update(
                left_out=reason[:300], next_at=next_slot(kept_list.plan(), now)
            )
            return False
        KeptList.objects.filter(pk=pk).update(next_at=next_slot(kept_list.plan(), now))
    return True


def _visit_request(kept_list: KeptList) -> JobRequest:
    """Describe the visit of a list; its addresses are in a file of their own until it is done."""
    if kept_list.url:
        request = list_at_request(site=kept_list.site, url=kept_list.url, delay=kept_list.delay)
    else:
        chunks = [kept_list.addresses.encode(errors="replace")]
        path = uploads.keep_upload(chunks=chunks, name=f"{kept_list.name}.txt")
        request = address_list_request(site=kept_list.site, source=path, delay=kept_list.delay)
    return replace(
        request,
        title=f"Visit {kept_list.name} of {kept_list.site.name}",
        key=f"{request.key}:{kept_list.pk}",
        subject=kept_list.name,
    )


def _drop_source(request: JobRequest) -> None:
    uploads.drop_upload(Path(request.params["source"]))


def _keep_last_visit(kept_list: KeptList, job: Job) -> None:
    kept_list.last_at, kept_list.last_job, kept_list.left_out = timezone.now(), job, ""
    kept_list.save(update_fields=["last_at", "last_job", "left_out"])


def _hold_lists(site: int) -> None:
    """Keep others from adding or renaming a site's lists in this transaction; jobs may begin."""
    Site.objects.select_for_update(no_key=True).get(pk=site)


def _set_values(kept_list: KeptList, values: dict[str, Any]) -> None:
    """Set what is given and check it. Raises ValidationError.

    A source that was there before is not checked: one that is not of the site any more can
    still be paused.
    """
    unknown = values.keys() - set(CHOSEN)
    if unknown:
        raise TypeError(f"a list has no {min(unknown)}")
    if values.get("addresses"):
        values = {"url": "", **values}
    elif values.get("url"):
        values = {"addresses": "", **values}
    for name, value in values.items():
        setattr(kept_list, name, storable(value) if isinstance(value, str) else value)
    kept_list.name = kept_list.name.strip()
    _check_name(kept_list)
    if kept_list.pk is None or {"addresses", "url"} & values.keys():
        _check_source(kept_list)
    CrawlLimits(delay=kept_list.delay)
    check_timetable(kept_list)


def _check_room(site: Site) -> None:
    if KeptList.objects.present().filter(site=site).count() >= MAX_LISTS:
        raise ValidationError(f"{site.name} keeps {MAX_LISTS} lists already; delete one first.")


def _check_name(kept_list: KeptList) -> None:
    if not kept_list.name:
        raise ValidationError({"name": "Give the list a name."})
    others = KeptList.objects.present().filter(site=kept_list.site_id, name=kept_list.name)
    if others.exclude(pk=kept_list.pk).exists():
        raise ValidationError(
            {"name": f"There is a list “{kept_list.name}” already; choose another name."}
        )


def _check_source(kept_list: KeptList) -> None:
    """Check the source of the addresses, and count those that are kept. Raises ValidationError."""
    if kept_list.url and kept_list.addresses:
        raise ValidationError(
            "Addresses are kept, or read from a file of the site: one of the two."
        )
    if kept_list.url:
        kept_list.n_addresses = 0
        try:
            kept_list.url = entry_at(kept_list.site, kept_list.url)
        except ValidationError as error:
            raise ValidationError({"url": error.messages}) from None
        return
    lines = (line.strip() for line in kept_list.addresses.split("\n"))  # as a visit reads them
    kept_list.n_addresses = sum(
        1 for line in lines if line and not line.startswith(COMMENT.decode())
    )
    if not kept_list.n_addresses:
        raise ValidationError({"addresses": "There is no address; write one on each line."})
    if kept_list.n_addresses > MAX_KEPT or len(kept_list.addresses) > MAX_KEPT_BYTES:
        raise ValidationError(
            {
                "addresses": f"{kept_list.n_addresses:,} addresses are too many to keep; at most "
                f"{MAX_KEPT:,} in {MAX_KEPT_BYTES >> 20} MB. Split the list, "
                "or put it on the site as a file."
            }
        )


def _plan_next(kept_list: KeptList, now: datetime) -> None:
    kept_list.next_at = next_slot(kept_list.plan(), now) if kept_list.is_active else None


def _times(kept_list: KeptList) -> list[object]:
    return [getattr(kept_list, name) for name in TIMES]


def _audited(kept_list: KeptList) -> dict[str, str]:
    """Return what the audit trail says of a list: how many addresses it has, not which."""
    names = (*TIMES, "name", "n_addresses", "url", "delay")
    return {name: str(getattr(kept_list, name)) for name in names}


def _record(
    action: str, kept_list: KeptList, actor: User | None, detail: dict[str, Any] | None = None
) -> None:
    audit.record(
        actor=actor, action=action, subject=kept_list.name, site=kept_list.site, detail=detail
    )
