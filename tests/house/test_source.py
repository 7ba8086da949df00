"""How the source reads: imports at the top, few broad excepts, tests beside it."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.syntax import parse_source

ROOT = Path(__file__).resolve().parents[2]
APPS = ["vertex", "clustering", "annotation", "rules", "monitoring"]
SOURCES = sorted(
    path
    for app in APPS
    for path in (ROOT / app).rglob("*.py")
    if "migrations" not in path.parts and ROOT / "vertex" / "demo" / "sites" not in path.parents
)
BROAD_EXCEPTS_ALLOWED = 5  # one page, job or site of many may fail, and then a row says so


@cache
def tree_of(path: Path) -> ast.Module:
    return parse_source(path.read_text())


def functions() -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    trees = [tree_of(path) for path in SOURCES]
    return [
        node
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def test_imports_stand_at_the_top() -> None:
    inside = [
        f"{function.name}:{node.lineno}"
        for function in functions()
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]

    assert len(inside) <= 3


def test_broad_excepts_are_counted() -> None:
    broad = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ExceptHandler) and is_broad(node) and not cleans_up_and_raises(node)
    ]

    assert len(broad) <= BROAD_EXCEPTS_ALLOWED, broad


def is_broad(node: ast.ExceptHandler) -> bool:
    return node.type is None or (
        isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"}
    )


def cleans_up_and_raises(node: ast.ExceptHandler) -> bool:
    last = node.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def test_every_module_says_what_it_is() -> None:
    silent = [name_of(path) for path in SOURCES if not ast.get_docstring(tree_of(path))]

    assert [] == silent


PURE = [ROOT / app / layer for app in APPS for layer in ("algorithms", "dom", "values")]


def test_every_pure_module_has_a_test_at_the_same_place() -> None:
    modules = [path for folder in PURE for path in folder.rglob("[a-z]*.py")]
    untested = [name_of(path) for path in modules if not place_of_test(path).exists()]

    assert len(modules) > 100
    assert [] == untested


def place_of_test(path: Path) -> Path:
    app, layer, *rooms = path.relative_to(ROOT).parent.parts
    below = [app, *rooms] if layer == "algorithms" else [app, layer, *rooms]
    return (ROOT / "tests" / "algorithms").joinpath(*below, f"test_{path.stem}.py")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_no_word_of_the_glossary_is_replaced_by_a_vague_one() -> None:
    vague = {
        "utils",
        "util",
        "helpers",
        "helper",
        "manager",
        "managers",
        "handlers",
        "handler",
        "signals",
        "misc",
        "common",
    }

    assert {path.stem for path in SOURCES} & vague == set()


def test_every_cache_says_what_it_saves() -> None:
    with_figure = re.compile(r"^ *# Saves .*\n(?: *#.*\n)*(?= *@(?:lru_)?cache\b)", re.MULTILINE)
    any_cache = re.compile(r"^ *@(?:lru_)?cache\b", re.MULTILINE)
    without_figure = []
    for path in SOURCES:
        text = path.read_text()
        if len(any_cache.findall(text)) > len(with_figure.findall(text)):
            without_figure.append(name_of(path))

    assert [] == without_figure, "above each cache a line says what it saves: # Saves 3 ms a page."
