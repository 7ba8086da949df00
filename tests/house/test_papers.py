"""Each row of the index of papers names a function, a module and a test that exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROWS = re.findall(
    r"^\| (.+?) \| `(\w+)` \| (\S+) \| (\S+) \|$",
    (ROOT / "docs" / "papers" / "README.md").read_text(),
    re.MULTILINE,
)


def test_the_index_is_read() -> None:
    assert len(ROWS) >= 30


@pytest.mark.parametrize(
    ("figure", "name", "module", "test"), ROWS, ids=[f"{row[0]}: {row[1]}" for row in ROWS]
)
def test_each_row_leads_to_code_and_its_test(figure: str, name: str, module: str, test: str) -> None:
    tree = ast.parse((ROOT / module).read_text())

    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert (ROOT / test).exists()
