"""Doubt pages that came in after their rule was published and have no earlier record to be compared with.

There are those of the other pages of their cluster: a constant value stands where it stands on the others,
and one that tells pages apart is not on several. Lists are such pages too where none of their records stays.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from clustering.models import Snapshot
from monitoring.algorithms.known_values import plain
from monitoring.algorithms.site_change import without_positions
from rules.models import Record, Rule
from rules.services.records.storing import ExtractedPage

MOST_KNOWN: Final = 200  # records of a cluster that are looked at
FEWEST_KNOWN: Final = 8  # fewer say nothing
MOST_PLACES: Final = 3  # of an attribute that stands at steady places
TELLING: Final = 0.95  # share of distinct values of an attribute that tells pages apart


class _Known(NamedTuple):
    """What the records of a cluster say of a constant attribute."""

    places: Collection[str]  # empty: it stands anywhere
    values: Collection[str]  # empty: it does not tell pages apart


def doubtful_newcomers(
    served: Sequence[ExtractedPage], rule_by_cluster: Mapping[str, Rule], compared: Collection[int]
) -> dict[int, str]:
    """Return the pages without an earlier record that are not like the others, with their clusters."""
    new = _newcomers(served, rule_by_cluster, compared)
    by_cluster: defaultdict[str, list[ExtractedPage]] = defaultdict(list)
    for one in new:
        by_cluster[one.lines[0].cluster or ""].append(one)
    return {
        page: name
        for name, own in by_cluster.items()
        for page in _strange(own, _known_of(rule_by_cluster[name]))
    }


def _newcomers(
    served: Sequence[ExtractedPage], rule_by_cluster: Mapping[str, Rule], compared: Collection[int]
) -> list[ExtractedPage]:
    """Return the pages that were fetched after the rule that serves them was published."""
    unknown = [one for one in served if one.page.pk not in compared and _has_record(one)]
    snapshots = [one.page.snapshot for one in unknown]
    fetched: dict[int, datetime] = dict(
        Snapshot.objects.filter(pk__in=snapshots).values_list("pk", "fetched_at")
    )
    found = []
    for one in unknown:
        rule = rule_by_cluster.get(one.lines[0].cluster or "")
        at = fetched.get(one.page.snapshot)
        if (
            rule is not None
            and rule.published_at is not None
            and at is not None
            and at > rule.published_at
        ):
            found.append(one)
    return found


def _has_record(served: ExtractedPage) -> bool:
    return served.lines[0].record is not None


def _known_of(rule: Rule) -> dict[str, _Known]:
    """Return what is known of each constant attribute of a rule."""
    stored = Record.objects.there().filter(cluster=rule.cluster_id, rule=rule).order_by("-pk")
    rows = list(stored.values_list("values", "nodes")[:MOST_KNOWN])
    names = [attribute.name for attribute in rule.attributes if attribute.is_constant]
    return {name: _summary(name, rows) for name in names}


def _summary(name: str, rows: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> _Known:
    places: Counter[str] = Counter()
    values: Counter[str] = Counter()
    for row_values, row_nodes in rows:
        places.update(_places(row_nodes.get(name)))
        values.update(_texts(row_values.get(name)))
    if values.total() < FEWEST_KNOWN:
        return _Known((), ())
    tells = len(values) >= TELLING * values.total()
    return _Known(set(places) if len(places) <= MOST_PLACES else (), set(values) if tells else ())


def _strange(newcomers: Sequence[ExtractedPage], known: Mapping[str, _Known]) -> set[int]:
    """Return the newcomers with a constant value at a new place, or one that others have."""
    n_pages = {
        name: Counter(text for one in newcomers for text in set(_texts_of(one, name)))
        for name in known
    }
    return {
        one.page.pk
        for one in newcomers
        for name, own in known.items()
        if _stands_elsewhere(one, name, own)
        or (
            own.values
            and any(n_pages[name][t] > 1 or t in own.values for t in _texts_of(one, name))
        )
    }


def _stands_elsewhere(served: ExtractedPage, name: str, known: _Known) -> bool:
    nodes = [line.nodes.get(name) for line in served.lines]
    return bool(known.places) and any(
        place not in known.places for one in nodes for place in _places(one)
    )


def _texts_of(served: ExtractedPage, name: str) -> list[str]:
    """Return the values of a page's only record; items of lists stand on several pages."""
    first = served.lines[0]
    return _texts(first.values.get(name)) if first.index is None else []


def _texts(value: Any) -> list[str]:
    return [plain(text) for text in ([value] if isinstance(value, str) else value or [])]


def _places(nodes: Any) -> set[str]:
    return {
        without_positions(path) for path in ([nodes] if isinstance(nodes, str) else nodes or [])
    }
