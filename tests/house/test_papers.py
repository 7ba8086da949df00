"""Each row of the index of papers names a function, a module and a test that exist."""

import ast
import re
from pathlib import Path

import pytest

from tests.syntax import parse_source

ROOT = Path(__file__).resolve().parents[2]
ROWS = re.findall(
    r"^\| (.+?) \| `(\w+)` \| (\S+) \| (\S+) \|$",
    (ROOT / "docs" / "papers" / "README.md").read_text(),
    re.MULTILINE,
)
BENCHMARKS = re.findall(
    r"^\| [^|]+ \| (benchmarks/\S+) \|$",
    (ROOT / "docs" / "papers" / "README.md").read_text(),
    re.MULTILINE,
)
PUBLISHED = (
    "shingles",
    "keyclus",
    "key_paths",
    "tabs",
    "template_removal",
    "uxclust",
    "site_model",
    "page_classes",
    "link_queue",
    "pq_grams",
    "common_paths",
    "path_shingles",
    "masked_path_shingles",
    "tree_distance",
    "url_patterns",
    "measures",
)


def test_the_index_is_read() -> None:
    assert len(ROWS) >= 30
    assert len(BENCHMARKS) >= 5


@pytest.mark.parametrize("module", PUBLISHED)
def test_each_published_clusterer_is_in_the_index(module: str) -> None:
    assert module in {Path(row[2]).stem for row in ROWS}


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_each_benchmark_of_the_index_exists(benchmark: str) -> None:
    assert (ROOT / benchmark).exists()


@pytest.mark.parametrize(
    ("figure", "name", "module", "test"), ROWS, ids=[f"{row[0]}: {row[1]}" for row in ROWS]
)
def test_each_row_leads_to_code_and_its_test(
    figure: str, name: str, module: str, test: str
) -> None:
    tree = parse_source((ROOT / module).read_text())

    assert name in {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    assert (ROOT / test).exists()
