"""What records know of a page that is annotated: the same address, or the same thing elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from django.db.models import Q, QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from annotation.algorithms.suggestions.evidence import KnownValue
from annotation.algorithms.suggestions.names import meaning_of
from annotation.models import Attribute
from clustering.models import Page, Snapshot
from rules.models import Record, RecordVersion
from vertex.core.models import Site
from vertex.core.services.people.people import keeps_sites_apart

# How far a value from there is trusted.
EXTRACTED, EARLIER, SAME_URL, SAME_THING = 0.8, 0.6, 0.8, 0.6
MAX_SITES = 20  # that may know the same address
MAX_RECORDS = 4  # of the same address, and of the same thing
MAX_CHANGED_LATELY = 2_000  # records that changed last, in which the same thing is looked for
MAX_NAME_CHARS = 1_000


class _Source(NamedTuple):
    """Values of a record or of an earlier version of one, and how far they are trusted."""

    values: Mapping[str, object]
    why: str
    weight: float


def known_from_records(
    snapshot: Snapshot, attributes: Sequence[Attribute], heading: str
) -> dict[str, list[KnownValue]]:
    """Return attributes' values from the records of this page, of its address and of its name."""
    names = [attribute.name for attribute in attributes]
    titles = {name for name in names if meaning_of(name).is_title}
    known: defaultdict[str, list[KnownValue]] = defaultdict(list)
    for source in _of_same_page(snapshot):
        _add(known, source, names)
    is_apart = keeps_sites_apart()
    if not is_apart:
        for source in _of_same_url(snapshot):
            _add(known, source, names)
    things = Record.objects.there()
    if is_apart:
        things = things.filter(site=snapshot.page.site_id)
    for record in _of_same_thing(things, snapshot, attributes, titles, heading):
        why = f"is known of the same thing at {record.site.name}"
        # Its titles are what the page was recognised by: they say nothing new.
        names_besides_titles = [name for name in names if name not in titles]
        _add(known, _Source(record.values, why, SAME_THING), names_besides_titles)
    return dict(known)


def _add(known: dict[str, list[KnownValue]], source: _Source, names: Iterable[str]) -> None:
    """Add the values of a source to what is known of some attributes."""
    for name in names:
        if name not in source.values:
            continue
        value = source.values[name]
        texts = value if isinstance(value, list) else [value]
        known[name] += [KnownValue(str(text), source.why, source.weight) for text in texts if text]


def _of_same_page(snapshot: Snapshot) -> Iterator[_Source]:
    for record in _alone(Record.objects.filter(page=snapshot.page_id)):
        yield _Source(record.values, "was extracted from this page before", EXTRACTED)
        for version in RecordVersion.objects.filter(record=record)[:MAX_RECORDS]:
            yield _Source(version.values, "was extracted from this page long before", EARLIER)


def _of_same_url(snapshot: Snapshot) -> Iterator[_Source]:
    for page in _pages_of_same_url(snapshot):
        for record in _alone(Record.objects.filter(page=page)):
            why = f"is known of the same address at {page.site.name}"
            yield _Source(record.values, why, SAME_URL)


def _alone(records: QuerySet[Record]) -> list[Record]:
    """Return the record of a page that has one; of a list nobody knows which of them is meant."""
    first_two = list(records.filter(gone_at=None)[:2])
    return first_two if len(first_two) == 1 else []


def _pages_of_same_url(snapshot: Snapshot) -> list[Page]:
    """Return the pages of the same address at other sites: those of its host."""
    host = urlsplit(snapshot.page.url).hostname or ""
    sites = Site.objects.annotate(hosts=Cast("extra_hosts", TextField()))
    sites = sites.filter(Q(root_url__contains=f"//{host}") | Q(hosts__contains=f'"{host}"'))
    other_sites = list(
        sites.exclude(pk=snapshot.page.site_id).values_list("pk", flat=True)[:MAX_SITES]
    )
    if not other_sites:
        return []
    pages = Page.objects.filter(site__in=other_sites, url_hash=snapshot.page.url_hash)
    return list(pages.select_related("site")[:MAX_RECORDS])


def _of_same_thing(
    things: QuerySet[Record],
    snapshot: Snapshot,
    attributes: Sequence[Attribute],
    titles: set[str],
    heading: str,
) -> list[Record]:
    """Return records of other pages, of this vertical and changed lately, with a page's name."""
    if not heading or not titles:
        return []
    records_of_vertical = things.filter(rule__vertical=attributes[0].vertical_id)
    lately = records_of_vertical.order_by("-change_number").values("pk")[:MAX_CHANGED_LATELY]
    named = Q()
    for n, _ in enumerate(sorted(titles)):
        named |= Q(**{f"title_{n}": heading[:MAX_NAME_CHARS]})
    titled = {
        f"title_{n}": Cast(KeyTextTransform(title, "values"), TextField())
        for n, title in enumerate(sorted(titles))
    }
    records = Record.objects.filter(pk__in=lately).exclude(page=snapshot.page_id)
    named_alike = records.annotate(**titled).filter(named)
    return list(named_alike.select_related("site")[:MAX_RECORDS])
