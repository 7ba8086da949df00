"""Print what caches do during a work: `python -m benchmarks.caches.counting WORK [FOLDER]`.

What a hit saves is timed afterwards, on arguments of that work: a call of the function itself less
one that the cache answers.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

PRODUCT = ("annotation.", "clustering.", "monitoring.", "rules.", "vertex.core.")
N_ROUNDS: Final = 5
N_TIMED: Final = 200  # calls of a function by which its cache is judged


class CountedCache:
    """A cache of a function, with some of the arguments that it did not know."""

    def __init__(self, call: Callable[..., Any], maxsize: int | None) -> None:
        self.call = call
        self.name = f"{call.__module__}.{call.__qualname__}"
        self.unknown: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
        self.cached = ORIGINAL(maxsize=maxsize)(self._called)

    def _called(self, *arguments: Any, **named: Any) -> Any:
        if len(self.unknown) < N_TIMED:
            self.unknown.append((arguments, named))
        return self.call(*arguments, **named)

    def counts(self, hits: int, misses: int) -> dict[str, Any]:
        """Return what the cache did in a work in which it had so many hits and misses."""
        saved = 0.0
        if hits:
            saved = hits * (self._cost_of(self.call) - self._cost_of(self.cached))
        return {"name": self.name, "hits": hits, "misses": misses, "saved": saved}

    def _cost_of(self, call: Callable[..., Any]) -> float:
        """Return the best round's mean time of a call with the arguments that were unknown once."""
        rounds = []
        for _ in range(N_ROUNDS):
            began = time.process_time()
            for arguments, named in self.unknown:
                call(*arguments, **named)
            rounds.append(time.process_time() - began)
        return min(rounds) / len(self.unknown)


ORIGINAL = functools.lru_cache
COUNTED: list[CountedCache] = []


def _counting(call: Callable[..., Any], maxsize: int | None) -> Any:
    if not call.__module__.startswith(PRODUCT):
        return ORIGINAL(maxsize=maxsize)(call)
    counted = CountedCache(call, maxsize)
    COUNTED.append(counted)
    return functools.wraps(call)(counted.cached)


def count_caches() -> None:
    """Count what the caches of all modules do that are imported from here on."""

    def lru_cache(maxsize: Any = 128, *, typed: bool = False) -> Any:
        if typed:
            return ORIGINAL(maxsize=maxsize, typed=True)
        if callable(maxsize):
            return _counting(maxsize, 128)
        return lambda call: _counting(call, maxsize)

    functools.lru_cache = lru_cache  # type: ignore[assignment]  # all that the product uses of it
    functools.cache = lambda call: _counting(call, None)


def main(work: str, *folder: str) -> None:
    """Do a work with counted caches and print its seconds and what each cache did."""
    count_caches()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vertex.settings")
    importlib.import_module("django").setup()
    do = getattr(importlib.import_module("benchmarks.caches.work"), work)
    began = time.process_time()
    do(*map(Path, folder))
    seconds = time.process_time() - began
    infos = [counted.cached.cache_info() for counted in COUNTED]  # before any is timed
    counts = [
        counted.counts(info.hits, info.misses) for counted, info in zip(COUNTED, infos, strict=True)
    ]
    print(json.dumps([seconds, counts]))


if __name__ == "__main__":
    main(*sys.argv[1:])
