"""The kinds of clusters."""

from __future__ import annotations

from clustering.algorithms.kinds import kind_names
from clustering.models import ClusterKind


def test_each_kind_can_be_stored() -> None:
    kinds = {value for name, value in vars(kind_names).items() if name.isupper()}

    assert len(kinds) == 7
    assert kinds == set(ClusterKind.values)
