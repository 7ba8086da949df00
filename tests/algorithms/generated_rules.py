"""Pages and rules made up by hypothesis, and what a rule means by definition, XPath by XPath."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from lxml import etree

from clustering.dom.page import parse_page
from rules.algorithms.learning.features import Positive, features_of
from rules.algorithms.learning.node_index import number_nodes
from rules.algorithms.learning.range_pruner import select_parts
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import (
    Alternative,
    AttributeRule,
    Boundary,
    ClusterRule,
    Selection,
    Weight,
)
from rules.algorithms.rule.xpaths import label_of, shown
from rules.algorithms.stylesheet.cutting import BLOCKS, TEXTLESS

TAGS = ["div", "span", "td", "b", "a"]
CLASSES = ["price", "price big", " big  red ", "x-1"]
IDS = ["main", "it's", 'a"b']
LABELS = ["Price", "By", "Directed by", "Who's", "Prix net"]
TEXTS = [
    "Price", "Price:", " By ", "By\u00a0Tom", "Price: 5 EUR", "Oak", "Directed\u200b by :",
    "a, b , c", "\u00a0", " ", "\n ", "Pri", "ce", "x  y z", "12-345", " 7\u00a0", "98.6",
]  # fmt: skip
STRUCTURAL = frozenset(
    {"tag", "id", "class", "token", "has", "first", "last", "position", "attribute"}
)
SINGLE, LEAF = "<br>", "<img src='/i.png' alt='Price'>"


@st.composite
def elements(draw: st.DrawFn, depth: int = 3) -> str:
    tag = draw(st.sampled_from(TAGS))
    attributes = ""
    if draw(st.booleans()):
        attributes += f' class="{draw(st.sampled_from(CLASSES))}"'
    if draw(st.integers(0, 4)) == 0:
        attributes += f' id="{draw(st.sampled_from(IDS)).replace(chr(34), "&quot;")}"'
    kinds = [st.sampled_from(TEXTS), st.sampled_from([SINGLE, LEAF, "<!-- c -->"])]
    if depth:
        kinds.insert(0, elements(depth - 1))
    inner = "".join(draw(st.lists(st.one_of(*kinds), max_size=4)))
    return f"<{tag}{attributes}>{inner}</{tag}>"


pages = st.lists(elements(), min_size=1, max_size=4).map(
    lambda parts: f"<html><body>{''.join(parts)}</body></html>"
)

levels = st.integers(0, 2)
values = st.lists(st.sampled_from(LABELS), min_size=1, max_size=2, unique=True).map(tuple)


def feature(kind: str, some: list[str]) -> st.SearchStrategy[Feature]:
    one_or_two = st.lists(st.sampled_from(some), min_size=1, max_size=2, unique=True)
    return st.builds(Feature, st.just(kind), levels, one_or_two.map(tuple))


def text_feature(kind: str) -> st.SearchStrategy[Feature]:
    return st.builds(Feature, st.just(kind), levels, values)


structural = st.one_of(
    feature("tag", TAGS),
    feature("id", IDS),
    feature("class", CLASSES),
    feature("token", ["price", "big", "x-1"]),
    st.builds(Feature, st.just("has"), levels, name=st.sampled_from(["class", "id"])),
    st.builds(Feature, st.just("class"), levels, st.just(("price",)), axis=st.just("ancestor")),
    st.builds(Feature, st.just("id"), levels, st.just(("main",)), axis=st.just("ancestor")),
    st.builds(Feature, st.just("tag"), levels, st.just(("div",)), axis=st.just("ancestor")),
    st.builds(
        Feature,
        st.just("tag"),
        levels,
        st.just(("b",)),
        axis=st.just("preceding-sibling"),
        distance=st.just(1),
    ),
    st.builds(Feature, st.sampled_from(["first", "last"]), levels),
    st.builds(Feature, st.just("position"), levels, distance=st.integers(1, 3)),
)
textual = st.one_of(
    *(
        text_feature(kind)
        for kind in (
            "label",
            "before",
            "after",
            "sibling_text",
            "first_text",
            "starts",
            "ends",
            "contains",
            "before_ends",
            "after_starts",
        )
    ),
    st.builds(Feature, st.just("shape"), st.just(0), st.sampled_from([("00-000",), ("0", "00.0")])),
    st.builds(Feature, st.just("heading"), levels, values, name=st.sampled_from(TAGS)),
    st.builds(Feature, st.just("before"), levels, values, name=st.sampled_from(["td", "b span"])),
)
features = st.one_of(
    textual.map(lambda each: (each,)),
    st.tuples(textual, structural),
    st.tuples(structural, structural),
    st.tuples(structural),
)
selections = st.one_of(
    st.just(Selection()),
    st.just(Selection()),
    st.builds(
        Selection,
        prefix=st.sampled_from(["", "Price", "y"]),
        suffix=st.sampled_from(["", "EUR", ","]),
        is_optional=st.booleans(),
        is_last_suffix=st.booleans(),
        first=st.sampled_from([1, 1, 2, -2, -1]),
        last=st.sampled_from([-1, -1, 1, 2, -2]),
        separator=st.sampled_from(["", "", ","]),
    ),
)
targets = st.sampled_from(["text()", "text()", "element", "@src"])


def features_on(draw: st.DrawFn, tree: Any, target: str) -> tuple[Feature, ...]:
    """Return some features of a node of the page, so that a rule finds it, or arbitrary ones."""
    index = number_nodes([tree])
    is_text = target == "text()"
    nodes = [
        number for number, node in enumerate(index.nodes) if (node.text is not None) == is_text
    ]
    if not nodes or draw(st.integers(0, 4)) == 0:
        return draw(features)
    positive = Positive(draw(st.sampled_from(nodes)), 0, target=target)
    usable = [feature for feature in features_of(index, [positive]) if feature.level < 4]
    preferred = usable
    if draw(st.booleans()):
        preferred = [feature for feature in usable if feature.kind not in STRUCTURAL]
    if not usable:
        return draw(features)
    preferred = preferred or usable
    few = st.lists(st.sampled_from(preferred), min_size=1, max_size=2, unique=True)
    return tuple(draw(few))


def alternative_on(draw: st.DrawFn, tree: Any) -> Alternative:
    kind = draw(st.sampled_from(["xpath", "xpath", "xpath", "positional", "naive_bayes"]))
    weights: tuple[Weight, ...] = ()
    if kind == "naive_bayes":
        tests = [
            Feature("tag", 1, ("div",)),
            Feature("class", 0, ("price",), axis="ancestor"),
            Feature("starts", 0, ("P",)),
        ]
        weights = tuple(
            Weight(
                test,
                f"{draw(st.integers(-20, 20)) / 8:.4f}",
                draw(st.sampled_from(["0", "-0.5000"])),
            )
            for test in tests
        )
    target = draw(targets)
    return Alternative(
        kind=kind,  # type: ignore[arg-type]  # one of three
        target=target,
        features=features_on(draw, tree, target),
        selection=draw(selections),
        position=draw(st.sampled_from([1, 2, -1, -2])) if kind == "positional" else 0,
        bias="-0.2500",
        weights=weights,
    )


@st.composite
def pages_with_rules(draw: st.DrawFn) -> tuple[str, ClusterRule]:
    page = draw(pages)
    tree = parse_page(page.encode()).tree
    attributes = tuple(
        AttributeRule(
            name,
            is_multi=draw(st.booleans()),
            alternatives=tuple(alternative_on(draw, tree) for _ in range(draw(st.integers(1, 2)))),
            losers=tuple(alternative_on(draw, tree) for _ in range(draw(st.integers(0, 1)))),
        )
        for name in ("name", "price")
    )
    boundary = None
    if draw(st.integers(0, 5)) == 5:
        first = Alternative(
            "xpath", "element", (Feature("tag", 0, (draw(st.sampled_from(TAGS)),)),)
        )
        further = draw(
            st.sampled_from(
                [(), ((Feature("tag", 0, ("b",)),), (Feature("class", 0, ("price",)),))]
            )
        )
        boundary = Boundary(first, draw(st.integers(1, 3)), further, draw(st.booleans()))
        attributes = tuple(
            replace(attribute, scope=draw(st.sampled_from(["record", "page"])))
            for attribute in attributes
        )
    return page, ClusterRule(attributes, boundary)


def defined_values(rule: ClusterRule, tree: Any) -> list[dict[str, list[str]]]:
    """Return the records of a page by the definition of the rule, without its stylesheet."""
    if rule.boundary is None:
        return [record_in(rule, tree, None)]
    firsts = find(rule.boundary.first.path, tree)
    return [record_in(rule, tree, run_from(first, firsts, rule.boundary)) for first in firsts]


def run_from(first: Any, firsts: list[Any], boundary: Boundary) -> list[Any]:
    """Return the elements and texts of a record."""
    run, n = [first], 1
    for sibling in first.xpath("following-sibling::node()"):
        if isinstance(sibling, str):
            run += [sibling] if boundary.has_text else []
        elif isinstance(sibling.tag, str):
            tests = [
                f"boolean({' and '.join(each.test for each in kind)})" for kind in boundary.further
            ]
            if n == boundary.n_siblings or sibling in firsts:
                break
            if tests and not any(find(test, sibling) for test in tests):
                break
            run.append(sibling)
            n += 1
    return run


def find(xpath: str, tree: Any) -> list[Any]:
    found: Any = etree.XPath(xpath, regexp=False)(tree)
    nodes: list[Any] = found
    return nodes


def record_in(rule: ClusterRule, tree: Any, scope: list[Any] | None) -> dict[str, list[str]]:
    record = {
        attribute.attribute: values_of(
            attribute, tree, None if attribute.scope == "page" else scope
        )
        for attribute in rule.attributes
    }
    return {name: values for name, values in record.items() if values}


def values_of(rule: AttributeRule, tree: Any, scope: list[Any] | None) -> list[str]:
    if rule.is_union:
        return values_of_union(rule, tree, scope)
    for alternative in rule.alternatives:
        nodes = selected(alternative, tree, scope)
        if nodes:
            some = nodes if rule.is_multi else nodes[:1]
            read = seen_text if rule.type == "html" and alternative.selection.is_whole else text_of
            values = [
                value for node in some for value in parts_of(alternative.selection, read(node))
            ]
            return values if rule.is_multi else values[:1]
    return []


def values_of_union(rule: AttributeRule, tree: Any, scope: list[Any] | None) -> list[str]:
    served: dict[tuple[Any, str], tuple[Any, Alternative]] = {}
    for alternative in rule.alternatives:
        for node in selected(alternative, tree, scope):
            served.setdefault(place_of(node), (node, alternative))
    places = {place_of(node): number for number, node in enumerate(find("//node()", tree))}
    in_order = [served[place] for place in sorted(served, key=places.__getitem__)]
    return [
        value
        for node, alternative in in_order
        for value in parts_of(alternative.selection, text_of(node))
    ]


def place_of(node: Any) -> tuple[Any, str]:
    """Return what a node is told from others by; an attribute stands where its element does."""
    if not isinstance(node, str):
        return node, "element"
    text: Any = node  # lxml's string, which knows where it stands
    if text.is_attribute:
        return owner_of(node), "element"
    return owner_of(node), "tail" if text.is_tail else "text"


def seen_text(node: Any) -> str:
    """Return the text of a node without its scripts, with blanks around its blocks."""
    if isinstance(node, str):
        return text_of(node)
    parts = [node.text or ""]
    for child in node:
        is_read = isinstance(child.tag, str) and child.tag not in TEXTLESS.split(" | ")
        around = " " if child.tag in BLOCKS.split(" | ") else ""
        parts += [around, seen_text(child) if is_read else "", around, child.tail or ""]
    return "".join(parts)


def selected(alternative: Alternative, tree: Any, scope: list[Any] | None) -> list[Any]:
    nodes = find(alternative.path, tree)
    if scope is not None:
        nodes = [node for node in nodes if is_in(scope, node)]
        nodes = [
            node
            for node in nodes
            if all(stays_in(scope, node, feature) for feature in alternative.features)
        ]
    if alternative.kind == "positional":
        position = alternative.position  # counted from 1, or from the end with -1
        if position > 0:
            return nodes[position - 1 : position]
        return nodes[position:][:1] if -position <= len(nodes) else []
    if alternative.kind == "naive_bayes":
        scores = [score(alternative, node) for node in nodes]
        best = max(scores, default=0)
        return [nodes[scores.index(best)]] if best > 0 else []
    return nodes


def stays_in(scope: list[Any], node: Any, feature: Feature) -> bool:
    """Say whether the text beside a node of the feature's level is in the record too."""
    place = {"label": 0, "before": 0, "before_ends": 0, "after": -1, "after_starts": -1}.get(
        feature.kind
    )
    if place is None:
        return True
    is_text = isinstance(node, str) and not node.is_attribute  # type: ignore[attr-defined]  # lxml's string
    chain = (
        [node, *parents_of(node)] if is_text else [owner_of(node), *owner_of(node).iterancestors()]
    )
    around = chain[feature.level] if feature.level < len(chain) else None
    label = "" if around is None else label_of(text_of(around))
    if feature.kind == "label" and any(label.startswith(f"{value} ") for value in feature.values):
        return True
    ends = [
        key_of(texts[place]) if texts else None for texts in (texts_in([around]), texts_in(scope))
    ]
    return ends[0] != ends[1]


def texts_in(nodes: list[Any]) -> list[Any]:
    """Return the texts of some nodes that show something."""
    texts: list[Any] = []
    for node in nodes:
        if isinstance(node, str):
            texts.append(node)
        elif node is not None:
            texts += find("descendant::text()", node)
    return [text for text in texts if shown(text)]


def key_of(text: Any) -> tuple[Any, bool]:
    return text.getparent(), text.is_tail


def parents_of(text: Any) -> list[Any]:
    parent = text.getparent().getparent() if text.is_tail else text.getparent()
    return [parent, *parent.iterancestors()]


def is_in(scope: list[Any], node: Any) -> bool:
    """Say whether a node is in a record: in one of its elements, or one of its texts."""
    around = [
        each for each in [owner_of(node), *owner_of(node).iterancestors()] if inside(node, each)
    ]
    elements = [element for element in scope if not isinstance(element, str)]
    texts: list[Any] = [element for element in scope if isinstance(element, str)]
    is_tail = getattr(node, "is_tail", False)
    is_own = is_tail and any(
        text.getparent() is node.getparent() and text.is_tail for text in texts
    )
    return is_own or any(each in elements for each in around)


def inside(node: Any, one: Any) -> bool:
    """Say whether a node is in an element: a tail is beside its own."""
    return not (getattr(node, "is_tail", False) and node.getparent() is one)


def owner_of(node: Any) -> Any:
    return node.getparent() if hasattr(node, "is_attribute") else node


def score(alternative: Alternative, node: Any) -> float:
    """Return the score; a text node is tested from its own place, which lxml has no handle for."""
    total = float(alternative.bias)
    for weight in alternative.weights:
        total += float(weight.if_true if holds(weight.test, node) else weight.if_false)
    return round(total, 4)


def holds(test: str, node: Any) -> bool:
    if not isinstance(node, str) or node.is_attribute:  # type: ignore[attr-defined]  # lxml's string
        return bool(find(f"boolean({test})", owner_of(node)))
    texts = find(f"//text()[{test}]", owner_of(node).getroottree())
    place = place_in_parent(node)
    return any(place_in_parent(text) == place for text in texts)


def place_in_parent(text: Any) -> tuple[Any, bool]:
    """Return the parent of lxml's string, and whether it is a tail there."""
    return text.getparent(), text.is_tail


def text_of(node: Any) -> str:
    return str(node) if isinstance(node, str) else str(node.xpath("string()"))


def parts_of(selection: Selection, text: str) -> list[str]:
    if selection.is_whole:
        return [text] if select_parts(selection, text) else []
    return select_parts(selection, text)
