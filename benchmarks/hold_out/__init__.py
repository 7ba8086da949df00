"""Quality of rules on kinds of sites that the learner was not developed on, from drawn samples."""

from __future__ import annotations

from pathlib import Path

from benchmarks.hold_out.sites import clusters
from benchmarks.report import markdown_table
from benchmarks.rule_learning import KS, LEARNERS, Judge

TITLE = "Rules on other kinds of sites"


def run(_data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    rows: list[list[object]] = []
    sums = {learner: [0.0] * (len(KS) + 1) for learner in LEARNERS}
    results = [(cluster.name, Judge(cluster)) for cluster in clusters()]
    for name, judge in results:
        for learner in LEARNERS:
            n_pages, _, _ = judge.annotate_until_right(learner)
            figures = [*(judge.mean(learner, k, drawn=True) for k in KS), n_pages]
            rows.append(
                [f"{name}, {learner}", *(f"{row:.3f}" for row in figures[:-1]), f"{n_pages:.0f}"]
            )
            sums[learner] = [total + row for total, row in zip(sums[learner], figures, strict=True)]
    for learner in LEARNERS:
        *means, n_pages = (total / len(results) for total in sums[learner])
        rows.append(
            [f"**mean, {learner}**", *(f"**{mean:.3f}**" for mean in means), f"**{n_pages:.1f}**"]
        )
    header = ["site, learner", *(f"k = {k}" for k in KS), "pages until right"]
    return (
        "Generated pages of eight kinds of sites: optional attributes, layouts, "
        "labels in tables, lists and "
        "texts, values within texts, attributes and JSON-LD, "
        "values divided by commas and line ends, offers "
        "in offers. Mean F1 over attributes on the pages that were not annotated; "
        "the first k of 20 samples "
        "as `draw_samples` chooses them. Pages until right: "
        "so many are annotated until all other samples "
        "are right, at most 8.\n\n" + markdown_table(header, rows)
    )
