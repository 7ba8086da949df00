"""Complete the records that an editor named: of one, the others of its list are found.

Readings:   One boundary stands for its list. Several are all that there are: who drew two has seen
            that the first did not stand for the others. Records that were only named with their
            fields are examples.
Cost:       That of finding the records of a page, where one is named; else nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from lxml.html import HtmlElement

from annotation.algorithms.anchors.node_paths import select_node
from clustering.algorithms.records.siblings import siblings_of
from clustering.dom.paths import element_paths

Record = tuple[str, ...]  # the XPaths of its elements


def complete_records(tree: HtmlElement, named: Iterable[Record], *, are_all: bool) -> list[Record]:
    """Return all records of a page from those that were named, in their order.

    Where those found from the first leave out one that was named, the named ones are all.
    """
    records = list(dict.fromkeys(named))
    if are_all or not records:
        return records
    elements = [select_node(tree, xpath).element for xpath in records[0]]
    record_elements = siblings_of(tree, elements)
    paths = iter(element_paths([element for record in record_elements for element in record]))
    completed = [tuple(next(paths) for _ in record) for record in record_elements]
    return completed if set(records) <= set(completed) else records
