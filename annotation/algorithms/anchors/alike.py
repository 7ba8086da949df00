"""Find what stands on a page as given nodes do: further values of a list, the siblings of a record.

Two elements look alike where their tag is the same and they share a class, or neither has any. From
an example the way up is followed to the first ancestor that has alike siblings: each of these
siblings is searched for the element at the same place. With several examples only what they agree
on is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lxml.etree import _Element

MAX_ALIKE = 2_000


def find_alike(examples: Sequence[_Element]) -> list[_Element]:
    """Return the elements that stand as the examples do, these among them, in document order.

    >>> from lxml.html import fromstring
    >>> tree = fromstring("<ul><li><b>red</b></li><li><b>blue</b></li><li><i>all</i></li></ul>")
    >>> [element.text for element in find_alike([tree[0][0]])]
    ['red', 'blue']
    """
    if not examples:
        return []
    unique = list(dict.fromkeys(examples))
    common = _common_ancestor(unique) if len(unique) > 1 else _listing_ancestor(unique[0])
    if common is None:
        return unique
    paths = [_path_down(common, example) for example in unique]
    if not all(paths) or len({len(path) for path in paths}) > 1:
        return unique
    other_elements = [element for element in _follow(common, paths, 0) if element not in unique]
    order = {element: index for index, element in enumerate(common.iter("*"))}
    return sorted([*unique, *other_elements[:MAX_ALIKE]], key=lambda element: order[element])


def find_records_alike(first: _Element, last: _Element | None = None) -> list[list[_Element]]:
    """Return the runs of siblings that look like the run from the first to the last element.

    An element without alike siblings stands within a record: the ancestor that has some
    is the record.
    """
    if last is None or last is first:
        record = _nearest_with_alike_siblings(first)
        return [[element] for element in _alike_siblings(record)]
    run = _run_between(first, last)
    parent = run[0].getparent()
    siblings = run if parent is None else list(parent.iterchildren("*"))
    begin, length = siblings.index(run[0]), len(run)
    after = _runs(siblings, run, range(begin + length, len(siblings) - length + 1), length)
    before = _runs(siblings, run, range(begin - length, -1, -1), length)
    return [*before[::-1], run, *after]


def is_alike(element: _Element, other: _Element) -> bool:
    """Return whether two elements have the same tag and share a class, or have none."""
    if element.tag != other.tag:
        return False
    classes, other_classes = _classes(element), _classes(other)
    return bool(classes & other_classes) or not (classes or other_classes)


def _classes(element: _Element) -> set[str]:
    return set((element.get("class") or "").split())


def _alike_siblings(element: _Element) -> list[_Element]:
    parent = element.getparent()
    if parent is None:
        return [element]
    return [child for child in parent.iterchildren("*") if is_alike(child, element)]


def _listing_ancestor(element: _Element) -> _Element | None:
    """Return the parent of the nearest ancestor, or the element itself, that has alike siblings."""
    for candidate in (element, *element.iterancestors()):
        if _has_alike_siblings(candidate):
            return candidate.getparent()
    return None


def _nearest_with_alike_siblings(element: _Element) -> _Element:
    """Return the nearest of the element and its ancestors with alike siblings, else the element."""
    for candidate in (element, *element.iterancestors()):
        if _has_alike_siblings(candidate):
            return candidate
    return element


def _has_alike_siblings(element: _Element) -> bool:
    n_others = len(_alike_siblings(element)) - 1  # it is among them itself
    return n_others > 0 and element.tag not in {"head", "body"}


def _common_ancestor(elements: Sequence[_Element]) -> _Element | None:
    """Return the nearest element that all stand in; None where one of them is the root."""
    ancestors_from_root = [list(element.iterancestors())[::-1] for element in elements]
    common = None
    for first, *others in zip(*ancestors_from_root, strict=False):
        if any(other is not first for other in others):
            break
        common = first
    return common


def _path_down(ancestor: _Element, element: _Element) -> list[_Element]:
    """Return the elements below an ancestor down to an element."""
    path = [element]
    parent = element.getparent()
    while parent is not None and parent is not ancestor:
        path.append(parent)
        parent = parent.getparent()
    return path[::-1]


def _follow(element: _Element, paths: list[list[_Element]], depth: int) -> Iterator[_Element]:
    """Yield the elements to which steps like those of the paths lead, from a depth of the paths on.

    Where all paths go to the n-th of siblings that look alike, so does each step but the first.
    """
    if depth == len(paths[0]):
        yield element
        return
    steps = [path[depth] for path in paths]
    indices = {_index_among_alike(step) for step in steps}
    for child in element.iterchildren("*"):
        is_any_index = depth == 0 or len(indices) > 1
        if not is_any_index and _index_among_alike(child) not in indices:
            continue
        if any(is_alike(child, step) for step in steps):
            yield from _follow(child, paths, depth + 1)


def _index_among_alike(element: _Element) -> int:
    """Return the index of an element among the siblings that look like it."""
    before = element.itersiblings("*", preceding=True)
    return sum(is_alike(sibling, element) for sibling in before)


def _run_between(first: _Element, last: _Element) -> list[_Element]:
    """Return the run of siblings whose ends hold the first and the last element."""
    common = _common_ancestor([first, last])
    if common is None:  # one of them is the root
        return [first]
    siblings = list(common.iterchildren("*"))
    around = [_path_down(common, first)[0], _path_down(common, last)[0]]
    begin, end = sorted(siblings.index(sibling) for sibling in around)
    return siblings[begin : end + 1]


def _runs(
    siblings: list[_Element], run: list[_Element], starts: range, length: int
) -> list[list[_Element]]:
    """Return the runs alike that begin at one of the starts, none of them overlapping another."""
    runs: list[list[_Element]] = []
    last_start = last_end = -1
    for start in starts:
        if last_start - length < start < last_end:
            continue  # it overlaps the run before
        window = siblings[start : start + length]
        if len(window) == length and all(map(is_alike, window, run)):
            runs.append(window)
            last_start, last_end = start, start + length
    return runs
