"""Keep docs/benchmarks.md: each benchmark owns one section of it."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
OPENING = """# Benchmarks

Each section is written by the command that stands in it. Times vary by machine; compare ratios of one run.
"""


def write_section(title: str, markdown: str, *, page: Path = PAGE) -> None:
    """Replace the section of this title, or add it at the end."""
    text = page.read_text() if page.exists() else OPENING
    section = f"## {title}\n\n{markdown.strip()}\n"
    pattern = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    if pattern.search(text):
        text = pattern.sub(lambda _: section + "\n", text)
    else:
        text = f"{text.rstrip()}\n\n{section}"
    page.write_text(text.rstrip() + "\n")


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; the first column is text, the others are figures."""
    lines: list[Sequence[object]] = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def machine() -> str:
    """Say in a few words what the figures were measured on."""
    place = f"{platform.system()} {platform.machine()}"
    return f"Python {platform.python_version()}, {os.cpu_count()} cores, {place}"
