"""Find the tests of what changed: by git, those beside a file and the nearest that import it."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

import grimp

from tests.syntax import parse_source

ROOT = Path(__file__).resolve().parent.parent
APPS = ("vertex", "clustering", "annotation", "rules", "monitoring")
PURE_LAYERS = ("algorithms", "dom", "values")
# About a minute of tests on two cores; the others wait for `make test`.
MAX_TEST_FILES = 24


@dataclass(frozen=True, slots=True)
class Choice:
    """The test files to run, nearest first, and those left out though they import what changed."""

    run: Sequence[str]
    left_out: Sequence[str]


def choose(changed: Sequence[str]) -> Choice:
    """Choose the tests of changed files, all given as paths below the root.

    1. Changed test files.
    2. The test of the same path as a changed module.
    3. The tests of the same room as a changed module or template.
    4. Tests that import a changed module, those with the fewest modules between first.
    """
    paths = [PurePosixPath(name) for name in changed]
    candidates = [path for path in paths if _is_test(path)]
    candidates += [test for path in paths for test in _tests_of_module(path)]
    candidates += [test for path in paths for test in _tests_of_room(path)]
    candidates += _tests_that_import({_module_of(path) for path in paths if path.suffix == ".py"})
    tests = [str(test) for test in dict.fromkeys(candidates) if (ROOT / test).is_file()]
    return Choice(tests[:MAX_TEST_FILES], tests[MAX_TEST_FILES:])


def changed_files() -> list[str]:
    """Return what differs from main, also uncommitted; on main itself, from the commit before."""
    base = _base()
    differing = _git("diff", "--name-only", base) if base else []
    return sorted({*differing, *_git("ls-files", "--others", "--exclude-standard")})


def _base() -> str:
    """Return the commit to compare with; blank in a repository of one commit."""
    (head,) = _git("rev-parse", "HEAD")
    for main in ("main", "origin/main"):
        fork = _git("merge-base", "HEAD", main)
        if fork and fork != [head]:
            return fork[0]
    return next(iter(_git("rev-parse", "--verify", "--quiet", "HEAD~1")), "")


def _git(*arguments: str) -> list[str]:
    """Return the lines that git prints; none where it has no answer."""
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.splitlines()


def _is_test(path: PurePosixPath) -> bool:
    return path.parts[0] == "tests" and path.name.startswith("test_") and path.suffix == ".py"


def _tests_of_module(path: PurePosixPath) -> Iterator[PurePosixPath]:
    if path.suffix == ".py":
        yield from (folder / f"test_{path.name}" for folder in _test_folders(path))


def _tests_of_room(path: PurePosixPath) -> Iterator[PurePosixPath]:
    """Yield the tests of a room of an app; in a pure room each module has a test of its own."""
    for folder in _test_folders(path):
        if folder.parts[1] == "apps" and len(folder.parts) > len(("tests", "apps", "app")):
            tests = sorted((ROOT / folder).glob("test_*.py"))
            yield from (PurePosixPath(test.relative_to(ROOT)) for test in tests)


def _test_folders(path: PurePosixPath) -> list[PurePosixPath]:
    """Return where a product file's tests may stand: by app and room, with the layer or without."""
    parts = path.parent.parts
    if parts[:1] == ("templates",):
        return [PurePosixPath("tests/apps", *parts[1:])]
    if not parts or parts[0] not in APPS:
        return []
    if parts[:2] == ("vertex", "core"):
        parts = parts[1:]
    app, *layer = parts[:2]
    rooms = parts[2:]
    if layer == ["algorithms"]:
        return [PurePosixPath("tests/algorithms", app, *rooms)]
    if layer and layer[0] in PURE_LAYERS:
        return [PurePosixPath("tests/algorithms", *parts)]
    return [
        PurePosixPath("tests/apps", *parts),
        PurePosixPath("tests/apps", app, *rooms),
        PurePosixPath("tests/algorithms", *parts),  # the rules' bundle needs no database either
    ]


def _tests_that_import(changed: set[str]) -> list[PurePosixPath]:
    """Return the test files that import a changed module, those with the shortest chain first."""
    if not changed:
        return []
    importers = _importers_by_module()
    tests: list[PurePosixPath] = []
    seen, level = set(changed), set(changed)
    while level:
        level = {importer for module in level for importer in importers.get(module, ())} - seen
        seen |= level
        paths = [PurePosixPath(*module.split(".")).with_suffix(".py") for module in sorted(level)]
        tests += [path for path in paths if _is_test(path)]
    return tests


@cache
def _importers_by_module() -> dict[str, set[str]]:
    """Return who imports each module directly, product and tests together."""
    graph = grimp.build_graph(*APPS, cache_dir=str(ROOT / ".import_linter_cache"))
    importers = {
        module: set(graph.find_modules_that_directly_import(module)) for module in graph.modules
    }
    for path in (ROOT / "tests").rglob("*.py"):
        importer = _module_of(PurePosixPath(path.relative_to(ROOT)))
        for module in _imports_of(path):
            importers.setdefault(module, set()).add(importer)
    return importers


def _imports_of(path: Path) -> Iterator[str]:
    """Yield each name that a file imports; a name imported from a package may be a module."""
    for node in ast.walk(parse_source(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _module_of(path: PurePosixPath) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")
