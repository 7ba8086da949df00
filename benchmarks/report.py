"""Write docs/benchmarks: a page for each benchmark, with tables and charts."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

PAGES = Path(__file__).resolve().parent.parent / "docs" / "benchmarks"


def write_page(name: str, title: str, markdown: str) -> None:
    """Write the page of a benchmark, named after its module."""
    (PAGES / f"{name}.md").write_text(f"# {title}\n\n{markdown.strip()}\n")


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
