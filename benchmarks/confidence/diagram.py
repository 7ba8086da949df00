"""Draw the reliability diagram of the documentation, as the page of a rule draws its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from django.template.loader import render_to_string

from benchmarks.report import PAGES
from rules.algorithms.review.reliability import ReliabilityBin
from rules.views.learning.reliability_chart import draw_reliability

FILE: Final[Path] = PAGES / "confidence.svg"
# The diagram stands alone: it follows the reader's light or dark by itself.
STYLE: Final = (
    ":root{--line:#d9dce3;--text:#5b6170;--dot:#4f46e5;--ground:#fff}"
    "@media(prefers-color-scheme:dark){:root{--line:#3a3f4b;--text:#b4bac8;--dot:#a5b0fc;--ground:#16181d}}"
    "svg{background:var(--ground);font:11px system-ui,sans-serif}"
    ".reliability-grid{stroke:var(--line)}"
    ".reliability-sure{stroke:var(--text);stroke-width:2}"
    ".reliability-dot{fill:var(--ground);stroke:var(--dot);stroke-width:2.5}"
    ".reliability-label{fill:var(--text)}"
    ".is-end{text-anchor:end}.is-middle{text-anchor:middle}"
)


def write_diagram(bins: Sequence[ReliabilityBin]) -> None:
    """Write the diagram beside the page of the benchmark."""
    context = {"chart": draw_reliability(bins), "style": STYLE}
    drawn = render_to_string("rules/learning/reliability_svg.html", context)
    FILE.write_text("\n".join(line for line in drawn.splitlines() if line.strip()) + "\n", "utf-8")
