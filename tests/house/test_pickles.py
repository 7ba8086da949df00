"""Nothing that was written elsewhere is turned back into Python objects by running it."""

import ast
from pathlib import Path

from django.core.cache import caches
from django.core.cache.backends.filebased import FileBasedCache
from django.core.cache.backends.locmem import LocMemCache

from tests.syntax import parse_source
from vertex.running.caches import cache_settings

ROOT = Path(__file__).resolve().parents[2]
APPS = ["vertex", "clustering", "annotation", "rules", "monitoring"]
UNPICKLING = {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(parse_source(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


def test_no_module_unpickles() -> None:
    unpickling = [
        str(path.relative_to(ROOT))
        for app in APPS
        for path in (ROOT / app).rglob("*.py")
        if imported(path) & UNPICKLING
    ]

    assert [] == unpickling


def test_the_caches_of_an_installation_are_our_own() -> None:
    for url in ("", "redis://127.0.0.1:1/0"):
        backend = str(cache_settings(url, Path())["BACKEND"])
        assert backend.startswith("vertex.running.")
    assert not isinstance(caches["default"], LocMemCache)
    assert FileBasedCache.get is not type(caches["default"]).get
