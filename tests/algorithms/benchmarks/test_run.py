"""Benchmarks are run by name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import benchmarks
from benchmarks.run import benchmark_names
from tests.syntax import parse_source

FOLDER = Path(benchmarks.__path__[0])


@pytest.mark.parametrize("name", benchmark_names())
def test_each_has_a_title_and_something_to_run(name: str) -> None:
    module = FOLDER / f"{name}.py"
    source = module if module.exists() else FOLDER / name / "__init__.py"
    body = parse_source(source.read_text()).body
    functions = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    assigned = {
        target.id
        for node in body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }

    assert "run" in functions
    assert "TITLE" in assigned
