"""Keep files that people upload until the job that reads them is done."""

from __future__ import annotations

import errno
import os
import re
import shutil
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.conf import settings

from vertex.core.models import Job
from vertex.core.storage import DiskFull, refuse_full_disk

UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
OWN_FOLDER = re.compile(r"[0-9a-f]{32}")
# Between an upload and its job; also what a crash in between leaves.
KEPT_UNUSED = timedelta(days=1)
KEPT_FOR_RETRY = timedelta(days=30)


class UploadTooLarge(Exception):
    """A file is larger than the installation takes."""


def keep_upload(*, chunks: Iterable[bytes], name: str) -> Path:
    """Write an upload to its own folder and return its path. Raises UploadTooLarge or DiskFull."""
    refuse_full_disk(settings.UPLOAD_DIR)
    folder = settings.UPLOAD_DIR / uuid.uuid4().hex
    folder.mkdir(parents=True)
    path: Path = folder / (UNSAFE.sub("_", Path(name).name).lstrip(".")[-100:] or "upload")
    try:
        with path.open("xb") as stream:
            for chunk in _bounded(chunks):
                stream.write(chunk)
            stream.flush()
            os.fsync(stream.fileno())
    except BaseException as error:  # whatever happened, a half file must not stay
        shutil.rmtree(folder)
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise DiskFull(settings.UPLOAD_DIR, 0) from error
        raise
    return path


def _bounded(chunks: Iterable[bytes]) -> Iterator[bytes]:
    n_left = settings.MAX_UPLOAD_MB * 2**20
    for chunk in chunks:
        n_left -= len(chunk)
        if n_left < 0:
            raise UploadTooLarge(f"the file is larger than {settings.MAX_UPLOAD_MB} MB; split it")
        yield chunk


def is_upload(path: Path) -> bool:
    """Return whether `keep_upload` kept the file: its folder's name is as random as those."""
    return (
        path.parent.parent == settings.UPLOAD_DIR
        and OWN_FOLDER.fullmatch(path.parent.name) is not None
    )


def drop_upload(path: Path) -> None:
    """Remove an uploaded file and its folder; nothing else is ever removed."""
    if is_upload(path):
        shutil.rmtree(path.parent, ignore_errors=True)


def sweep_uploads(*, now: datetime) -> int:
    """Remove uploads that no job needs any more and return how many."""
    if not settings.UPLOAD_DIR.is_dir():
        return 0
    needed = Job.objects.exclude(state=Job.State.DONE).exclude(finished_at__lt=now - KEPT_FOR_RETRY)
    sources = {
        Path(source).parent for source in needed.values_list("params__source", flat=True) if source
    }
    n_swept = 0
    for folder in settings.UPLOAD_DIR.iterdir():
        with suppress(FileNotFoundError):  # its job has just ended
            made_at = datetime.fromtimestamp(folder.stat().st_mtime, UTC)
            if folder not in sources and made_at < now - KEPT_UNUSED:
                shutil.rmtree(folder, ignore_errors=True)
                n_swept += 1
    return n_swept
