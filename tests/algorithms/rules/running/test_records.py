"""A rule as it runs, and what comes of a page."""

from __future__ import annotations

import pytest

from rules.algorithms.running.records import Extracted, RawValue, RunnableRule


def test_a_rule_is_named_by_its_cluster_and_version() -> None:
    assert "products@3" == RunnableRule("products", 3, "", ()).name


def test_a_value_without_a_vote_was_the_only_choice() -> None:
    value = RawValue("Oak desk")

    assert (1, 1, 0, 0) == (value.way, value.n_nodes, value.n_rivals, value.n_agree)


def test_what_came_of_a_page_does_not_change_any_more() -> None:
    with pytest.raises(AttributeError):
        Extracted([]).reason = "no_tree"  # type: ignore[misc]  # frozen
