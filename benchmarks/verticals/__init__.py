"""How much of a site is known without a click: data slots, and drafts from its vertical's sites."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev

from annotation.algorithms.fields.recognising import MAX_PAGES
from benchmarks.hold_out.sites import clusters as hold_out_clusters
from benchmarks.report import markdown_table
from benchmarks.rule_learning import demo_clusters
from benchmarks.verticals.declared import DeclaredFigures, measure_declared
from benchmarks.verticals.drafts import DraftFigures, measure_drafts
from benchmarks.verticals.known_sites import Verticals, know
from benchmarks.verticals.slots import SlotFigures, measure_slots
from benchmarks.verticals.swde import swde_sites
from benchmarks.verticals.training import train

TITLE = "Verticals"

INTRODUCTION = (
    "SWDE, each site one template. F1 over pages: everything extracted of an attribute on "
    "a page must be "
    "right, lists as sets; where a page shows a single value twice, either is right. "
    "Pages on which the "
    "labelled value is no text of the page are left out."
)


def run(data: Path | None = None) -> str:
    """Return the tables as a section in Markdown."""
    if data is None or not (data / "swde").is_dir():
        return "Left out: the pages of SWDE are not in the folder."
    sites = list(swde_sites(data / "swde"))
    verticals = Verticals(know(site) for site in sites)
    names = list(verticals.sites)
    drafts = []
    for name in names:
        weights = train(verticals, [other for other in names if other != name])
        for known_site in verticals.sites[name]:
            site = next(site for site in sites if site.name == known_site.site.name)
            drafts.append(measure_drafts(site, known_site, verticals, weights))
    clusters = [*demo_clusters(), *hold_out_clusters()]
    declared = [figures for figures in map(measure_declared, clusters) if figures.n_drafted]
    slots = slot_table([measure_slots(site) for site in sites])
    sections = [
        INTRODUCTION,
        f"## Data slots\n\n{slots}",
        f"## Drafts\n\n{DRAFTS}\n\n{draft_table(drafts)}",
        f"## Drafts from declared data\n\n{DECLARED}\n\n{declared_table(declared)}",
    ]
    return "\n\n".join(sections)


DRAFTS = (
    "Each site is drafted from the other sites of its vertical; "
    "the weights of matching and the certainty are "
    "trained on the other verticals. The product clusters the site; "
    "its three largest clusters are drafted, "
    f"from {MAX_PAGES} pages each. Without a click: what the slots show, "
    "and what the rules extract that are "
    "learnt from them. With one page: the first of each cluster is annotated, and not scored; "
    "the slots are "
    "ranked anew and the rule is learnt from both. Precision: "
    "the share of right values among those of the "
    "fields that are called certain. The last line is the standard error of the mean over sites."
)


DECLARED = (
    "Demo sites and generated sites whose pages declare something in JSON-LD or microdata: "
    "drafts from that "
    "alone, run on all pages. Precision and recall count values of the drafted attributes."
)


def declared_table(figures: Sequence[DeclaredFigures]) -> str:
    rows: list[list[object]] = []
    for cluster in figures:
        precision = cluster.n_right / max(1, cluster.n_values)
        recall = cluster.n_right / max(1, cluster.n_shown)
        drafted = f"{cluster.n_drafted} of {cluster.n_attributes}"
        rows.append([cluster.name, drafted, f"{precision:.3f}", f"{recall:.3f}"])
    return markdown_table(["cluster", "attributes drafted", "precision", "recall"], rows)


def draft_table(figures: Sequence[DraftFigures]) -> str:
    """Return how good drafts are, by vertical."""
    by_vertical: dict[str, list[DraftFigures]] = defaultdict(list)
    for site in figures:
        by_vertical[site.vertical].append(site)
    rows = [[vertical, *_draft_row(sites)] for vertical, sites in by_vertical.items()]
    rows.append(["**all**", *_draft_row(figures)])
    errors = [
        stdev(_means([getattr(site, name) for site in figures])) / len(figures) ** 0.5
        for name in ("of_slots", "of_rules", "confirmed")
    ]
    rows.append(["standard error", "", *(f"{error:.3f}" for error in errors), "", ""])
    header = ["vertical", "sites", "slots, no click", "rules, no click", "rules, one page"]
    weak = [
        f"{site.site} {attribute} ({f1:.2f})"
        for site in figures
        for attribute, f1 in site.of_rules.items()
        if f1 < 0.95
    ]
    table = markdown_table([*header, "called certain", "precision of those"], rows)
    return f"{table}\n\nRules below .95 without a click: {', '.join(weak)}."


def _draft_row(figures: Sequence[DraftFigures]) -> list[object]:
    slots, rules, confirmed = (
        fmean(_means([getattr(site, name) for site in figures]))
        for name in ("of_slots", "of_rules", "confirmed")
    )
    n_fields = sum(len(site.of_slots) for site in figures)
    n_certain = sum(site.n_certain for site in figures)
    n_values = sum(site.n_certain_values for site in figures)
    precision = sum(site.n_right_values for site in figures) / max(1, n_values)
    return [
        len(figures),
        *(f"{figure:.3f}" for figure in (slots, rules, confirmed)),
        f"{n_certain} of {n_fields}",
        f"{precision:.3f}",
    ]


def _means(f1_by_attribute: Sequence[dict[str, float]]) -> list[float]:
    return [fmean(figures.values()) for figures in f1_by_attribute]


def slot_table(figures: list[SlotFigures]) -> str:
    """Return how many attributes have a slot, by vertical."""
    by_vertical: dict[str, list[SlotFigures]] = defaultdict(list)
    for site in figures:
        by_vertical[site.vertical].append(site)
    rows = [[vertical, *_slot_row(sites)] for vertical, sites in by_vertical.items()]
    rows.append(["**all**", *_slot_row(figures)])
    missing = [
        f"{site.site} {attribute} ({f1:.2f})"
        for site in figures
        for attribute, f1 in site.best_f1.items()
        if f1 < 0.95
    ]
    header = ["vertical", "attributes", "with a slot of F1 >= .95", "mean best F1", "slots a site"]
    return f"{markdown_table(header, rows)}\n\nWithout such a slot: {', '.join(missing)}."


def _slot_row(figures: list[SlotFigures]) -> list[object]:
    best = [f1 for site in figures for f1 in site.best_f1.values()]
    share = sum(f1 >= 0.95 for f1 in best) / len(best)
    n_slots = sum(site.n_slots for site in figures) / len(figures)
    return [len(best), f"{share:.3f}", f"{sum(best) / len(best):.3f}", f"{n_slots:.0f}"]
