"""Store page bodies under the hash of their content: compressed, written once, verified when read.

A store carries the id of its installation in a file. Where the file is missing or says another id,
the store is not mounted, or is another installation's: nothing is written, and no body is called
missing. A body is written to a temporary file, which is synced and renamed, and its folder is
synced: under any kill or power cut a name stands for a whole body or for none.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import zstandard
from django.apps import apps
from django.conf import settings

LEVEL = 3
N_WRITERS = 8  # a write mostly waits for the disk
MAX_BYTES = 64 * 1024 * 1024  # of a body: a damaged file cannot ask for more memory
# Seconds; a temporary file that is older was left by a process that was killed.
MAX_AGE_OF_LEFTOVER = 86_400
OWNER_FILE = ".vertex-store"  # holds the id of the installation
MAX_OWNER_CHARS = 64

_NAME = re.compile(r"[0-9a-f]{64}")
_DIGITS = "0123456789abcdef"
_CREATES = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_FULL = {errno.ENOSPC, errno.EDQUOT}
_here = threading.local()  # compressors must not be shared between threads


class BodyMissing(Exception):
    """A body is not in the page store."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"body {name} is not in the page store; fetch the page again or restore a backup"
        )


class BodyDamaged(Exception):
    """A body in the page store is not what was put there."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"body {name} in the page store is damaged; fetch the page again or restore a backup"
        )


class StoreAway(Exception):
    """The page store is out of reach or not this installation's: its content is unknown now."""


class DiskFull(Exception):
    """There is too little room for another body."""

    def __init__(self, folder: Path, n_free: int) -> None:
        super().__init__(
            f"the disk of {folder} has {n_free >> 20:,} MB left, "
            f"{settings.MIN_FREE_MB:,} are kept free; "
            "make room or lower VERTEX_MIN_FREE_MB"
        )


def refuse_full_disk(folder: Path) -> None:
    """Raise DiskFull where less is free on the folder's disk than the installation keeps free."""
    folder.mkdir(parents=True, exist_ok=True)
    n_free = shutil.disk_usage(folder).free
    if n_free < settings.MIN_FREE_MB << 20:
        raise DiskFull(folder, n_free)


class PageStore:
    """Bodies by the sha256 of their bytes, in 16 folders: a batch then syncs few."""

    def __init__(self, folder: Path, owner_of: Callable[[Path], str] | None = None) -> None:
        """`owner_of` returns the id a folder's store must carry; without it any store will do."""
        self.folder = folder
        self.owner_of = owner_of

    def check(self) -> None:
        """Raise StoreAway unless the store is there and this installation's."""
        if self.owner_of is None:
            return
        try:
            owner = self.owner_of(self.folder)
            written = read_owner(self.folder)
        except OSError as error:
            raise StoreAway(
                f"the page store in {self.folder} cannot be reached: {error.strerror or error}"
            ) from error
        if written is None:
            raise StoreAway(
                f"{self.folder} has no {OWNER_FILE}: the page store is not mounted there, "
                "or was emptied. "
                "Mount it; if this folder is to be the page store from now on, "
                "run manage.py adopt_store"
            )
        if written != owner:
            raise StoreAway(
                f"the page store in {self.folder} is another installation's: its {OWNER_FILE} says "
                f"{written}, not {owner}. Mount the right one; "
                "if this is to be the page store from now on, "
                "run manage.py adopt_store"
            )

    def put(self, body: bytes) -> str:
        """Store a body and return its name. Raises DiskFull."""
        return self.put_many([body])[0]

    def put_many(self, bodies: Iterable[bytes]) -> list[str]:
        """Store bodies and return their names in order; no power cut loses them then.

        Raises DiskFull, StoreAway.
        """
        self.check()
        named = [(sha256(body).hexdigest(), body) for body in bodies]
        body_by_name = dict(named)
        try:
            with (
                self._locked("writing"),
                ThreadPoolExecutor(min(N_WRITERS, len(named) or 1)) as writers,
            ):
                refuse_full_disk(self.folder)
                written = writers.map(self._keep, body_by_name, body_by_name.values())
                folders = {
                    self._path(name).parent
                    for name, is_new in zip(body_by_name, written, strict=True)
                    if is_new
                }
                list(writers.map(_sync_folder, sorted(folders)))
        except OSError as error:
            if error.errno in _FULL:
                raise DiskFull(self.folder, self.n_free()) from error
            if error.errno == errno.EROFS:
                raise StoreAway(f"the page store in {self.folder} is read-only") from error
            raise
        return [name for name, _ in named]

    def read(self, name: str) -> bytes:
        """Return a verified body. Raises BodyMissing, BodyDamaged, or StoreAway if out of reach."""
        path = self._path(name)
        if _notes is not None:
            os.write(_notes, name.encode() + b"\n")
        try:
            packed = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            self.check()
            raise BodyMissing(name) from None
        except OSError as error:
            raise StoreAway(
                f"the page store in {self.folder} cannot be read: {error.strerror or error}"
            ) from error
        body = _unpack(packed)
        if body is None or sha256(body).hexdigest() != name:
            raise BodyDamaged(name)
        return body

    def has(self, name: str) -> bool:
        """Return whether there is a file for this body, without reading it."""
        return _NAME.fullmatch(name) is not None and self._path(name).is_file()

    def delete(self, name: str, *, older_than: timedelta | None = None) -> bool:
        """Remove a body and say whether it went.

        With `older_than`, a body that was put or put again within that time stays: a row that
        names it may be about to be committed. No writer is at work meanwhile, so none can count on
        a body that goes.
        """
        path = self._path(name)
        with self._locked("writing", exclusively=True), suppress(FileNotFoundError):
            if (
                older_than is None
                or path.stat().st_mtime < time.time() - older_than.total_seconds()
            ):
                path.unlink()
                return True
        return False

    def names(self) -> Iterator[str]:
        """Yield all bodies' names in order, removing what killed processes left behind."""
        for folder in sorted(self.folder.glob("[0-9a-f]")):
            for path in sorted(folder.iterdir()):
                if path.suffix == ".zst":
                    yield path.stem
                elif path.suffix == ".tmp":
                    _drop_leftover(path)

    @contextmanager
    def held(self, *, exclusively: bool = False) -> Iterator[None]:
        """Hold a lock against sweeps or, for a sweep, against all holders; writers go on."""
        with self._locked("held", exclusively=exclusively):
            yield

    def n_free(self) -> int:
        """Return the bytes that are free on the store's disk."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return shutil.disk_usage(self.folder).free

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise BodyMissing(ascii(name[:64]))
        return self.folder / name[0] / f"{name}.zst"

    def _keep(self, name: str, body: bytes) -> bool:
        """Write a body unless it is there and whole; say whether it was written."""
        path = str(self._path(name))
        if os.access(path, os.F_OK) and _unpack(_read(path)) == body:
            os.utime(path)
            return False
        _write(path, _pack(body))
        return True

    @contextmanager
    def _locked(self, what: str, *, exclusively: bool = False) -> Iterator[None]:
        """Hold a lock between processes; the system gives it back when its holder dies."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f".{what}").open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX if exclusively else fcntl.LOCK_SH)
            yield


_notes: int | None = None  # an open file, of processes that somebody watches


def note_reads_in(notes: int | None) -> None:
    """Write into an open file which bodies this process reads, for whoever asks what ended it.

    None: nobody asks any more.
    """
    global _notes  # noqa: PLW0603 - of the whole process, whichever store it reads
    _notes = notes


def reads_are_noted() -> bool:
    """Return whether somebody watches what this process reads."""
    return _notes is not None


def page_store() -> PageStore:
    """Return the page store of this installation."""
    return PageStore(settings.PAGE_STORE_DIR, _owner_of)


def read_owner(folder: Path) -> str | None:
    """Return the id of the installation whose store is in a folder, None where it holds none."""
    try:
        with (folder / OWNER_FILE).open() as file:
            return file.read(MAX_OWNER_CHARS).strip()
    except FileNotFoundError:
        return None


def write_owner(folder: Path, owner: str) -> None:
    """Mark the store in a folder as that of an installation, whatever it was."""
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f"{OWNER_FILE}.{secrets.token_hex(8)}"
    temporary.write_text(f"{owner}\n")
    temporary.rename(folder / OWNER_FILE)
    _sync_folder(folder)


# Saves a query and the reading of a file for each body that is read or written.
@lru_cache(maxsize=64)
def _owner_of(folder: Path) -> str:
    """Return the id that the store in this folder must carry.

    The first store that an installation uses is given one, or keeps the one that it has.
    """
    installations = apps.get_model("core", "Installation")._default_manager  # of a layer above
    known: str | None = installations.values_list("store", flat=True).first()
    if known is not None:
        return known
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f"{OWNER_FILE}.{secrets.token_hex(8)}"
    fresh.write_text(f"{secrets.token_hex(16)}\n")
    # Another process was faster, or the store is older than its row.
    with suppress(FileExistsError):
        (folder / OWNER_FILE).hardlink_to(fresh)
    fresh.unlink()
    row, _ = installations.get_or_create(pk=1, defaults={"store": read_owner(folder) or ""})
    owner: str = row.store
    return owner


def _pack(body: bytes) -> bytes:
    if not hasattr(_here, "compressor"):
        _here.compressor = zstandard.ZstdCompressor(level=LEVEL)
    packed: bytes = _here.compressor.compress(body)
    return packed


def _unpack(packed: bytes) -> bytes | None:
    """Return the body, None where the bytes are not one."""
    try:
        if zstandard.frame_content_size(packed) > MAX_BYTES:
            return None
        return zstandard.ZstdDecompressor().decompress(packed, max_output_size=MAX_BYTES)
    except zstandard.ZstdError:
        return None


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - as in _write
        return file.read()


def _write(path: str, packed: bytes) -> None:
    temporary = f"{path[:-68]}{secrets.token_hex(8)}.tmp"
    descriptor = _create(temporary)
    try:
        try:
            written = 0
            while written < len(packed):
                written += os.write(descriptor, packed[written:] if written else packed)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.rename(temporary, path)  # noqa: PTH104 - pathlib would double the time of a small file
    except BaseException:
        os.unlink(temporary)  # noqa: PTH108 - see above
        raise


def _create(path: str) -> int:
    """Create a file and return its descriptor; the first one of a store creates all its folders."""
    try:
        return os.open(path, _CREATES, 0o640)
    except FileNotFoundError:
        store = Path(path).parent.parent
        for digit in _DIGITS:
            (store / digit).mkdir(exist_ok=True)
        _sync_folder(store)
        return os.open(path, _CREATES, 0o640)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _drop_leftover(path: Path) -> None:
    with suppress(FileNotFoundError):
        if path.stat().st_mtime < time.time() - MAX_AGE_OF_LEFTOVER:
            path.unlink()
