"""Graphs laid out in layers."""

from __future__ import annotations

from clustering.algorithms.layered_layout import MAX_COLUMNS, place_in_layers


def test_layers_go_down_from_the_start() -> None:
    layout = place_in_layers(
        ["home", "list", "detail"], [("home", "list"), ("list", "detail"), ("detail", "home")]
    )

    assert {"home": 0, "list": 1, "detail": 2} == {
        node: position.row for node, position in layout.position_by_node.items()
    }


def test_the_trunk_is_what_first_leads_to_each_node() -> None:
    edges = [("home", "list"), ("home", "detail"), ("list", "detail"), ("detail", "home")]

    assert {("home", "list"), ("home", "detail")} == place_in_layers(
        ["home", "list", "detail"], edges
    ).trunk


def test_no_two_nodes_stand_at_one_place() -> None:
    nodes = [f"n{n}" for n in range(40)]
    edges = [(nodes[n // 3], node) for n, node in enumerate(nodes) if n]

    positions = list(place_in_layers(nodes, edges).position_by_node.values())

    assert len(nodes) == len(set(positions))


def test_a_wide_layer_goes_on_in_a_further_row() -> None:
    leaves = [f"leaf{n}" for n in range(MAX_COLUMNS + 1)]

    layout = place_in_layers(["home", *leaves], [("home", leaf) for leaf in leaves])

    assert (3, MAX_COLUMNS) == (layout.n_rows, layout.n_columns)


def test_what_the_start_does_not_reach_stands_last() -> None:
    layout = place_in_layers(["home", "lonely", "list"], [("home", "list")])

    assert {"home": 0, "list": 1, "lonely": 2} == {
        node: position.row for node, position in layout.position_by_node.items()
    }


def test_children_stand_in_the_order_of_their_parents() -> None:
    edges = [("home", "left"), ("home", "right"), ("right", "of-right"), ("left", "of-left")]

    positions = place_in_layers(
        ["home", "left", "right", "of-right", "of-left"], edges
    ).position_by_node

    assert positions["of-left"].column < positions["of-right"].column


def test_edges_of_unknown_nodes_and_loops_are_left_out() -> None:
    assert (
        set()
        == place_in_layers(["home"], [("home", "home"), ("home", "gone"), ("gone", "home")]).trunk
    )


def test_an_empty_graph_has_no_places() -> None:
    assert ({}, 0) == (place_in_layers([], []).position_by_node, place_in_layers([], []).n_rows)
