"""No modules import each other in a circle; the contract of the pure packages reports a breach."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import grimp
import pytest

from tests.rooms import APPS, ROOT

CONTRACTS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"][
    "importlinter"
]
(PURE,) = (contract for contract in CONTRACTS["contracts"] if "neither" in contract["name"])


def cycle_in(imports: Mapping[str, set[str]]) -> list[str]:
    """Return a circle of imports, its first module again at the end; nothing if there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        modules: list[str] = error.args[1]
        return modules
    return []


def test_no_modules_import_each_other_in_a_circle() -> None:
    """What is imported for types only counts as well."""
    graph = grimp.build_graph(*APPS, cache_dir=str(ROOT / ".import_linter_cache"))
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}

    assert len(imports) > 400
    assert [] == cycle_in(imports)


def test_a_circle_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "circular_for_a_test"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "one.py").write_text("from circular_for_a_test import two\n")
    (package / "two.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from "
        "circular_for_a_test.one import x\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    graph = grimp.build_graph(package.name, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}

    circle = cycle_in(imports)
    assert {f"{package.name}.one", f"{package.name}.two"} == set(circle)


def test_the_contract_names_every_pure_package() -> None:
    packages = {
        f"{app}.{layer}"
        for app in APPS
        for layer in ("algorithms", "values", "dom")
        if (ROOT / app / layer).is_dir()
    }

    assert packages <= set(PURE["source_modules"])
    assert {"os", "subprocess", "multiprocessing", "argparse", "pathlib", "signal"} <= set(
        PURE["forbidden_modules"]
    )
    assert {f"{app}.services" for app in APPS if (ROOT / app / "services").is_dir()} <= set(
        PURE["forbidden_modules"]
    )


@pytest.mark.parametrize(
    ("source", "imports"),
    [
        ("rules.bundle", ["os", "multiprocessing", "argparse", "pathlib", "signal"]),
        ("clustering.services.children", ["os", "subprocess", "signal"]),
        ("clustering.views", ["clustering.services", "vertex.core.services", "django"]),
    ],
)
def test_the_contract_of_the_pure_packages_fails_where_it_is_broken(
    tmp_path: Path, source: str, imports: list[str]
) -> None:
    broken = judged_by_the_contract(tmp_path, source)

    assert 1 == broken.returncode, broken.stdout + broken.stderr
    assert [] == [name for name in imports if f"-> {name}" not in broken.stdout]


def test_a_pure_package_keeps_the_contract(tmp_path: Path) -> None:
    remaining = judged_by_the_contract(tmp_path, "rules.algorithms")

    assert 0 == remaining.returncode, remaining.stdout + remaining.stderr


def judged_by_the_contract(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    """Hold a package to the contract of the pure ones."""
    config = folder / "contracts.ini"
    config.write_text(
        "[importlinter]\n"
        f"root_packages =\n    {lines(CONTRACTS['root_packages'])}\n"
        "include_external_packages = True\n"
        "[importlinter:contract:pure]\n"
        "name = pure\ntype = forbidden\nallow_indirect_imports = True\n"
        f"source_modules =\n    {source}\n"
        f"forbidden_modules =\n    {lines(PURE['forbidden_modules'])}\n"
    )
    command = [Path(sys.executable).with_name("lint-imports"), "--config", config, "--no-cache"]
    return subprocess.run(
        list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=False
    )


def lines(names: list[str]) -> str:
    return "\n    ".join(names)


LIBRARIES_OF_WORK = {"numpy", "scipy", "sklearn", "dateparser", "phonenumbers", "redis"}


def test_a_command_starts_without_the_libraries_that_only_its_work_needs(tmp_path: Path) -> None:
    """Each command and each process waits for what the models import: half a second is enough."""
    after_start = loaded("import vertex, django; django.setup()", tmp_path)
    at_work = loaded(
        "import rules.algorithms.learning.default_learner, clustering.values.dates", tmp_path
    )

    assert set() == LIBRARIES_OF_WORK & after_start
    assert {"numpy"} <= at_work


def loaded(program: str, folder: Path) -> set[str]:
    """Return the modules that are loaded after a program, in a process of its own."""
    ended = subprocess.run(
        [sys.executable, "-c", f"{program}; import sys; print(*sys.modules)"],
        cwd=ROOT,
        env={name: text for name, text in os.environ.items() if name == "PATH"}
        | {"VERTEX_VAR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(ended.stdout.split())
