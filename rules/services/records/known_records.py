"""What extracted records tell of a page that is annotated: the same address, or the same thing elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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

EXTRACTED, EARLIER, SAME_URL, SAME_THING = (
    0.8,
    0.6,
    0.8,
    0.6,
)  # how far a value from there is trusted
MOST_SITES = 20  # that may know the same address
MOST_RECORDS = 4  # of the same address, and of the same thing
LOOKED_AT = 2_000  # records that changed last, in which the same thing is looked for
LONGEST_NAME = 1_000  # characters


def known_from_records(
    snapshot: Snapshot, attributes: Sequence[Attribute], heading: str
) -> dict[str, list[KnownValue]]:
    """Return what records say of attributes: those of this page, of its address, of what has its name."""
    found: dict[str, list[KnownValue]] = {}
    names = [one.name for one in attributes]
    titles = {name for name in names if meaning_of(name).is_title}
    for values, known, without in _told(snapshot, attributes, titles, heading):
        for name in names:
            if name in values and name not in without:
                value = values[name]
                texts = value if isinstance(value, list) else [value]
                told = [KnownValue(str(text), known.why, known.weight) for text in texts if text]
                found.setdefault(name, []).extend(told)
    return found


def _told(
    snapshot: Snapshot, attributes: Sequence[Attribute], titles: set[str], heading: str
) -> Iterator[tuple[Mapping[str, object], KnownValue, set[str]]]:
    """Yield records, what to say of their values, and which of these say nothing here."""
    for record in _alone(Record.objects.filter(page=snapshot.page_id)):
        yield record.values, KnownValue("", "was extracted from this page before", EXTRACTED), set()
        for version in RecordVersion.objects.filter(record=record)[:MOST_RECORDS]:
            yield (
                version.values,
                KnownValue("", "was extracted from this page long before", EARLIER),
                set(),
            )
    is_apart = keeps_sites_apart()
    for page in [] if is_apart else _pages_of_same_url(snapshot):
        for record in _alone(Record.objects.filter(page=page)):
            why = f"is known of the same address at {page.site.name}"
            yield record.values, KnownValue("", why, SAME_URL), set()
    things = Record.objects.there()
    things = things.filter(site=snapshot.page.site_id) if is_apart else things
    for record in _of_same_thing(things, snapshot, attributes, titles, heading):
        yield (
            record.values,
            KnownValue("", f"is known of the same thing at {record.site.name}", SAME_THING),
            titles,
        )


def _alone(records: QuerySet[Record]) -> list[Record]:
    """Return the record of a page that has one; of a list nobody knows which of them is meant."""
    found = list(records.filter(gone_at=None)[:2])
    return found if len(found) == 1 else []


def _pages_of_same_url(snapshot: Snapshot) -> list[Page]:
    """Return the pages of the same address at other sites: those of its host."""
    host = urlsplit(snapshot.page.url).hostname or ""
    sites = Site.objects.annotate(hosts=Cast("extra_hosts", TextField()))
    sites = sites.filter(Q(root_url__contains=f"//{host}") | Q(hosts__contains=f'"{host}"'))
    others = list(sites.exclude(pk=snapshot.page.site_id).values_list("pk", flat=True)[:MOST_SITES])
    if not others:
        return []
    pages = Page.objects.filter(site__in=others, url_hash=snapshot.page.url_hash)
    return list(pages.select_related("site")[:MOST_RECORDS])


def _of_same_thing(
    things: QuerySet[Record],
    snapshot: Snapshot,
    attributes: Sequence[Attribute],
    titles: set[str],
    heading: str,
) -> list[Record]:
    """Return the records of other pages, of the same vertical and changed lately, that bear a page's name."""
    if not heading or not titles:
        return []
    others = things.filter(rule__vertical=attributes[0].vertical_id)
    lately = others.order_by("-change_number").values("pk")[:LOOKED_AT]
    named = Q()
    for n, _ in enumerate(sorted(titles)):
        named |= Q(**{f"title_{n}": heading[:LONGEST_NAME]})
    titled = {
        f"title_{n}": Cast(KeyTextTransform(title, "values"), TextField())
        for n, title in enumerate(sorted(titles))
    }
    found = Record.objects.filter(pk__in=lately).exclude(page=snapshot.page_id)
    return list(found.annotate(**titled).filter(named).select_related("site")[:MOST_RECORDS])
