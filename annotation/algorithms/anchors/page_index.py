"""The texts of a page in which values are looked for: its text nodes, by any form of their text.

Notation:   The form of a text is what it shares with all texts that mean the same value: its
            letters without blanks, the amount of a price, the day of a date. A text that has none
            is no such value.
Cost:       One walk over the page; then one look at each text for each form.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from lxml.etree import _Element

from annotation.algorithms.anchors.page_texts import TextNode, read_texts

Form = TypeVar("Form", bound=Hashable)


class ShownElement(NamedTuple):
    """An element that shows several text nodes, and where its text stands in the page's text."""

    element: _Element
    first: int  # its first text node, by its index among those of the page
    after: int  # the text node after its last one
    start: int
    end: int


class PageIndex:
    """A page's tree and texts. What stands in the head is no text of it."""

    def __init__(self, tree: _Element) -> None:
        self.tree = tree
        self.texts = read_texts(tree)
        self.nodes = [node for node in self.texts.nodes if not node.is_in_head]
        self._nodes_by_form: dict[Hashable, Any] = {}

    @cached_property
    def elements(self) -> list[ShownElement]:
        """The elements that show several text nodes; inner ones come before outer ones."""
        elements = []
        for element, (first, after) in self.texts.range_by_element.items():
            first_node, last_node = self.texts.nodes[first], self.texts.nodes[after - 1]
            if after - first > 1 and not first_node.is_in_head:
                shown = ShownElement(element, first, after, first_node.start, last_node.end)
                elements.append(shown)
        return elements

    def nodes_by_form(
        self, name: Hashable, form_of: Callable[[str], Form | None]
    ) -> Mapping[Form, Sequence[TextNode]]:
        """Return the text nodes by the form of their text; computed once for each form's name."""
        known: Mapping[Form, Sequence[TextNode]] | None = self._nodes_by_form.get(name)
        if known is not None:
            return known
        nodes: defaultdict[Form, list[TextNode]] = defaultdict(list)
        for node in self.nodes:
            form = form_of(self.texts.text_of(node))
            if form is not None:
                nodes[form].append(node)
        self._nodes_by_form[name] = nodes
        return nodes
