"""Find doubtful pages among those that came after their rule was published and had no record.

They are compared with the other pages of their cluster: a constant value stands where it stands on
the others, and one that tells pages apart is not on several. Lists are such pages too where none of
their records stays.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from clustering.models import Snapshot
from monitoring.algorithms.known_values import plain
from monitoring.algorithms.site_change import without_positions
from rules.models import Record, Rule
from rules.services.records.storing import ExtractedPage

MAX_RECORDS_READ: Final = 200  # of a cluster
MIN_VALUES_TO_JUDGE: Final = 8  # of an attribute
MAX_PATHS: Final = 3  # of an attribute that stands at steady places
MIN_DISTINCT_SHARE: Final = 0.95  # of the values of an attribute that tells pages apart


class _KnownAttribute(NamedTuple):
    """What the records of a cluster show of a constant attribute."""

    paths: Collection[str]  # without positions; empty: it stands anywhere
    values: Collection[str]  # empty: it does not tell pages apart


def doubtful_pages(pages: Sequence[ExtractedPage], rules: Mapping[str, Rule]) -> dict[int, str]:
    """Return those of some pages without earlier record that are unlike the others, by cluster."""
    new_pages: defaultdict[str, list[ExtractedPage]] = defaultdict(list)
    for page in _pages_after_their_rule(pages, rules):
        new_pages[page.lines[0].cluster or ""].append(page)
    cluster_by_page: dict[int, str] = {}
    for name, own_pages in new_pages.items():
        known = _known_attributes(rules[name])
        n_pages_by_text = {
            attribute: Counter(
                text for page in own_pages for text in set(_texts_on_page(page, attribute))
            )
            for attribute in known
        }
        for page in own_pages:
            if _is_unlike_others(page, known, n_pages_by_text):
                cluster_by_page[page.page.pk] = name
    return cluster_by_page


def _pages_after_their_rule(
    pages: Sequence[ExtractedPage], rules: Mapping[str, Rule]
) -> list[ExtractedPage]:
    """Return the pages with a record that were fetched after their rule was published."""
    with_record = [page for page in pages if page.lines[0].record is not None]
    snapshots = Snapshot.objects.filter(pk__in=[page.page.snapshot for page in with_record])
    fetched_at_by_snapshot = dict(snapshots.values_list("pk", "fetched_at"))
    after = []
    for page in with_record:
        rule = rules.get(page.lines[0].cluster or "")
        fetched_at = fetched_at_by_snapshot.get(page.page.snapshot)
        if rule is None or rule.published_at is None or fetched_at is None:
            continue
        if fetched_at > rule.published_at:
            after.append(page)
    return after


def _known_attributes(rule: Rule) -> dict[str, _KnownAttribute]:
    """Return what the stored records show of each constant attribute of a rule."""
    records = Record.objects.there().filter(cluster=rule.cluster_id, rule=rule).order_by("-pk")
    rows = list(records.values_list("values", "nodes")[:MAX_RECORDS_READ])
    names = [attribute.name for attribute in rule.attributes if attribute.is_constant]
    return {name: _summarise(name, rows) for name in names}


def _summarise(
    name: str, rows: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]]
) -> _KnownAttribute:
    paths: set[str] = set()
    values: Counter[str] = Counter()
    for row_values, row_nodes in rows:
        paths |= _paths(row_nodes.get(name))
        values.update(_texts(row_values.get(name)))
    if values.total() < MIN_VALUES_TO_JUDGE:
        return _KnownAttribute((), ())
    tells_apart = len(values) >= MIN_DISTINCT_SHARE * values.total()
    return _KnownAttribute(
        paths=paths if len(paths) <= MAX_PATHS else (),
        values=set(values) if tells_apart else (),
    )


def _is_unlike_others(
    page: ExtractedPage,
    known: Mapping[str, _KnownAttribute],
    n_pages_by_text: Mapping[str, Mapping[str, int]],
) -> bool:
    """Return whether a constant value stands at a new place on a page or on other pages, too."""
    for name, attribute in known.items():
        if attribute.paths:
            for line in page.lines:
                if not _paths(line.nodes.get(name)) <= set(attribute.paths):
                    return True
        if attribute.values:
            for text in _texts_on_page(page, name):
                if n_pages_by_text[name][text] > 1 or text in attribute.values:
                    return True
    return False


def _texts_on_page(page: ExtractedPage, name: str) -> list[str]:
    """Return the values of a page's only record; none of a list: several pages have its items."""
    first = page.lines[0]
    return _texts(first.values.get(name)) if first.index is None else []


def _texts(value: Any) -> list[str]:
    texts = [value] if isinstance(value, str) else value or []
    return [plain(text) for text in texts]


def _paths(nodes: Any) -> set[str]:
    """Return the paths at which a value stands, without positions."""
    paths = [nodes] if isinstance(nodes, str) else nodes or []
    return {without_positions(path) for path in paths}
