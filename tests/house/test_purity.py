"""The pure packages need neither Django nor any other framework, database, network or clock."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PURE = [
    "clustering/dom",
    "clustering/values",
    "clustering/algorithms",
    "annotation/algorithms",
    "rules/algorithms",
    "monitoring/algorithms",
]
BLOCKED = ["django", "rest_framework", "celery", "psycopg", "h11"]
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for folder in PURE
    for path in sorted((ROOT / folder).rglob("*.py"))
]


def import_with_blocked(module: str) -> subprocess.CompletedProcess[str]:
    program = f"import sys; sys.modules.update(dict.fromkeys({BLOCKED})); import {module}"
    return subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_every_pure_module_imports_without_frameworks() -> None:
    imports = "; ".join(f"import {module}" for module in MODULES)
    program = f"import sys; sys.modules.update(dict.fromkeys({BLOCKED})); {imports}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_a_module_that_needs_django_is_caught() -> None:
    assert import_with_blocked("clustering.models").returncode == 1


@pytest.mark.parametrize("package", PURE)
def test_each_pure_package_says_what_it_is(package: str) -> None:
    assert (ROOT / package / "__init__.py").read_text().startswith('"""')
