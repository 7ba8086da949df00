"""What all commands share: lines in and out, errors in one line, progress, a database check."""

from __future__ import annotations

import argparse
import errno
import fcntl
import gzip
import os
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TextIO, cast

import orjson
import zstandard
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from vertex.core.models import Job, Site
from vertex.core.services.files import uploads
from vertex.core.services.files.files import (
    STANDARD,
    BadLine,
    UnreadableFile,
    open_input,
    read_json_lines,
    why,
)
from vertex.core.services.jobs import jobs, requests
from vertex.core.services.jobs.requests import JobRequest

__all__ = [
    "STANDARD",
    "BadLine",
    "Lines",
    "WorkCommand",
    "kept_standard_input",
    "open_input",
    "open_output",
    "read_json_lines",
    "whole_number",
]

CHUNK = 1024 * 1024
INTERRUPTED = 130  # what a shell reports after Ctrl-C


class ReaderGone(KeyboardInterrupt):
    """The reader of the results has closed the pipe: the work stops as if Ctrl-C was pressed."""


class Lines:
    """A stream of JSON lines going out."""

    def __init__(self, stream: BinaryIO, *, is_file: bool) -> None:
        self._stream = stream
        self._is_file = is_file

    def write(self, value: Mapping[str, Any]) -> None:
        """Write one line; whoever reads standard output sees it at once. Raises ReaderGone."""
        self.write_bytes(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))

    def write_bytes(self, part: bytes) -> None:
        """Write lines that are ready, or a part of a file of another form. Raises ReaderGone."""
        try:
            self._stream.write(part)
            if not self._is_file:
                self._stream.flush()
        except BrokenPipeError:
            raise ReaderGone from None


@contextmanager
def open_output(
    path: str | Path = STANDARD, stdout: TextIO | None = None, *, is_packed: bool = False
) -> Iterator[Lines]:
    """Open JSON lines for writing; a file appears under its name only when all is written.

    `-` is standard output (or `stdout`), names in .gz and .zst are compressed, unless what is
    written `is_packed` already.
    """
    if str(path) == STANDARD:
        yield Lines(_bytes_of(stdout or sys.stdout), is_file=False)
        return
    target = Path(path).resolve()
    name = "" if is_packed else target.name
    with _open_new(target) as stream, _compressed(stream, name) as packed:
        yield Lines(packed, is_file=target.is_file() or not target.exists())


class WorkCommand(BaseCommand):
    """A command by the contract: results out, notices to standard error, exit status 0, 1 or 2.

    An exception named in `failures` becomes one line on standard error and status 1. Lines reported
    by `report_bad_line` make the status 1 as well, after the work is done.
    """

    failures: tuple[type[Exception], ...] = ()
    requires_system_checks: list[str] = []  # `manage.py check` is a command of its own
    n_bad_lines = 0
    name = ""
    _called_from_command_line: bool  # set by Django

    def run_from_argv(self, argv: list[str]) -> None:
        self.name = Path(argv[1]).name
        super().run_from_argv(argv)

    def execute(self, *args: Any, **options: Any) -> str | None:
        self.n_bad_lines = 0
        if not self._called_from_command_line:
            return self._execute_plainly(*args, **options)
        try:
            prepare_database()
            return self._execute_plainly(*args, **options)
        except CommandError as error:
            if options["traceback"]:
                raise
            self._end(str(error), error.returncode)
        except (ReaderGone, BrokenPipeError):
            # Nothing more can be told to them, at exit either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        except KeyboardInterrupt:
            self._end("interrupted; what was done until now is stored", INTERRUPTED)

    def add_output_argument(self, parser: CommandParser) -> None:
        """Declare `--output FILE`."""
        parser.add_argument(
            "--output",
            default=STANDARD,
            metavar="FILE",
            help="where result lines go; .gz and .zst are compressed (default: standard output)",
        )

    def open_output(self, path: str = STANDARD, *, is_packed: bool = False) -> Any:
        """Open the results; see the function of this name."""
        return open_output(path, self.stdout, is_packed=is_packed)  # type: ignore[arg-type]

    def notice(self, text: str) -> None:
        """Write something that is no result to the person at the terminal."""
        self.stderr.write(text, self.style.NOTICE)

    def report_bad_line(self, place: str, reason: str) -> None:
        """Write that a line was refused, and why; the exit status will be 1."""
        self.n_bad_lines += 1
        self.stderr.write(f"{place}: {reason}")

    def site(self, name: str) -> Site:
        """Return the site of this name."""
        site = Site.objects.filter(name=name).first()
        if site is None:
            raise CommandError(
                f"there is no site {name!r}; add it with: manage.py add_site {name} --url URL"
            )
        return site

    def run_here(
        self, request: JobRequest, *, report: jobs.Report = jobs.report_to_nobody
    ) -> dict[str, Any]:
        """Do a job in this process and return its result; go on with one that a killed run left."""
        job = requests.claim_or_create(request)
        return self.finish_here(job, request.kind.work, report=report)

    def finish_here(
        self, job: Job, work: jobs.Work, *, report: jobs.Report = jobs.report_to_nobody
    ) -> dict[str, Any]:
        """Do the work of a job in this process and return its result."""
        try:
            done = requests.finish_here(job, work, report=report)
        except jobs.JobNotClaimed:
            raise CommandError(
                f"“{job.title}” (job {job.pk}) is already being done by another process"
            ) from None
        return done.result or {}

    @contextmanager
    def progress(self, title: str, n_total: int | None = None) -> Iterator[Callable[..., None]]:
        """Show a bar on standard error while it is a terminal; call the result once a step."""
        console = Console(stderr=True)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with Progress(
            *columns, console=console, disable=not console.is_terminal, transient=True
        ) as bar:
            task = bar.add_task(title, total=n_total)
            yield lambda _line=None: bar.advance(task)

    def _execute_plainly(self, *args: Any, **options: Any) -> str | None:
        try:
            result = super().execute(*args, **options)
        except BrokenPipeError:
            raise  # an OSError, too, but nobody reads the message
        except self.failures as error:
            raise CommandError(str(error)) from error
        except (UnreadableFile, uploads.UploadTooLarge, jobs.JobExists, jobs.JobFailed) as error:
            raise CommandError(str(error)) from error
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        except DatabaseError as error:
            raise CommandError(f"database: {_first_line(error)}") from error
        except OSError as error:
            raise CommandError(
                f"{error.filename}: {why(error)}" if error.filename else why(error)
            ) from error
        if self.n_bad_lines:
            raise CommandError(f"{self.n_bad_lines} bad line(s), see above; all others were taken")
        return result

    def _end(self, text: str, status: int) -> NoReturn:
        self.stderr.write(f"{self.name}: {text}")
        sys.exit(status)


def whole_number(text: str) -> int:
    """Read an option that counts something; less than 1 is wrong usage."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {number}")
    return number


def kept_standard_input() -> Path:
    """Write standard input to a file that is kept until its job is done."""
    chunks = iter(lambda: sys.stdin.buffer.read(CHUNK), b"")
    return uploads.keep_upload(chunks=chunks, name="standard-input")


def prepare_database() -> None:
    """Migrate an empty SQLite database; refuse one that is not of this version."""
    if not _lacks_migrations():
        return
    with _locked(settings.VAR_DIR / "migrate.lock"):  # another first command may be at it
        if not _lacks_migrations():
            return
        if connection.vendor != "sqlite" or connection.introspection.table_names():
            raise CommandError(
                "the database is not of this version; bring it up to date with: manage.py migrate"
            )
        call_command("migrate", verbosity=0, interactive=False)


def _lacks_migrations() -> bool:
    try:
        executor = MigrationExecutor(connection)
        return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError as error:
        raise CommandError(f"database: {_first_line(error)}") from error


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


@contextmanager
def _open_new(target: Path) -> Iterator[BinaryIO]:
    """Write beside the target and rename at the end; a pipe or device is written as it is."""
    if target.exists() and not target.is_file() and not target.is_dir():
        with target.open("wb") as stream:
            yield stream
        return
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "Is a directory", str(target))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such directory", str(target.parent))
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(target)
    except BaseException:  # whatever happened, a half file must not stay
        with suppress(OSError):
            part.unlink()
        raise


@contextmanager
def _compressed(stream: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """Compress what is written where the name asks for it; the stream itself stays open."""
    if name.endswith(".gz"):
        with gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as packed:
            yield cast("BinaryIO", packed)
    elif name.endswith(".zst"):
        with zstandard.ZstdCompressor(level=6).stream_writer(stream, closefd=False) as packed_zst:
            yield cast("BinaryIO", packed_zst)
    else:
        yield stream


def _bytes_of(stream: Any) -> BinaryIO:
    """Return the byte stream under a text stream, so that lines are UTF-8 whatever the locale."""
    inner = getattr(stream, "_out", stream)
    inner.flush()
    return getattr(inner, "buffer", None) or _TextBytes(inner)


class _TextBytes(BytesIO):
    """Bytes written to a text stream that has none under it, as tests hand in."""

    def __init__(self, text: TextIO) -> None:
        super().__init__()
        self._text = text

    def write(self, line: Any) -> int:
        self._text.write(bytes(line).decode())
        return len(line)
