"""All algorithms that group pages, side by side: how right, fast, small in memory and steady."""

from __future__ import annotations

import os
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.clustering import coverage, measuring, typed_sites
from benchmarks.report import bar_chart, markdown_table
from clustering.algorithms.clusterers import CLUSTERERS

TITLE = "Clustering"
IS_FULL = bool(os.environ.get("VERTEX_FULL"))
SIZES = (1_000, 10_000, 100_000) if IS_FULL else (1_000, 10_000)
SHARES = (0.05, 0.1, 0.2, 0.4, 0.8)
STEADY = ("alpine-shop 1", "town-guide 2")
Figures = dict[str, dict[str, dict[str, Any]]]  # site -> algorithm -> figures


def run(data: Path | None = None) -> str:
    """Return the scoreboard as a section in Markdown."""
    names = typed_sites.names(data)
    algorithms = [*CLUSTERERS, measuring.DERIVED]
    figures: Figures = {
        name: {
            algorithm: measuring.in_child("site", name, algorithm, str(data or ""))
            for algorithm in algorithms
        }
        for name in names
    }
    missing = typed_sites.absent(data)
    return "\n\n".join(
        [
            *([f"Left out, because they are not there: {', '.join(missing)}."] if missing else []),
            scores(figures, algorithms),
            pairs(figures, algorithms),
            costs(figures, algorithms),
            growth(),
            figure_3(names, data),
            steady(data),
        ]
    )


def scores(figures: Figures, algorithms: list[str]) -> str:
    """Show adjusted Rand of each algorithm on each site, and its mean."""
    rows: list[list[object]] = [
        [
            name,
            by["auto"]["pages"],
            by["auto"]["types"],
            *(_figure(by[algorithm], "rand") for algorithm in algorithms),
        ]
        for name, by in figures.items()
    ]
    rows.append(["**mean**", "", "", *(_mean(figures, algorithm) for algorithm in algorithms)])
    rows.append(["**least**", "", "", *(_least(figures, algorithm) for algorithm in algorithms)])
    return (
        "## Adjusted Rand\n\nThe trees of `auto` were trained on these sites, "
        "so its column shows that nothing has broken, and no "
        "more; on sites left out of the training it is measured [there](joins.md). A dash: "
        "the algorithm needs what "
        "the site does not offer; it does not count in the mean. "
        "A log made from the texts of links is called a derived log. "
        "Of the papers' own figures only those "
        "in their texts can be compared: KeyClus above 0.9 on 5 of 10 sites and 59 % "
        "better than path "
        "shingles. All algorithms have their paper's parameters; "
        "[other settings and plain baselines]"
        "(clustering_settings.md), [KeyClus's own tables](keyclus_tables.md) "
        "and [UXClust's](uxclust.md) stand on "
        "pages of their own.\n\n" + markdown_table(["site", "pages", "types", *algorithms], rows)
    )


def pairs(figures: Figures, algorithms: list[str]) -> str:
    """Show pair precision, pair recall and the number of clusters."""
    rows = [
        [
            name,
            *(
                f"{by[a]['precision']:.2f} / {by[a]['recall']:.2f} / {by[a]['clusters']}"
                if "rand" in by[a]
                else "-"
                for a in algorithms
            ),
        ]
        for name, by in figures.items()
    ]
    return "## Pair precision / pair recall / clusters\n\n" + markdown_table(
        ["site", *algorithms], rows
    )


def costs(figures: Figures, algorithms: list[str]) -> str:
    """Show what the largest sites cost."""
    largest = sorted(figures, key=lambda name: -figures[name]["auto"]["pages"])[:3]
    rows = [
        [
            algorithm,
            *(
                f"{by[algorithm]['seconds']:.1f} s / {by[algorithm]['mib']:.0f} MiB"
                if "rand" in by[algorithm]
                else "-"
                for by in (figures[name] for name in largest)
            ),
        ]
        for algorithm in algorithms
    ]
    return (
        "## Seconds and memory\n\nProcessor time to observe and group, "
        "memory above that of the pages.\n\n" + markdown_table(["algorithm", *largest], rows)
    )


def growth() -> str:
    """Show how each algorithm grows with the pages."""
    grown = {
        algorithm: [measuring.in_child("growth", algorithm, str(n)) for n in SIZES]
        for algorithm in CLUSTERERS
    }
    rows = [
        [
            algorithm,
            *(
                f"{cell['observing']:.1f} + {cell['seconds']:.1f} s / {cell['mib']:.0f} MiB"
                if "seconds" in cell
                else cell["why"]
                for cell in cells
            ),
        ]
        for algorithm, cells in grown.items()
    ]
    largest = {
        algorithm: max(
            cell["seconds"] / n * 1000
            for n, cell in zip(SIZES, cells, strict=True)
            if "seconds" in cell
        )
        for algorithm, cells in grown.items()
    }
    return (
        "## Growth\n\nSeconds to observe + to group, and memory, for sites of pages of 2 KB; "
        "100,000 pages with VERTEX_FULL=1.\n\n"
        + markdown_table(["algorithm", *(f"{n:,} pages" for n in SIZES)], rows)
        + "\n\n"
        + bar_chart("Milliseconds a page to group, at the largest size taken", largest)
    )


def figure_3(names: list[str], data: Path | None) -> str:
    """Show the coverage of signatures against the size of the sample."""
    rows: list[list[object]] = []
    for name in names:
        site = typed_sites.load(name, data)
        figures = [coverage.coverage(site, share) for share in SHARES]
        if figures[0] is not None:
            rows.append([name, *(f"{figure:.3f}" for figure in figures if figure is not None)])
    return (
        "## Coverage against sample size (Figure 3)\n\nShare of the large clusters' pages "
        "that the masked "
        f"signatures of a sample cover, mean of {coverage.N_DRAWS} draws. The paper, "
        "with samples of 20 % of "
        "sites of more than 10,000 pages: mostly above 0.95, large sites above 0.993. "
        "**Lowered here:** the "
        f"paper's large cluster has more than {coverage.LARGE} pages and 0.1 % of the site. "
        "On a site of fewer "
        f"than {10 * coverage.LARGE:,} pages a tenth of the pages is enough here, "
        "since hardly a cluster would "
        "be large, and a sample of 20 % of so small a site has a few tens of pages.\n\n"
        + markdown_table(["site", *(f"{share:.0%}" for share in SHARES)], rows)
    )


def steady(data: Path | None) -> str:
    """Show how much a clustering depends on which pages there are."""
    rows = []
    for name in STEADY:
        site = typed_sites.load(name, data)
        for algorithm in ("auto", "keyclus", "shingles", "common_paths"):
            figures = coverage.steadiness(site, algorithm)
            rows.append(
                [
                    f"{name}, {algorithm}",
                    *(f"{figures[key]:.3f}" for key in ("mean", "deviation", "least")),
                ]
            )
    return (
        f"## Steadiness\n\nAdjusted Rand over {coverage.N_SEEDS} random choices of four fifths of "
        "the pages, in random order.\n\n"
        + markdown_table(["site, algorithm", "mean", "deviation", "least"], rows)
    )


def _figure(figures: dict[str, Any], key: str) -> str:
    return f"{figures[key]:.3f}" if key in figures else "-"


def _all(figures: Figures, algorithm: str) -> list[float]:
    return [by[algorithm]["rand"] for by in figures.values() if "rand" in by[algorithm]]


def _mean(figures: Figures, algorithm: str) -> str:
    return f"**{mean(_all(figures, algorithm) or [0.0]):.3f}**"


def _least(figures: Figures, algorithm: str) -> str:
    return f"**{min(_all(figures, algorithm) or [0.0]):.3f}**"
