"""The cache in Redis, for the processes of several machines; nobody waits for it.

A Redis that does not answer is an empty cache: whatever is cached can be computed again. It stands
apart from the cache in files, so that a command without a Redis does not load its client.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

import redis
import structlog
from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.redis import RedisCache

from vertex.running.caches import as_json

ANSWERS_WITHIN: Final = 1.0  # seconds; a request must not wait for its cache
ASKED_AGAIN_AFTER: Final = 5.0  # seconds, while it does not answer

log = structlog.get_logger(__name__)

T = TypeVar("T")


class NotPlain(Exception):
    """An entry of the cache is not JSON."""


class JsonSerializer:
    """What is written to Redis: integers as they are, so that it can count; all else as JSON."""

    def dumps(self, value: object) -> int | bytes:
        return value if type(value) is int else as_json(value)

    def loads(self, written: bytes) -> Any:
        """Return what was written. Raises NotPlain for what another program or version wrote."""
        try:
            return json.loads(written)
        except ValueError as error:
            raise NotPlain(str(error)) from None


class PatientRedisCache(RedisCache):
    """A Redis that may be away: it then holds and takes nothing, and is asked again later."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        params.setdefault("OPTIONS", {}).update(
            serializer=JsonSerializer,
            socket_connect_timeout=ANSWERS_WITHIN,
            socket_timeout=ANSWERS_WITHIN,
        )
        super().__init__(server, params)
        self._asked_again_at = 0.0

    def ping(self) -> None:
        """Raise RedisError where the server does not answer."""
        self._cache.get_client(None).ping()

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        return self._asked(
            lambda: super(PatientRedisCache, self).get(key, default, version), default
        )

    def get_many(self, keys: Any, version: int | None = None) -> dict[Any, Any]:
        return self._asked(lambda: super(PatientRedisCache, self).get_many(keys, version), {})

    def set(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> None:
        self._asked(lambda: super(PatientRedisCache, self).set(key, value, timeout, version), None)

    def add(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        return self._asked(
            lambda: super(PatientRedisCache, self).add(key, value, timeout, version), False
        )

    def delete(self, key: str, version: int | None = None) -> bool:
        return self._asked(lambda: super(PatientRedisCache, self).delete(key, version), False)

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """Count; 0 where nobody can."""
        return self._asked(lambda: super(PatientRedisCache, self).incr(key, delta, version), 0)

    def _asked(self, ask: Callable[[], T], otherwise: T) -> T:
        """Return what the cache answers; `otherwise` where it is away, or the value is not plain.

        Once away, it is not asked again for a while.
        """
        if time.monotonic() < self._asked_again_at:
            return otherwise
        try:
            return ask()
        except redis.RedisError as error:
            self._asked_again_at = time.monotonic() + ASKED_AGAIN_AFTER
            log.warning("cache_away", error=str(error))
            return otherwise
        except NotPlain:
            return otherwise
