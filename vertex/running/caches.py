"""The cache of an installation: nothing in it is ever run, and counts are exact.

What is read from a cache may have been written by somebody else, so it is JSON and not
Python's own format.
"""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import IO, Any, Final
from zlib import crc32

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.filebased import FileBasedCache

N_LOCKS: Final = 64
MAX_EXPIRY_BYTES: Final = 40
NEVER: Final = b"never\n"


def as_json(value: object) -> bytes:
    """Return a plain value or a dataclass of such as JSON."""
    return json.dumps(value, default=_plain, separators=(",", ":")).encode()


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} cannot be cached: cache plain values")


class JsonFileCache(FileBasedCache):
    """Files with an expiry and JSON, for the processes of one machine; counts are exact."""

    def _write_content(self, file: IO[bytes], timeout: Any, value: object) -> None:
        expiry = self.get_backend_timeout(timeout)
        file.write(NEVER if expiry is None else f"{expiry}\n".encode())
        file.write(as_json(value))

    def _is_expired(self, file: IO[bytes]) -> bool:
        """Read an open file up to its value, and delete it where it is expired or not ours."""
        expiry = _expiry_of(file.readline(MAX_EXPIRY_BYTES))
        if expiry is not None and expiry >= time.time():
            return False
        self._delete(file.name)  # type: ignore[attr-defined]  # the stubs leave it out
        return True

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        try:
            with Path(self._key_to_file(key, version)).open("rb") as file:  # type: ignore[attr-defined]
                return default if self._is_expired(file) else json.loads(file.read())
        except (FileNotFoundError, ValueError):
            return default

    def touch(self, key: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        with self._locked(key):
            missing = object()
            value = self.get(key, missing, version)
            if value is missing:
                return False
            self.set(key, value, timeout, version)
            return True

    def add(
        self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        with self._locked(key):
            return bool(super().add(key, value, timeout, version))

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:
        """Add to a count and return it; its expiry stays. Raises ValueError where there is none."""
        path = Path(self._key_to_file(key, version))  # type: ignore[attr-defined]
        with self._locked(key):
            try:
                with path.open("r+b") as file:
                    if self._is_expired(file):
                        raise ValueError(f"there is no count {key!r}")
                    starts_at = file.tell()
                    count = int(json.loads(file.read())) + delta
                    file.seek(starts_at)
                    file.write(as_json(count))
                    file.truncate()
                    return count
            except FileNotFoundError:
                raise ValueError(f"there is no count {key!r}") from None

    @contextmanager
    def _locked(self, key: Any) -> Iterator[None]:
        """Hold the lock of a key, which it shares with some others."""
        self._createdir()  # type: ignore[attr-defined]
        number = crc32(str(key).encode()) % N_LOCKS
        with Path(self._dir, f".lock-{number}").open("ab") as file:  # type: ignore[attr-defined]
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _expiry_of(line: bytes) -> float | None:
    """Return the time at which an entry expires, None where the line says none that can be read."""
    if line == NEVER:
        return float("inf")
    try:
        return float(line)
    except ValueError:
        return None


def cache_settings(url: str, folder: Path) -> Mapping[str, Any]:
    """Return an installation's cache as Django wants it: Redis, or files without an address."""
    if url:
        return {"BACKEND": "vertex.running.redis_cache.PatientRedisCache", "LOCATION": url}
    return {
        "BACKEND": "vertex.running.caches.JsonFileCache",
        "LOCATION": folder,
        "OPTIONS": {"MAX_ENTRIES": 5000},
    }
