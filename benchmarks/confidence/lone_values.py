"""Values that are wrong on one page alone: another text replaces what stood at the usual place.

All losers of a rule agree with it there, so that only the look of the value can tell. Each value of
each page is replaced once by a text of each kind, one page at a time; what is usual are the values
of at most 20 other pages of the site.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Final

from lxml.etree import _Element

from benchmarks.report import markdown_table
from benchmarks.unseen_sites import N_SAMPLES, Site
from clustering.values.normalising import PageContext, normalise
from rules.algorithms.running.confidence import ConfidenceWeights, ValueSigns
from rules.algorithms.running.value_looks import (
    MIN_VALUES,
    ShownText,
    learn_looks,
    oddness_of_values,
)

RIGHT: Final = "right"
LEAST_SURE_SHARE: Final = 0.12  # of the values of a site, that a person looks at
MAX_TEXT_CHARS: Final = 200
PLACEHOLDERS: Final = (
    "N/A",
    "-",
    "TBD",
    "Call for price",
    "See details",
    "Not available",
    "Coming soon",
    "Unknown",
    "None",
    "0",
)

INTRODUCTION: Final = (
    "## Values that are wrong on one page alone\n\n"
    "The value at the usual place is replaced on a single page, and all candidates agree on it. "
    "How unlike the values "
    f"of at most {N_SAMPLES} other pages it looks takes away from its confidence. "
    "It is doubted where it is among the "
    f"least sure {LEAST_SURE_SHARE:.0%} of the site's values, all others being right; "
    "the weights are fitted without "
    "the site. A value of the same attribute on another page looks as it should: "
    "nothing here can doubt it.\n\n"
)


@dataclass(frozen=True, slots=True)
class LoneValue:
    """A value of a page, right or replaced by a wrong one, and its oddness beside other pages."""

    site: str
    kind: str
    oddness: float


def oddness_beside(attribute: str, texts: Sequence[str], usual: Sequence[str]) -> float:
    """Return how odd an attribute's values look beside the usual ones; 0 where these are few."""
    if len(usual) < MIN_VALUES:
        return 0.0
    looks = learn_looks([_shown(attribute, text) for text in usual])
    return oddness_of_values(looks, [_shown(attribute, text) for text in texts])


def _shown(attribute: str, text: str) -> ShownText:
    shown = " ".join(text.split())
    value_type = "price" if attribute == "price" else "text"
    return ShownText(shown, normalise(value_type, shown, PageContext("", "")))


def lone_values(site: Site) -> Iterator[LoneValue]:
    """Yield the first value of each attribute of each page, and what is put in its place."""
    chance = random.Random(site.pages.name)
    truth = site.pages.truth
    for attribute in site.pages.attributes:
        value_by_page = {
            page: values[attribute][0] for page, values in truth.items() if values.get(attribute)
        }
        for page, value in value_by_page.items():
            others = [text for other, text in value_by_page.items() if other != page]
            usual = chance.sample(others, min(N_SAMPLES, len(others)))
            if len(usual) < MIN_VALUES:
                continue
            replaced = _replaced(value, attribute, truth[page], site.pages.trees[page], chance)
            different = [text for text in others if text != value]
            if different:
                replaced["the same attribute of another page"] = chance.choice(different)
            for kind, text in {RIGHT: value, **replaced}.items():
                oddness = oddness_beside(attribute, [text], usual)
                yield LoneValue(site.pages.name, kind, oddness)


def _replaced(
    value: str,
    attribute: str,
    truth: Mapping[str, Sequence[str]],
    tree: _Element,
    chance: random.Random,
) -> dict[str, str]:
    """Return wrong texts for a value, by kind."""
    replaced = {"a placeholder": chance.choice(PLACEHOLDERS)}
    own = set(truth[attribute])
    of_others = [text for name, texts in truth.items() if name != attribute for text in texts]
    of_others = [text for text in of_others if text not in own]
    if of_others:
        replaced["another attribute"] = chance.choice(of_others)
    texts = {" ".join(text.split()) for text in map(str, tree.itertext())}
    texts = {text for text in texts if 0 < len(text) < MAX_TEXT_CHARS} - own
    if texts:
        text = chance.choice(sorted(texts))
        replaced["another text of the page"] = text
        replaced["the value with another text behind it"] = f"{value} {text}"
    price = normalise("price", value, PageContext("", "")) if attribute == "price" else None
    if isinstance(price, dict):
        replaced["ten times the amount"] = f"${float(price['amount']) * 10:,.2f}"
    return replaced


def report_lone(lone: Sequence[LoneValue], weights: Mapping[str, ConfidenceWeights]) -> str:
    """Return how many of the values that are wrong alone are doubted, as a section in Markdown."""
    oddness_by_site: defaultdict[str, list[float]] = defaultdict(list)
    wrong_by_kind: defaultdict[str, list[LoneValue]] = defaultdict(list)
    for value in lone:
        if value.kind == RIGHT:
            oddness_by_site[value.site].append(value.oddness)
        else:
            wrong_by_kind[value.kind].append(value)
    rows: list[list[object]] = []
    right = [value for value in lone if value.kind == RIGHT]
    rows.append([RIGHT, f"{len(right):,}", "", f"{_mean_confidence(right, weights):.3f}"])
    for kind, values in sorted(wrong_by_kind.items()):
        n_doubted = sum(_is_doubted(value, oddness_by_site[value.site]) for value in values)
        mean = _mean_confidence(values, weights)
        rows.append([kind, f"{len(values):,}", f"{n_doubted / len(values):.2f}", f"{mean:.3f}"])
    table = markdown_table(["in its place", "values", "doubted", "mean confidence"], rows)
    return INTRODUCTION + table


def _is_doubted(value: LoneValue, right_oddness: Iterable[float]) -> bool:
    """Return whether a wrong value is among the least sure ones of its site.

    Of the right values that are equally odd, half count as less sure.
    """
    oddness = list(right_oddness)
    n_before = sum(right > value.oddness for right in oddness)
    n_equal = sum(right == value.oddness for right in oddness)
    n_looked_at = int(LEAST_SURE_SHARE * (len(oddness) + 1))
    return n_before + n_equal / 2 < n_looked_at


def _mean_confidence(
    values: Sequence[LoneValue], weights: Mapping[str, ConfidenceWeights]
) -> float:
    log_odds = [weights[value.site].log_odds(ValueSigns(oddness=value.oddness)) for value in values]
    return sum(1 / (1 + exp(-odds)) for odds in log_odds) / max(1, len(values))
