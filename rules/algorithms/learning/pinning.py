"""Narrow a learnt rule to the tags in which all samples show its nodes, so that it runs fast.

Departures: The paper ranks conjunctions by what they select and by distance, whatever they cost to
            run. To find a word of a class, all classes of a page are read, and for a label all its
            texts; within the elements of one tag few are. A rule that selects the same nodes of
            enough samples with the tag takes it.
Readings:   A label stands in the tags that samples show, three at most, and before its value:
            where no sample has both in one text, none is looked for in one text.
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

MIN_PAGES = 5  # that show the nodes; fewer are too few to rely on their tags
MAX_LABEL_TAGS = 3
# Kinds of features for which all elements of a page are looked at.
SCANNING_KINDS = frozenset(
    {"class", "token", "attribute", "has", "starts", "sibling_text", "first_text"}
)

_TAG = re.compile(r"[a-z][a-z0-9]*")


def pin_rule(samples: Samples, rule: AttributeRule) -> AttributeRule:
    """Return the rule with narrowed alternatives; on the samples they select what they did."""
    return replace(
        rule,
        alternatives=tuple(pin_alternative(samples, winner) for winner in rule.alternatives),
        losers=tuple(pin_alternative(samples, loser) for loser in rule.losers),
    )


def pin_alternative(samples: Samples, alternative: Alternative) -> Alternative:
    """Return the alternative narrowed, or as it is where too few samples show its nodes."""
    bits = samples.columns.bits_of_all(alternative.target, alternative.features)
    if sum(1 for page in samples.index.page_bits if bits & page) < MIN_PAGES:
        return alternative
    features = tuple(_with_label_tags(samples, feature, bits) for feature in alternative.features)
    has_label_tags = any(feature.kind == "before" and feature.name for feature in features)
    has_id = any(feature.kind == "id" and feature.axis == "self" for feature in features)
    if not has_label_tags and not has_id:
        features += _tag_of_scan(samples, alternative, features, bits)
    return replace(alternative, features=features)


def _with_label_tags(samples: Samples, feature: Feature, bits: NodeSet) -> Feature:
    """Return the feature of a label with the tags that the label stands in; others as they are."""
    if feature.kind not in {"label", "before"} or feature.axis != "self" or feature.name:
        return feature
    index = samples.index
    anchors = set()
    for number in _ancestors_at(samples, bits, feature.level):
        anchor = int(index.text_before[number])
        if anchor >= index.n or index.labels[anchor] not in feature.values:
            return feature  # a text begins with the label itself
        anchors.add(anchor)
    tags = _tags(samples, (index.nodes[anchor].parent for anchor in anchors))
    if not 0 < len(tags) <= MAX_LABEL_TAGS:
        return feature
    return replace(feature, kind="before", name=" ".join(sorted(tags)))


def _tag_of_scan(
    samples: Samples, alternative: Alternative, features: Iterable[Feature], bits: NodeSet
) -> tuple[Feature, ...]:
    """Return the one tag that a scanning feature's elements have; nothing if none is needed."""
    own = [feature for feature in features if feature.axis == "self"]
    scan_levels = [feature.level for feature in own if feature.kind in SCANNING_KINDS]
    if not scan_levels:
        return ()
    lowest_element_level = 1 if alternative.target == TEXT_TARGET else 0
    level = max(lowest_element_level, min(scan_levels))
    if any(feature.kind == "tag" and feature.level == level for feature in own):
        return ()
    tags = _tags(samples, _ancestors_at(samples, bits, level))
    return (Feature("tag", level, tuple(tags)),) if len(tags) == 1 else ()


def _ancestors_at(samples: Samples, bits: NodeSet, level: int) -> set[int]:
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
