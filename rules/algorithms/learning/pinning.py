"""Narrow a learnt rule to the tags in which all samples show its nodes, so that running it is cheap.

Departures: The paper ranks conjunctions by what they select and by distance, whatever they cost to run. A
            word of a class asks all classes of a page, a label all its texts; in the elements of one tag both
            ask few. A rule that selects the same nodes of enough samples with the tag takes it.
Readings:   A label stands in the tags that samples show, three at most, and before its value: where no sample
            has both in one text, none is looked for in one text.
Cost:       One look at each selected node of the samples.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from rules.algorithms.learning.columns import numbers_of
from rules.algorithms.learning.node_index import NodeSet
from rules.algorithms.learning.samples import Samples
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import TEXT_TARGET, Alternative, AttributeRule

FEWEST_PAGES = 5  # that show the nodes; fewer say little about tags
MOST_TAGS = 3
SCANNING = frozenset({"class", "token", "attribute", "has", "starts", "sibling_text", "first_text"})

_TAG = re.compile(r"[a-z][a-z0-9]*")


def pin_rule(samples: Samples, rule: AttributeRule) -> AttributeRule:
    """Return the rule with its alternatives narrowed; on the samples they select what they selected."""
    return replace(
        rule,
        alternatives=tuple(pin_alternative(samples, one) for one in rule.alternatives),
        losers=tuple(pin_alternative(samples, one) for one in rule.losers),
    )


def pin_alternative(samples: Samples, alternative: Alternative) -> Alternative:
    """Return the alternative narrowed, or as it is where samples say too little."""
    bits = samples.columns.targets(alternative.target)
    for feature in alternative.features:
        bits &= samples.columns.bits(feature)
    if sum(1 for page in samples.index.page_bits if bits & page) < FEWEST_PAGES:
        return alternative
    features = tuple(_placed(samples, feature, bits) for feature in alternative.features)
    is_placed = any(feature.kind == "before" and feature.name for feature in features)
    if not is_placed and not any(one.kind == "id" and one.axis == "self" for one in features):
        features += _tag_of_scan(samples, alternative, features, bits)
    return replace(alternative, features=features)


def _placed(samples: Samples, feature: Feature, bits: NodeSet) -> Feature:
    """Return the feature of a label with the tags that it stands in."""
    if feature.kind not in {"label", "before"} or feature.axis != "self" or feature.name:
        return feature
    index = samples.index
    anchors = {int(index.text_before[number]) for number in _at_level(samples, bits, feature.level)}
    if any(anchor >= index.n or index.labels[anchor] not in feature.values for anchor in anchors):
        return feature  # a text begins with the label itself
    tags = _tags(samples, (index.nodes[anchor].parent for anchor in anchors))
    if not 0 < len(tags) <= MOST_TAGS:
        return feature
    return replace(feature, kind="before", name=" ".join(sorted(tags)))


def _tag_of_scan(
    samples: Samples, alternative: Alternative, features: Iterable[Feature], bits: NodeSet
) -> tuple[Feature, ...]:
    """Return the tag of the elements that a feature would be looked for in all elements for, if it is one."""
    scans = [one for one in features if one.kind in SCANNING and one.axis == "self"]
    if not scans:
        return ()
    lowest = 1 if alternative.target == TEXT_TARGET else 0
    level = max(lowest, min(one.level for one in scans))
    if any(one.kind == "tag" and one.axis == "self" and one.level == level for one in features):
        return ()
    tags = _tags(samples, _at_level(samples, bits, level))
    return (Feature("tag", level, tuple(tags)),) if len(tags) == 1 else ()


def _at_level(samples: Samples, bits: NodeSet, level: int) -> set[int]:
    """Return the nodes so many levels above those of a set."""
    parents = samples.index.parents
    numbers = set(numbers_of(bits))
    for _ in range(level):
        numbers = {int(parents[number]) for number in numbers}
    return numbers


def _tags(samples: Samples, numbers: Iterable[int]) -> set[str]:
    """Return the tags of elements; none where one of them is no plain name."""
    nodes = samples.index.nodes
    tags = {str(nodes[number].element.tag) for number in numbers if 0 <= number < samples.index.n}
    return tags if all(map(_TAG.fullmatch, tags)) else set()
