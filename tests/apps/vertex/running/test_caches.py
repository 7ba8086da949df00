"""What is cached is plain, counted exactly, and missed by nobody while the cache is away."""

from __future__ import annotations

import os
import pickle
import threading
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import redis
from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from pytest_django import Settings

from tests import servers
from vertex.running.caches import cache_settings
from vertex.running.redis_cache import PatientRedisCache


class Trap:
    """What runs when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return os.mkdir, (str(self.mark),)


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    """Yield a Redis of these tests' own: it is emptied between them."""
    with servers.own_redis() as url:
        yield url


@pytest.fixture(params=["files", pytest.param("redis", marks=pytest.mark.redis)])
def cache(
    request: pytest.FixtureRequest, settings: Settings, tmp_path: Path
) -> Iterator[BaseCache]:
    url = request.getfixturevalue("redis_url") if request.param == "redis" else ""
    settings.CACHES = {"default": cache_settings(url, tmp_path / "cache")}
    caches["default"].clear()
    yield caches["default"]
    caches["default"].clear()


@pytest.mark.parametrize("value", [0, 7, True, None, "é\ud800", [1, [2.5]], {"a": {"b": []}}])
def test_plain_values_come_back(cache: BaseCache, value: object) -> None:
    cache.set("key", value, 60)

    assert value == cache.get("key", "missing")
    assert {"key": value} == cache.get_many(["key", "other"])


def test_what_is_expired_or_deleted_is_gone(cache: BaseCache) -> None:
    cache.set("short", 1, 0.01)
    cache.set("deleted", 1, 60)
    cache.delete("deleted")
    time.sleep(0.05)

    assert [None, None] == [cache.get("short"), cache.get("deleted")]


def test_counts_are_exact_whoever_counts_at_the_same_time(cache: BaseCache) -> None:
    gate = threading.Barrier(8)

    def count(_: int) -> None:
        gate.wait()
        for _ in range(50):
            cache.add("count", 0, 60)
            cache.incr("count")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(count, range(8)))

    assert 400 == cache.get("count")


def test_nothing_that_is_read_from_files_is_run(settings: Settings, tmp_path: Path) -> None:
    settings.CACHES = {"default": cache_settings("", tmp_path / "cache")}
    cache = caches["default"]
    cache.set("key", [1], 60)
    (entry,) = (tmp_path / "cache").glob("*.djcache")
    trap = pickle.dumps(Trap(tmp_path / "sprung"))
    entry.write_bytes(pickle.dumps(time.time() + 60) + zlib.compress(trap))

    assert "missing" == cache.get("key", "missing")
    assert not (tmp_path / "sprung").exists()
    pickle.loads(trap)  # the control: reading it as Django's own cache does runs it
    assert (tmp_path / "sprung").exists()


@pytest.mark.redis
def test_nothing_that_is_read_from_redis_is_run(
    redis_url: str, settings: Settings, tmp_path: Path
) -> None:
    settings.CACHES = {"default": cache_settings(redis_url, tmp_path)}
    cache = caches["default"]
    cache.set("key", [1], 60)
    server = redis.Redis.from_url(redis_url)
    server.set(cache.make_key("key"), pickle.dumps(Trap(tmp_path / "sprung")))

    assert "missing" == cache.get("key", "missing")
    assert not (tmp_path / "sprung").exists()


def test_a_redis_that_is_away_holds_nothing_and_is_not_waited_for(settings: Settings) -> None:
    settings.CACHES = {"default": cache_settings("redis://127.0.0.1:1/0", Path())}
    cache = caches["default"]
    assert isinstance(cache, PatientRedisCache)
    cache.set("key", 1, 60)

    assert ("missing", {}, False) == (
        cache.get("key", "missing"),
        cache.get_many(["key"]),
        cache.add("key", 1),
    )
    with pytest.raises(redis.RedisError):
        cache.ping()
