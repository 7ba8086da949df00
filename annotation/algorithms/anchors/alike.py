"""Find what stands on a page as given nodes do: further values of a list, the siblings of a record.

Two elements look alike where their tag is the same and they share a class, or neither has any. From an
example the way up is followed to the first ancestor that has alike siblings: each of these siblings is
searched for the element at the same place. With several examples only what they agree on is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lxml.etree import _Element

MAX_FOUND = 2_000


def find_alike(examples: Sequence[_Element]) -> list[_Element]:
    """Return the elements that stand as the examples do, the examples among them, in document order.

    >>> from lxml.html import fromstring
    >>> tree = fromstring("<ul><li><b>red</b></li><li><b>blue</b></li><li><i>all</i></li></ul>")
    >>> [one.text for one in find_alike([tree[0][0]])]
    ['red', 'blue']
    """
    if not examples:
        return []
    common = (
        _common_ancestor(examples) if len(set(examples)) > 1 else _listing_ancestor(examples[0])
    )
    if common is None:
        return list(dict.fromkeys(examples))
    ways = [_way_down(common, example) for example in examples]
    if not all(ways) or len({len(way) for way in ways}) > 1:
        return list(dict.fromkeys(examples))
    found = [one for one in _follow(common, ways, 0) if one not in examples]
    kept = [*dict.fromkeys(examples), *found[:MAX_FOUND]]
    order = {element: place for place, element in enumerate(common.iter("*"))}
    return sorted(kept, key=lambda element: order[element])


def find_records_alike(first: _Element, last: _Element | None = None) -> list[list[_Element]]:
    """Return the runs of siblings that look like the run from the first to the last element.

    An element without alike siblings stands within a record: the ancestor that has some is the record.
    """
    if last is None or last is first:
        record = _outermost_alone(first)
        return [[one] for one in _alike_siblings(record)]
    run = _run_between(first, last)
    parent = run[0].getparent()
    siblings = run if parent is None else list(parent.iterchildren("*"))
    begin, length = siblings.index(run[0]), len(run)
    found = [run]
    found += _runs(siblings, run, range(begin + length, len(siblings) - length + 1), length)
    before = _runs(siblings, run, range(begin - length, -1, -1), length)
    return before[::-1] + found


def is_alike(one: _Element, other: _Element) -> bool:
    """Say whether two elements have the same tag and share a class, or have none."""
    if one.tag != other.tag:
        return False
    mine, others = _classes(one), _classes(other)
    return bool(mine & others) or not (mine or others)


def _classes(element: _Element) -> set[str]:
    return set((element.get("class") or "").split())


def _alike_siblings(element: _Element) -> list[_Element]:
    parent = element.getparent()
    if parent is None:
        return [element]
    return [one for one in parent.iterchildren("*") if is_alike(one, element)]


def _listing_ancestor(element: _Element) -> _Element | None:
    """Return the parent of the nearest ancestor, or the element itself, that has alike siblings."""
    for one in (element, *element.iterancestors()):
        if len(_alike_siblings(one)) > 1 and one.tag not in {"head", "body"}:
            return one.getparent()
    return None


def _outermost_alone(element: _Element) -> _Element:
    """Return the element, or its nearest ancestor, that has alike siblings; the element where none has."""
    for one in (element, *element.iterancestors()):
        if len(_alike_siblings(one)) > 1 and one.tag not in {"head", "body"}:
            return one
    return element


def _common_ancestor(elements: Sequence[_Element]) -> _Element | None:
    lines = [[*reversed(list(one.iterancestors()))] for one in elements]
    common = None
    for steps in zip(*lines, strict=False):
        if any(step is not steps[0] for step in steps):
            break
        common = steps[0]
    return common


def _way_down(ancestor: _Element, element: _Element) -> list[_Element]:
    """Return the elements below an ancestor down to an element."""
    way = [element]
    while (parent := way[-1].getparent()) is not None and parent is not ancestor:
        way.append(parent)
    return way[::-1]


def _follow(element: _Element, ways: list[list[_Element]], depth: int) -> Iterator[_Element]:
    """Yield the elements below one that stand as the ends of the ways do."""
    if depth == len(ways[0]):
        yield element
        return
    steps = [way[depth] for way in ways]
    nths = {_nth(step) for step in steps}
    for child in element.iterchildren("*"):
        is_at_place = depth == 0 or len(nths) > 1 or _nth(child) in nths
        if is_at_place and any(is_alike(child, step) for step in steps):
            yield from _follow(child, ways, depth + 1)


def _nth(element: _Element) -> int:
    """Return the place of an element among the siblings that look like it."""
    return sum(1 for one in element.itersiblings("*", preceding=True) if is_alike(one, element))


def _run_between(first: _Element, last: _Element) -> list[_Element]:
    """Return the siblings from the one that holds the first element to the one that holds the last."""
    common = _common_ancestor([first, last])
    if common is None:
        return [first]
    one, other = _way_down(common, first)[0], _way_down(common, last)[0]
    siblings = list(common.iterchildren("*"))
    begin, end = sorted((siblings.index(one), siblings.index(other)))
    return siblings[begin : end + 1]


def _runs(
    siblings: list[_Element], run: list[_Element], places: range, length: int
) -> list[list[_Element]]:
    """Return the runs alike that begin at one of the places, none of them overlapping another."""
    found: list[list[_Element]] = []
    busy_from = busy_to = -1
    for place in places:
        if busy_from - length < place < busy_to:
            continue
        window = siblings[place : place + length]
        if len(window) == length and all(map(is_alike, window, run)):
            found.append(window)
            busy_from, busy_to = place, place + length
    return found
