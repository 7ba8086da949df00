"""What a process may take that reads pages by itself: processor time for each step, and memory.

Nothing but the kernel interrupts libxml2. A step that takes too much ends its process. Of a job,
another process goes on then; until that a file names the pages that the step has read, for whoever
asks which is to blame.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings

from vertex.core.storage import note_reads_in

KEPT_NOTES = timedelta(days=7)  # a job whose process ended is taken up long before

_LIMITED = (resource.RLIMIT_CPU, resource.RLIMIT_DATA)
_is_limited = False  # this process, now
_notes: int | None = None  # the open file of the job that this process does within limits


@contextmanager
def limited(job_id: int) -> Iterator[None]:
    """Limit this process while it does a job.

    The notes stay behind where the process ends, or has no memory left.
    """
    global _notes  # noqa: PLW0603 - of the whole process, like the limits
    path = _path_of(job_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Each write goes to the end, also after the file was emptied.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    _notes = descriptor
    note_reads_in(descriptor)
    try:
        with limited_steps():
            yield
    except MemoryError:
        raise
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    else:
        path.unlink(missing_ok=True)
    finally:
        _notes = None
        note_reads_in(None)
        os.close(descriptor)


@contextmanager
def limited_steps() -> Iterator[None]:
    """Limit this process while the context lasts, for a command that reads pages without a job."""
    global _is_limited  # noqa: PLW0603 - limits are those of the whole process
    before = {which: resource.getrlimit(which) for which in _LIMITED}
    _is_limited = True
    try:
        _lower(resource.RLIMIT_DATA, settings.JOB_MEMORY_MB << 20)
        begin_step()
        yield
    finally:
        _is_limited = False
        for which, soft_and_hard in before.items():
            resource.setrlimit(which, soft_and_hard)


def begin_step() -> None:
    """Give the next step all its processor time; the pages before it are not to blame."""
    if not _is_limited:
        return
    if _notes is not None:
        os.ftruncate(_notes, 0)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = int(usage.ru_utime + usage.ru_stime) + 1
    _lower(resource.RLIMIT_CPU, used + settings.STEP_SECONDS)


def take_notes_left(job_id: int) -> list[str]:
    """Return the bodies that a job's last step had read when its process ended, the last first.

    They are told once.
    """
    path = _path_of(job_id)
    try:
        names = path.read_text("ascii", "replace").split()
    except FileNotFoundError:
        return []
    path.unlink(missing_ok=True)
    return list(dict.fromkeys(reversed(names)))


def sweep_notes(*, now: datetime) -> None:
    """Remove the notes of jobs that nobody took up again."""
    if not settings.READING_DIR.is_dir():
        return
    for path in settings.READING_DIR.iterdir():
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < (now - KEPT_NOTES).timestamp():
                path.unlink()


def _path_of(job_id: int) -> Path:
    return Path(settings.READING_DIR, str(job_id))


def _lower(which: int, soft: int) -> None:
    """Set the limit that the process itself may lift again, below the one that nobody may."""
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        soft = min(soft, hard)
    resource.setrlimit(which, (soft, hard))
