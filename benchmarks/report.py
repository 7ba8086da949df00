"""Keep docs/benchmarks.md: each benchmark owns one section of it."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

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


def bar_chart(title: str, figures: Mapping[str, float]) -> str:
    """Return a bar chart in Mermaid's notation, which Markdown readers draw."""
    names = ", ".join(f'"{name}"' for name in figures)
    values = ", ".join(f"{figure:.3f}" for figure in figures.values())
    lines = ["```mermaid", "xychart-beta horizontal", f'    title "{title}"']
    return "\n".join([*lines, f"    x-axis [{names}]", f"    bar [{values}]", "```"])


def line_chart(
    title: str, x_axis: Sequence[object], lines_by_name: Mapping[str, Sequence[float]]
) -> str:
    """Return a chart of lines in Mermaid's notation; their names stand in the title, in order."""
    names = ", ".join(f'"{place}"' for place in x_axis)
    drawn = [
        f"    line [{', '.join(f'{figure:.3f}' for figure in figures)}]"
        for figures in lines_by_name.values()
    ]
    head = ["```mermaid", "xychart-beta", f'    title "{title}: {", ".join(lines_by_name)}"']
    return "\n".join([*head, f"    x-axis [{names}]", *drawn, "```"])


def machine() -> str:
    """Say in a few words what the figures were measured on."""
    place = f"{platform.system()} {platform.machine()}"
    return f"Python {platform.python_version()}, {os.cpu_count()} cores, {place}"
