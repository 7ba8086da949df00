"""One word for one thing: the glossary is the authority, and no name stands for two things."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest
from django.apps import apps

from tests.syntax import parse_source

ROOT = Path(__file__).resolve().parents[2]
APPS = ["vertex", "clustering", "annotation", "rules", "monitoring"]
SOURCES = sorted(
    path
    for app in APPS
    for path in (ROOT / app).rglob("*.py")
    if "migrations" not in path.parts and ROOT / "vertex" / "demo" / "sites" not in path.parents
)
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text()
WORDS = set(re.findall(r"^\| \*\*(.+?)\*\* \|", GLOSSARY, re.MULTILINE))
# Rows that belong to a word of the glossary and are named after how they are kept.
WORD_BY_MODEL = {"snapshot assets": "page assets"}
# Found by name in each module of commands; what a form and an answer of the API call a thing both.
SHARED_NAMES = {"Command", "Publishing"}
# A docstring begins with a verb of the trade: what the function does, not what it lets happen.
DIALECT = re.compile(r"(Let|Say|Tell|Note)\b")
# A constant carries its subject: MAX_SAMPLES_SHOWN, not MOST.
BARE_CONSTANTS = {
    "AT_ONCE",
    "BOUND",
    "ENOUGH",
    "FEW",
    "FEWEST",
    "FIRST_ERROR",
    "KEPT",
    "LATER",
    "LEAST",
    "LONGEST",
    "MARGIN",
    "MOST",
    "OFTEN",
    "PATIENCE",
    "SHARE",
    "SOME",
    "SOON",
    "SURE",
}
# Names that every reader must translate.
EMPTY_NAMES = {"one", "told", "found", "made", "taken", "kept", "chosen", "said", "asked"}


Trees = dict[str, ast.Module]


@pytest.fixture(scope="module")
def trees() -> Trees:
    """Return the syntax trees of the product, for these tests only: they fill 160 MB."""
    return {str(path.relative_to(ROOT)): parse_source(path.read_text()) for path in SOURCES}


def models() -> list[str]:
    labels = ("core", "clustering", "annotation", "rules", "monitoring")
    return sorted(
        str(model._meta.verbose_name)
        for label in labels
        for model in apps.get_app_config(label).get_models()
    )


@pytest.mark.parametrize("model", models())
def test_each_kind_of_row_is_a_word_of_the_glossary(model: str) -> None:
    assert WORD_BY_MODEL.get(model, model) in WORDS


def test_no_word_of_the_glossary_is_explained_twice() -> None:
    words = re.findall(r"^\| \*\*(.+?)\*\* \|", GLOSSARY, re.MULTILINE)

    assert sorted(words) == sorted(set(words))


def test_no_class_has_the_name_of_another_thing(trees: Trees) -> None:
    places = defaultdict(list)
    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)

    shared = {name for name, paths in places.items() if len(paths) > 1}
    assert {name: places[name] for name in shared - SHARED_NAMES} == {}


def test_docstrings_begin_with_a_verb_of_the_trade(trees: Trees) -> None:
    dialect = [
        f"{path}:{node.lineno} {node.name}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and DIALECT.match(ast.get_docstring(node) or "")
    ]

    assert dialect == []


def test_constants_carry_their_subject(trees: Trees) -> None:
    bare = [
        f"{path}:{node.lineno} {target.id}"
        for path, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for bound in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for target in ast.walk(bound)  # of several at once each
        if isinstance(target, ast.Name) and target.id in BARE_CONSTANTS
    ]

    assert bare == []


def test_variables_are_named_after_what_they_hold(trees: Trees) -> None:
    empty = [
        f"{path}:{node.lineno} {node.id}"
        for path, tree in trees.items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in EMPTY_NAMES
    ]

    assert empty == []
