"""Later pages are assigned without the packages that clustering needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from clustering.algorithms.assigning import UnknownAlgorithm, assigner_for
from clustering.algorithms.clusterers import CLUSTERERS

ROOT = Path(__file__).resolve().parents[3]
WITHOUT_ARRAYS = """
import sys
for name in ("numpy", "scipy", "sklearn", "django"):
    sys.modules[name] = None
from clustering.algorithms.assigning import AlgorithmNotInstalled, assigner_for
import rules.bundle.__main__, rules.bundle.limited_child, rules.bundle.item_pages
assert assigner_for("auto", {}).title == "All evidence"
try:
    assigner_for("shingles", {})
except AlgorithmNotInstalled as error:
    print(error)
"""


def test_rules_run_and_auto_assigns_where_no_arrays_are() -> None:
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_ARRAYS],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )

    assert run.returncode == 0, run.stderr
    assert "pip install 'vertex-rules[algorithms]'" in run.stdout


@pytest.mark.parametrize("name", sorted(CLUSTERERS))
def test_an_assigner_is_named_as_its_algorithm(name: str) -> None:
    assigner = assigner_for(name, {})

    assert assigner.title == CLUSTERERS[name].title
    assert assigner.goes_by_links == CLUSTERERS[name].goes_by_links


def test_an_unknown_algorithm_is_named() -> None:
    with pytest.raises(UnknownAlgorithm, match="'x'; there are: auto"):
        assigner_for("x", {})
