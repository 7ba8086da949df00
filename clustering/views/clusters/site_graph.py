"""The site model as a drawing: page classes as boxes in layers, links as lines between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from clustering.algorithms.layered_layout import LayerPosition, place_in_layers
from clustering.models import ClusterFigures

BOX_WIDTH, BOX_HEIGHT = 172, 48
GAP_X, GAP_Y = 28, 64
DRAWING_MARGIN = 20
HEAD = 5  # room for the head of an arrow
ASIDE = 24
MAX_CLASSES = 60  # drawn; the table lists what is left out too
MAX_LISTED_LINKS = 300
MAX_TITLE_CHARS = 22  # characters in a box


class GraphBox(NamedTuple):
    """A page class, and where its box stands."""

    name: str
    title: str
    shown: str  # the title as far as there is room
    n_pages: int
    figures: ClusterFigures | None
    x: int
    y: int


class Edge(NamedTuple):
    """All links from one class to another."""

    source: str
    target: str
    n_links: int
    paths: list[str]
    d: str  # the line's path
    is_trunk: bool
    weight: int  # 1 to 4


class ClassLink(NamedTuple):
    """The links from one class to another at one path."""

    source: str
    target: str
    path: str
    n_links: int


class Graph(NamedTuple):
    """A drawing with the list of all that it shows."""

    width: int
    height: int
    nodes: list[GraphBox]
    edges: list[Edge]
    links: list[ClassLink]
    n_links_left_out: int
    n_classes_left_out: int
    n_fetched: int
    strategy: str


def draw_graph(model: Mapping[str, Any], figures_by_class: Mapping[str, ClusterFigures]) -> Graph:
    """Return the drawing of a site model; the figures are by the names of the classes."""
    classes = [
        page_class
        for page_class in model.get("classes", [])
        if isinstance(page_class, dict) and "name" in page_class
    ]
    drawn = [str(page_class["name"]) for page_class in classes[:MAX_CLASSES]]
    links = [link for link in model.get("links", []) if isinstance(link, dict)]
    layout = place_in_layers(drawn, [(str(link["from"]), str(link["to"])) for link in links])
    nodes = {
        name: _node(page_class, figures_by_class.get(name), layout.position_by_node[name])
        for name, page_class in zip(drawn, classes, strict=False)
    }
    listed = sorted(links, key=lambda link: -int(link.get("n_links", 0)))
    titles: dict[str, str] = {}
    for page_class in classes:
        name = str(page_class["name"])
        titles[name] = _title(page_class, figures_by_class.get(name))
    return Graph(
        width=2 * DRAWING_MARGIN + layout.n_columns * (BOX_WIDTH + GAP_X) - GAP_X,
        height=2 * DRAWING_MARGIN + layout.n_rows * (BOX_HEIGHT + GAP_Y) - GAP_Y,
        nodes=list(nodes.values()),
        edges=_edges(links, nodes, layout.trunk),
        links=[
            ClassLink(
                titles.get(str(link["from"]), str(link["from"])),
                titles.get(str(link["to"]), str(link["to"])),
                str(link.get("path", "")),
                int(link.get("n_links", 0)),
            )
            for link in listed[:MAX_LISTED_LINKS]
        ],
        n_links_left_out=max(0, len(links) - MAX_LISTED_LINKS),
        n_classes_left_out=max(0, len(classes) - MAX_CLASSES),
        n_fetched=int(model.get("n_fetched", 0)),
        strategy=str(model.get("strategy", "")).replace("_", " "),
    )


def _node(
    page_class: Mapping[str, Any], figures: ClusterFigures | None, position: LayerPosition
) -> GraphBox:
    title = _title(page_class, figures)
    shown = title if len(title) <= MAX_TITLE_CHARS else f"{title[: MAX_TITLE_CHARS - 1]}…"
    return GraphBox(
        name=str(page_class["name"]),
        title=title,
        shown=shown,
        n_pages=figures.n_pages if figures else len(page_class.get("members", [])),
        figures=figures,
        x=DRAWING_MARGIN + position.column * (BOX_WIDTH + GAP_X),
        y=DRAWING_MARGIN + position.row * (BOX_HEIGHT + GAP_Y),
    )


def _title(page_class: Mapping[str, Any], figures: ClusterFigures | None) -> str:
    return figures.cluster.title if figures else f"Class {page_class['name']}"


def _edges(
    links: Iterable[Mapping[str, Any]], nodes: Mapping[str, GraphBox], trunk: set[tuple[str, str]]
) -> list[Edge]:
    """Return a line for each pair of classes, those of the trunk last, so that they lie above."""
    by_pair: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for link in links:
        pair = str(link["from"]), str(link["to"])
        if pair[0] in nodes and pair[1] in nodes and pair[0] != pair[1]:
            by_pair.setdefault(pair, []).append(link)
    edges = []
    for (source, target), links_of_pair in by_pair.items():
        n_links = sum(int(link.get("n_links", 0)) for link in links_of_pair)
        edges.append(
            Edge(
                source=nodes[source].name,
                target=nodes[target].name,
                n_links=n_links,
                paths=[str(link.get("path", "")) for link in links_of_pair],
                d=_line(nodes[source], nodes[target]),
                is_trunk=(source, target) in trunk,
                weight=min(4, len(str(n_links))),
            )
        )
    return sorted(edges, key=lambda edge: edge.is_trunk)


def _line(source: GraphBox, target: GraphBox) -> str:
    """Return a curve from one box to another that passes beside the boxes between them."""
    middle = BOX_WIDTH // 2
    if target.y == source.y:
        x1, x2, lift = source.x + middle, target.x + middle, GAP_Y // 2
        return (
            f"M{x1} {source.y}C{x1} {source.y - lift} {x2} {target.y - lift} {x2} {target.y - HEAD}"
        )
    is_down = target.y > source.y
    turn = 1 if is_down else -1
    aside = 0 if is_down else ASIDE  # lines that lead up stand beside those that lead down
    x1, x2 = source.x + middle + aside, target.x + middle + aside
    y1 = source.y + (BOX_HEIGHT if is_down else 0)
    y2 = target.y - HEAD if is_down else target.y + BOX_HEIGHT + HEAD
    if abs(target.y - source.y) == BOX_HEIGHT + GAP_Y:
        bend = (y2 - y1) // 2
        return f"M{x1} {y1}C{x1} {y1 + bend} {x2} {y2 - bend} {x2} {y2}"
    lane = target.x - GAP_X // 2 if source.x <= target.x else target.x + BOX_WIDTH + GAP_X // 2
    bend = turn * GAP_Y // 2
    into, out = y1 + turn * GAP_Y, y2 - turn * (GAP_Y - HEAD)
    return (
        f"M{x1} {y1}C{x1} {y1 + bend} {lane} {into - bend} {lane} {into}L{lane} {out}"
        f"C{lane} {out + bend} {x2} {y2 - bend} {x2} {y2}"
    )
