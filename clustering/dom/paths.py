"""Find where elements stand in a tree: paths with positions and paths of tags alone.

A path is the one that lxml's `getpath` gives, with one exception: where a tag is no name that XPath
could read (`o:p`, `p,q`), the step is `*[n]`, so that every path selects its element.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from lxml import etree
from lxml.etree import _Element

MAX_SINGLE_LOOKUPS = 100  # paths that are quick to find one by one on the largest page

_PLAIN_PATH = re.compile(r"[A-Za-z0-9_.\-/\[\]]*")
_POSITION = re.compile(r"\[[0-9]+\]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_HAS_FEW_ELEMENTS = etree.XPath("count(//*) < 20000", regexp=False)


def element_paths(elements: Sequence[_Element]) -> list[str]:
    """Return the paths of some elements of one tree."""
    if not elements:
        return []
    if len(elements) > MAX_SINGLE_LOOKUPS and not _HAS_FEW_ELEMENTS(elements[0]):
        return _paths_in_large_tree(elements)
    find_path = elements[0].getroottree().getpath
    paths = [find_path(element) for element in elements]
    return paths if _PLAIN_PATH.fullmatch("".join(paths)) else _paths_in_large_tree(elements)


def walk_paths(tree: _Element) -> Iterator[tuple[_Element, str]]:
    """Yield each element in document order with its path, in time linear in the tree."""
    stack = [(tree, element_paths([tree])[0])]
    while stack:
        element, path = stack.pop()
        yield element, path
        if len(element):
            stack.extend(reversed(_children_with_paths(element, path)))


def walk_tag_paths(tree: _Element) -> Iterator[tuple[_Element, str]]:
    """Yield each element in document order with the tags from the root to it: `/html/body/p`."""
    tags = [str(element.tag) for element in [tree, *tree.iterancestors()]]
    stack = [(tree, "/" + "/".join(reversed(tags)))]
    while stack:
        element, path = stack.pop()
        yield element, path
        if len(element):
            for child in reversed(element):
                tag = child.tag
                if isinstance(tag, str):
                    stack.append((child, f"{path}/{tag}"))


def without_positions(path: str) -> str:
    """Return a path without its positions.

    >>> without_positions("/html/body/ul/li[12]/a[1]")
    '/html/body/ul/li/a'
    """
    return _POSITION.sub("", path)


def _children_with_paths(
    element: _Element, path: str, wanted: Collection[_Element] | None = None
) -> list[tuple[_Element, str]]:
    """Return the children, or those wanted, with their paths; `path` is the parent's."""
    count_by_tag: dict[str, int] = {}
    steps = []
    number = 0
    for child in element:
        tag = child.tag
        if isinstance(tag, str):
            number += 1
            nth = count_by_tag[tag] = count_by_tag.get(tag, 0) + 1
            if wanted is None or child in wanted:
                steps.append((child, tag, number, nth))
    return [
        (child, f"{path}/{_step(tag, number, nth, count_by_tag[tag])}")
        for child, tag, number, nth in steps
    ]


def _step(tag: str, number: int, nth: int, count: int) -> str:
    """Return the step to the `number`th child, the `nth` of `count` children of its tag."""
    if not _is_name(tag):
        return f"*[{number}]"
    return tag if count == 1 else f"{tag}[{nth}]"


def _is_name(tag: str) -> bool:
    return _NAME.fullmatch(tag) is not None


def _paths_in_large_tree(elements: Sequence[_Element]) -> list[str]:
    """Return the paths in linear time: `getpath` counts the siblings before each element anew."""
    root = elements[0].getroottree().getroot()
    wanted: set[_Element] = set()  # the elements and all that they stand in
    for element in elements:
        ancestor: _Element | None = element
        while ancestor is not None and ancestor not in wanted:
            wanted.add(ancestor)
            ancestor = ancestor.getparent()
    path_by_element = {}
    stack = [(root, f"/{root.tag if _is_name(str(root.tag)) else '*'}")]
    while stack:
        element, path = stack.pop()
        path_by_element[element] = path
        if len(element):
            stack.extend(_children_with_paths(element, path, wanted))
    return [path_by_element[element] for element in elements]
