"""Whoever reads strangers' pages says so: views by a flag, all else by asking children with limits.

What a view mentions, and what that mentions, is followed through the syntax trees of the product,
up to the one function that parses. What is handed to a child is not followed: the child parses it.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from django.urls import URLPattern, URLResolver, get_resolver

from monitoring.services.repair.repairing import repair_site
from tests.syntax import parse_source
from vertex import celery
from vertex.core.tasks import FETCHING_WORK
from vertex.core.views.page_reading import is_reading, is_waiting_for_others, keeps_threads

ROOT = Path(__file__).resolve().parents[2]
APPS = ["vertex", "clustering", "annotation", "rules", "monitoring"]
# What these are given runs in another process.
GIVEN_AWAY = {
    "call_limited",
    "call_when_free",
    "call_on_page",
    "call_apart",
    "read_of_page",
    "call",
}
# The one command that reads pages without limits: it needs no installation, and rules run on large
# pages in children.
WITHOUT_LIMITS = "rules.management.commands.extract_bundle"
FILES = {"StreamingHttpResponse", "FileResponse"}  # what is made while it is sent
JOBS = {"JobKind"}  # done elsewhere than where they are named


class Name(NamedTuple):
    """A function, class or variable at the top of a module."""

    module: str
    name: str


CLUSTER_LOCK = Name("clustering.services.clusters.current_clusterings", "lock_clusters")
PARSER = Name("clustering.dom.page", "parse_page")
# Named as types and values by who hands pages to children. Who asks a page for its tree is
# found apart.
CUT = {
    Name("clustering.algorithms.grouping", "RawPage"),
    Name("clustering.algorithms.clusterers", "CLUSTERERS"),
    Name("clustering.algorithms.automatic.page_features", "observe"),
}


# These have a child read a page, and a view waits for it. Who leaves out what no child is free for
# is not here.
WAITING = {
    Name("annotation.views.page.annotating", "read_of_page"),
    Name("clustering.services.lists.list_tables", "tables_of_snapshot"),
    Name("clustering.services.looks.frames", "show_page"),
}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def modules() -> dict[str, ast.Module]:
    paths = [
        path
        for app in APPS
        for path in (ROOT / app).rglob("*.py")
        if not {"migrations", "demo"} & set(path.parts)
    ]
    return {module_name(path): parse_source(path.read_text()) for path in paths}


@cache
def mentions() -> dict[Name, set[Name]]:
    """Return what each top-level name mentions of the product's own."""
    return {
        Name(module, name): set(_mentioned(module, node))
        for module, tree in modules().items()
        for node in tree.body
        for name in _defined(node)
    }


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


@cache
def _known(module: str) -> dict[str, Name | str]:
    """Return what the names in a module stand for: a name of some module, or a module."""
    tree = modules()[module]
    known: dict[str, Name | str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                meant = whole if whole in modules() else Name(node.module, alias.name)
                known[alias.asname or alias.name] = meant
    for node in tree.body:
        known |= {name: Name(module, name) for name in _defined(node)}
    return known


def _mentioned(module: str, node: ast.stmt) -> Iterator[Name]:
    known = _known(module)
    own = _local_names(node)
    for part in _parts(node):
        if isinstance(part, ast.Name) and part.id not in own:
            meant = known.get(part.id)
            if isinstance(meant, Name):
                yield meant
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            of = known.get(part.value.id)
            if isinstance(of, str) and part.value.id not in own:
                yield Name(of, part.attr)
    if _takes_a_tree_of_a_page(node):
        yield PARSER


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a statement but what it gives away."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call) and _called(child) in GIVEN_AWAY | JOBS:
            yield from _parts(child.func)
        else:
            yield from _parts(child)


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _local_names(node: ast.stmt) -> set[str]:
    """Return the names that a function or a class gives to values of its own."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return set()
    arguments = {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
    stored = {
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    return arguments | stored


def _takes_a_tree_of_a_page(node: ast.stmt) -> bool:
    """Return whether a function asks a page with its bytes for its tree: it is parsed then."""
    return (
        isinstance(node, ast.FunctionDef)
        and "RawPage" in ast.unparse(node.args)
        and any(
            isinstance(part, ast.Attribute) and part.attr in {"tree", "parsed"}
            for part in ast.walk(node)
        )
    )


def way_to_parser(start: Name) -> list[Name]:
    """Return by what a name leads to the parser, the shortest way; nothing where it does not."""
    return way_to({PARSER}, start)


def way_to(ends: set[Name], start: Name) -> list[Name]:
    """Return the shortest way by which a name leads to one of some others; nothing if none does."""
    ways = deque([[start]])
    seen = {start} | CUT
    while ways:
        way = ways.popleft()
        if way[-1] in ends:
            return way
        for following in sorted(mentions().get(way[-1], set()) - seen):
            seen.add(following)
            ways.append([*way, following])
    return []


def views() -> Iterator[tuple[Name, Any]]:
    """Yield the product's own views that an address leads to."""
    for pattern in _patterns(get_resolver().url_patterns):
        view = pattern.callback
        inner = getattr(view, "cls", None) or getattr(view, "view_class", None) or view
        name = Name(inner.__module__, getattr(inner, "__qualname__", type(inner).__name__))
        if name.module.partition(".")[0] in APPS:
            yield name, view


def _patterns(entries: Iterable[URLPattern | URLResolver]) -> Iterator[URLPattern]:
    for entry in entries:
        if isinstance(entry, URLResolver):
            yield from _patterns(entry.url_patterns)
        else:
            yield entry


def test_each_view_that_reads_pages_is_flagged() -> None:
    unflagged = {
        str(name): " > ".join(step.name for step in way)
        for name, view in views()
        if not is_reading(view) and (way := way_to_parser(name))
    }

    assert {} == unflagged


def test_each_view_that_waits_for_children_is_flagged() -> None:
    waiting = {name: keeps_threads(view) for name, view in views() if way_to(WAITING, name)}

    assert all(waiting.values()), [
        str(name) for name, is_flagged in waiting.items() if not is_flagged
    ]
    assert len(waiting) >= 10, "the control"


def test_each_view_that_changes_clusters_is_flagged() -> None:
    changing = {
        name: is_waiting_for_others(view) for name, view in views() if way_to({CLUSTER_LOCK}, name)
    }

    assert all(changing.values()), [
        str(name) for name, is_flagged in changing.items() if not is_flagged
    ]
    assert len(changing) >= 20, "the control"


def test_each_view_that_sends_a_file_is_flagged() -> None:
    senders = {
        Name(module, name)
        for module, tree in modules().items()
        for node in tree.body
        for name in _defined(node)
        for part in ast.walk(node)
        if isinstance(part, ast.Call) and _called(part) in FILES
    }
    sending = {name: keeps_threads(view) for name, view in views() if way_to(senders, name)}

    assert all(sending.values()), [
        str(name) for name, is_flagged in sending.items() if not is_flagged
    ]
    assert len(sending) >= 8, "the control"


def test_each_command_that_reads_pages_has_limits() -> None:
    limits = Name("vertex.core.services.jobs.step_limits", "limited_steps")
    commands = [name for name in mentions() if ".management.commands." in name.module]
    reading = {name.module for name in commands if way_to_parser(name)}
    limited = {name.module for name in commands if limits in mentions()[name]}

    assert {WITHOUT_LIMITS} == reading - limited
    assert len(limited & reading) > 3, "the control"


def test_views_that_read_pages_are_found() -> None:
    """The control: a way that is not seen would leave views unflagged."""
    flagged = {name for name, view in views() if is_reading(view)}

    n_found = sum(bool(way_to_parser(name)) for name in flagged)
    assert n_found > 0.8 * len(flagged)


def test_no_job_that_fetches_reads_pages() -> None:
    """They share a process with hundreds of others, and have no limits of their own."""
    celery.app.loader.import_default_modules()
    ways = {
        task: " > ".join(
            step.name for step in way_to_parser(Name(work.__module__, work.__qualname__))
        )
        for task, work in FETCHING_WORK.items()
    }

    assert ways
    assert dict.fromkeys(ways, "") == ways
    assert way_to_parser(Name(repair_site.__module__, repair_site.__qualname__)), "the control"
