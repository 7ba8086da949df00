"""Repairs where some stored values are wrong: pages of SWDE as the new version of their sites.

Nothing of the old template is known, only what was stored of each page: its true values, of which
some are replaced by those of another page, and as many are missing. The rule that the product's
repair learns from them is run on all pages of the site. Page-level F1: a page is right if all that
is found of an attribute is all that it shows; an attribute that is not proposed finds nothing. Each
attribute of a site weighs the same.

What an attribute has to reach to be proposed was chosen while some of these sites were looked at,
so the figures are somewhat better than those of sites that nobody has seen.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from annotation.algorithms.attribute_types import AttributeType
from benchmarks.labelled_sites import swde_pages
from benchmarks.report import markdown_table
from benchmarks.rule_learning import Values, compared, read_swde
from clustering.algorithms.grouping import RawPage
from clustering.models import Cluster
from monitoring.algorithms.changed_values import ChangeWeights
from monitoring.services.checks.fresh_pages import FreshPage
from monitoring.services.checks.tested_pages import extract_lines
from monitoring.services.repair.relearning import OldPage, relearn
from rules.algorithms.running.record_lines import Line
from rules.algorithms.running.records import ExtractedRecord, RunnableRule, ShownValue
from rules.models import Rule
from vertex.core.models import Site

TITLE = "Repairs with wrong stored values"
WRONG_SHARES: Final = (0.1, 0.3)  # of the stored values, wrong or missing
BAR_BY_SHARE: Final = {0.1: "0.96"}
MISSING_SHARE: Final = 0.5  # of those
TYPE_BY_ATTRIBUTE: Final = {"price": "price", "phone": "phone"}
MIN_MULTI_SHARE: Final = 0.05  # of the pages, which show several values
GOOD_F1: Final = 0.95


StoredPages: TypeAlias = dict[str, dict[str, ShownValue]]  # values by address and attribute


class SwdeSite(NamedTuple):
    """The pages of a site, with what they show."""

    name: str
    fresh: Mapping[str, FreshPage]  # by address
    truth: Mapping[str, Values]
    attributes: Sequence[AttributeType]


class AttributeScore(NamedTuple):
    """How right an attribute is after the repair."""

    site: str
    attribute: str
    is_proposed: bool
    f1: float
    precision: float  # of the pages on which something is found
    is_told_by_looks: bool  # no stored value of it was found


def run(data: Path | None) -> str:
    """Return the figures as a section in Markdown."""
    if data is None or not (data / "swde").is_dir():
        return "Left out: the pages of SWDE are not in the folder."
    sites = read_sites(data / "swde")
    sections = [str(__doc__).split("\n\n", 1)[1].strip()]
    for wrong_share in WRONG_SHARES:
        scores = [
            score for site in sites for score in repaired(site, stored_values(site, wrong_share))
        ]
        sections.append(report(wrong_share, scores))
    return "\n\n".join(sections)


def report(wrong_share: float, scores: Sequence[AttributeScore]) -> str:
    """Return the mean F1, and the attributes that are not as they should be."""
    proposed = [score for score in scores if score.is_proposed]
    rows: list[list[object]] = [
        ["F1 of all attributes", BAR_BY_SHARE.get(wrong_share, ""), f"{_mean(scores):.3f}"],
        ["F1 of those that are proposed", "", f"{_mean(proposed):.3f}"],
        ["attributes that are proposed", "", f"{len(proposed)} of {len(scores)}"],
        [
            f"attributes of F1 >= {GOOD_F1}",
            "",
            f"{sum(score.f1 >= GOOD_F1 for score in scores)} of {len(scores)}",
        ],
    ]
    faulty = sorted((score for score in scores if score.f1 < GOOD_F1), key=lambda score: score.f1)
    faulty_rows: list[list[object]] = [
        [score.site, score.attribute, "yes" if score.is_proposed else "no", f"{score.f1:.3f}"]
        for score in faulty
    ]
    return "\n\n".join(
        [
            f"{wrong_share:.0%} of the stored values are wrong or missing.",
            markdown_table(["", "bar", "measured"], rows),
            f"Attributes of an F1 below {GOOD_F1}:",
            markdown_table(["site", "attribute", "proposed", "F1"], faulty_rows),
        ]
    )


def _mean(scores: Sequence[AttributeScore]) -> float:
    return sum(score.f1 for score in scores) / max(1, len(scores))


def read_sites(root: Path) -> list[SwdeSite]:
    """Return all sites of the folder of SWDE."""
    return [
        read_site(root, vertical.name, folder)
        for vertical in sorted(root.iterdir())
        if vertical.is_dir() and vertical.name != "groundtruth"
        for folder in sorted(place for place in vertical.iterdir() if place.is_dir())
    ]


def read_site(root: Path, vertical: str, folder: Path) -> SwdeSite:
    """Return a site with the truth about its pages."""
    name = folder.name.split("(")[0]
    files = sorted(folder.glob("*.htm"))
    trees = {}
    fresh = {}
    url_by_page = {}
    for path, labelled in zip(files, swde_pages(folder), strict=True):
        page = labelled.page
        if page.tree is None:
            continue
        url = f"http://{name}.example/{path.stem}"
        trees[path.stem] = page.tree
        url_by_page[path.stem] = url
        fresh[url] = FreshPage(url, page.body, page.content_type)
    by_page = read_swde(root / "groundtruth" / vertical, name, trees)
    truth = {url_by_page[page]: values for page, values in by_page.items()}
    names = sorted({attribute for values in truth.values() for attribute in values})
    n_multi = Counter(
        a for values in truth.values() for a, texts in values.items() if len(texts) > 1
    )
    attributes = [
        AttributeType(
            attribute,
            TYPE_BY_ATTRIBUTE.get(attribute, "text"),
            is_constant=True,
            is_multi=n_multi[attribute] > MIN_MULTI_SHARE * len(trees),
        )
        for attribute in names
        if any(values.get(attribute) for values in truth.values())
    ]
    return SwdeSite(name, fresh, truth, attributes)


def repaired(
    site: SwdeSite, stored: StoredPages, weights: ChangeWeights | None = None
) -> list[AttributeScore]:
    """Return how right each attribute is by the rule that a repair learns from stored values."""
    rule = Rule(
        cluster=Cluster(name=site.name, site=Site(name=site.name)),
        schema=[attribute.as_json() for attribute in site.attributes],
    )
    old = [OldPage(RawPage(url, b""), [_line(url, values)]) for url, values in stored.items()]
    relearnt = relearn(rule, old, site.fresh, site.fresh, weights)
    given: dict[str, Mapping[str, str | list[str]]] = {}
    proposed: Mapping[str, Mapping[str, object]] = {}
    if relearnt is not None and relearnt.verdict.has_passed:
        proposed = relearnt.measures
        ready = RunnableRule(site.name, 1, relearnt.stylesheet, site.attributes)
        for url, page in site.fresh.items():
            lines = extract_lines(ready, page)
            given[url] = lines[0].values if lines else {}
    return [
        AttributeScore(
            site.name,
            attribute.name,
            attribute.name in proposed,
            *_f1_and_precision(site, attribute.name, given),
            "certainty" in proposed.get(attribute.name, {}),
        )
        for attribute in site.attributes
    ]


def stored_values(site: SwdeSite, wrong_share: float) -> StoredPages:
    """Return each page's stored values, some of them wrong.

    Of the wrong ones, half are values of another page, the rest is missing.
    """
    chance = random.Random(f"{site.name} {wrong_share}")
    stored: StoredPages = {url: {} for url in site.truth}
    for attribute in site.attributes:
        name = attribute.name
        known = [url for url, values in site.truth.items() if values.get(name)]
        for url in known:
            is_wrong = chance.random() < wrong_share
            is_missing = is_wrong and chance.random() < MISSING_SHARE
            if is_missing:
                continue
            source = chance.choice(known) if is_wrong else url
            values = site.truth[source][name]
            stored[url][name] = [*values] if attribute.is_multi else values[0]
    return stored


def _line(url: str, values: Mapping[str, ShownValue]) -> Line:
    """Return the stored record of a page."""
    record = ExtractedRecord(
        values=dict(values), raw={}, normalized={}, missing=[], failed={}, confidence={}
    )
    return Line(url, "old", "old@1", record)


def _f1_and_precision(
    site: SwdeSite, attribute: str, given: Mapping[str, Mapping[str, str | list[str]]]
) -> tuple[float, float]:
    n_given = n_wanted = n_right = 0
    for url, truth in site.truth.items():
        value = given.get(url, {}).get(attribute, [])
        found = compared([value] if isinstance(value, str) else value)
        wanted = compared(truth.get(attribute, []))
        n_given += bool(found)
        n_wanted += bool(wanted)
        n_right += bool(wanted) and found == wanted
    f1 = 2 * n_right / (n_given + n_wanted) if n_given + n_wanted else 1.0
    return f1, n_right / n_given if n_given else 1.0
