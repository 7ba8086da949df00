"""Decide whether the rule of one cluster may serve the pages of another that has none.

Notation:   Home is the cluster that a rule was learnt for; the borrower is the one without a rule.
Readings:   A field is read on a page as at home where the rule selects some node for it, and no
            more nodes than on any page at home: a rule of details selects many on a list. What the
            rule reads at home on few pages is not missed much elsewhere.
Cost:       Linear in the fields of the pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from rules.algorithms.running.records import RawRecord

# How many nodes a rule selects on a page, by attribute; none where it selects nothing.
NodesByAttribute: TypeAlias = Mapping[str, int]

# Of the fields that a rule reads on a page at home, so many must it read on one of the borrower:
# pages of the same kind show nearly all, lists and soft errors of the same site hardly any.
MIN_SHARE_READ: Final = 0.6
# A rule that reads a single field at home reads the site's name, or what any page shows.
MIN_FIELDS_AT_HOME: Final = 2


def nodes_by_attribute(records: Sequence[RawRecord]) -> NodesByAttribute:
    """Return how many nodes a rule selects on a page of one record."""
    if len(records) != 1:
        return {}
    return {name: values[0].n_nodes for name, values in records[0].values.items() if values}


def share_read(
    at_home: Sequence[NodesByAttribute],
    at_borrower: Sequence[NodesByAttribute],
    several: frozenset[str] = frozenset(),
) -> float:
    """Return how much of what a rule reads at home it reads on the borrower's pages, 0 to 1.

    Attributes in `several` have several values; any number of nodes is as at home.
    """
    n_read_at_home = sum(map(len, at_home))
    if not at_borrower or n_read_at_home < MIN_FIELDS_AT_HOME * max(1, len(at_home)):
        return 0.0
    most_nodes: dict[str, int] = {}
    for page in at_home:
        for name, n_nodes in page.items():
            most_nodes[name] = max(n_nodes, most_nodes.get(name, 0))
    n_read = sum(
        name in several or n_nodes <= most_nodes.get(name, 0)
        for page in at_borrower
        for name, n_nodes in page.items()
    )
    share = (n_read / len(at_borrower)) / (n_read_at_home / len(at_home))
    return min(share, 1.0)
