from __future__ import annotations

from typing import Any

import numpy as np
from lxml import html

from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.node_index import NodeIndex, number_nodes
from rules.algorithms.learning.nodes import PageNodes, Walks, walk

SHOP = (
    "<body class='p q'><h1>Tent: 3</h1><ul><li>Price<li>25 EUR<li><b>Weight</b> 3 "
    "kg</ul>sold</body>"
)
BLOG = "<body><p class=q>One<p>Two <i>three</i>"
ARRAYS = (
    "parents",
    "ends",
    "befores",
    "afters",
    "n_befores",
    "is_text",
    "text_lengths",
    "n_digits",
)
TABLES = (
    "nodes_by_tag",
    "nodes_by_name",
    "nodes_by_attribute",
    "nodes_by_token",
    "elements_by_label",
)


def trees(*pages: str) -> list[Any]:
    return [html.document_fromstring(page) for page in pages]


def told(index: NodeIndex) -> list[object]:
    """Return all that a index says of its nodes."""
    arrays = [getattr(index, name).tolist() for name in ARRAYS]
    tables = [dict(getattr(index, name)) for name in TABLES]
    beside = [
        index.text_before.tolist(),
        index.text_after.tolist(),
        index.first_text.tolist(),
    ]
    return [
        *arrays,
        *tables,
        *beside,
        index.labels,
        index.openings,
        index.nodes,
        index.page_texts,
    ]


def test_a_page_that_was_walked_before_is_numbered_as_if_it_had_not_been() -> None:
    shop, blog, other = trees(SHOP, BLOG, SHOP)
    walks = Walks(1_000)
    told(number_nodes([shop, blog, other], walks))
    assert told(number_nodes([blog, other, shop])) == told(number_nodes([blog, other, shop], walks))


def test_a_page_at_its_old_place_is_the_same() -> None:
    shop, blog = trees(SHOP, BLOG)
    walks = Walks(1_000)
    before, after = (number_nodes([shop, blog], walks).pages for _ in range(2))
    assert [True, True] == [first is other for first, other in zip(before, after, strict=True)]


def test_no_more_nodes_are_kept_than_wanted() -> None:
    shop, blog = trees(SHOP, BLOG)
    walks = Walks(len(walk(shop, 0, 0).nodes))
    first = walks.nodes_of(shop, 0, 0)
    walks.nodes_of(blog, 0, 0)
    assert walks.nodes_of(shop, 0, 0) is not first


def test_what_a_page_knows_is_made_once() -> None:
    page: PageNodes = walk(trees(SHOP)[0], 0, 0)
    moved = page.renumbered(1, 50)
    assert page.labels is moved.labels
    assert np.array_equal(page.ends, moved.ends)


def test_an_index_of_known_pages_does_not_change_them() -> None:
    shop, blog = trees(SHOP, BLOG)
    walks = Walks(1_000)
    Columns(number_nodes([shop, blog], walks))
    before = dict(walk(shop, 0, 0).by_tag)
    assert before == dict(number_nodes([shop, blog], walks).pages[0].by_tag)
