"""Suggest values on a snapshot: from the page, from other samples, from what is known elsewhere."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from annotation.algorithms.suggestions.evidence import KnownValue
from annotation.algorithms.suggestions.names import meaning_of
from annotation.models import Annotation, Attribute, Sample
from annotation.services.page.page_readers import read_heading, read_print, read_suggestions
from annotation.services.seams import known_values_source
from clustering.dom.page import PageTooLarge
from clustering.models import PageMembership, Snapshot
from clustering.services.children.stored import PageTooHeavy, call_on_page
from clustering.services.clusters.current_clusterings import key_paths_of
from vertex.core.services.people.people import keeps_sites_apart
from vertex.core.storage import BodyDamaged, BodyMissing

# The kinds of spots with their texts, and the labels: what PagePrint holds.
PlainPrint: TypeAlias = tuple[list[tuple[str, str]], list[str]]

CANNOT_BE_READ = (BodyMissing, BodyDamaged, PageTooLarge, PageTooHeavy)
N_OTHERS = 5  # samples of the cluster that a page is compared with
MAX_KNOWN_VALUES = 400  # of an attribute on other pages
MAX_KNOWN_CHARS = 120
MAX_NAME_CHARS = 1_000
MAX_PAGES_OF_SAME_THING = 5
MAX_VALUES_OF_SAME_THING = 100
# How far a value from there is trusted.
SAME_PAGE, SAME_THING, SAME_SITE = 0.9, 0.6, 0.4


def suggestions_for(*, snapshot: Snapshot, attributes: Sequence[Attribute]) -> list[dict[str, Any]]:
    """Return what the attributes may be on a page, in their order: at most three each, best first.

    They are read in a limited child, as JSON with the marks of each and where they are drawn; one
    without marks says that the page has none. There are none of a page that cannot be read. Nothing
    is saved: an editor accepts or not. Raises ChildrenBusy.
    """
    try:
        return call_on_page(
            snapshot,
            read_suggestions,
            url=snapshot.page.url,
            prints=prints_beside(snapshot),
            key_paths=key_paths_of(snapshot.page.site_id),
            attributes=[attribute.as_type().as_json() for attribute in attributes],
            known=known_values(snapshot, attributes, _heading_of(snapshot.pk)),
        )
    except CANNOT_BE_READ:
        return []


def prints_beside(snapshot: Snapshot) -> list[PlainPrint]:
    """Return some other samples of the page's cluster, else other pages of it, to compare with."""
    cluster = PageMembership.objects.current().cluster_of(snapshot.page_id)
    if cluster is None:
        return []
    samples = Sample.objects.filter(cluster=cluster).exclude(page=snapshot.page_id).order_by("rank")
    ids = list(samples.values_list("snapshot", flat=True)[:N_OTHERS])
    if not ids:
        members = PageMembership.objects.of_cluster(cluster).filter(
            page__latest_snapshot__problem=Snapshot.Problem.NONE
        )
        other_members = members.exclude(page=snapshot.page_id).order_by("page__url_hash")
        ids = list(other_members.values_list("page__latest_snapshot", flat=True)[:N_OTHERS])
    prints = [_print_of(pk) for pk in ids]
    return [page_print for page_print in prints if page_print is not None]


# Saves the call of a child and 0.9 ms in it for each of the five other samples of a page.
@lru_cache(maxsize=256)
def _print_of(pk: int) -> PlainPrint | None:
    """Return the print of a snapshot, which never changes; None where it cannot be read."""
    snapshot = Snapshot.objects.select_related("page").filter(pk=pk).first()
    if snapshot is None:
        return None
    try:
        return call_on_page(snapshot, read_print, snapshot.page.url)
    except CANNOT_BE_READ:
        return None


# Saves the call of a child and 0.8 ms in it for each page of suggestions that is asked for again.
@lru_cache(maxsize=1024)
def _heading_of(pk: int) -> str:
    """Return the heading of a snapshot, which never changes. Raises what CANNOT_BE_READ lists."""
    return call_on_page(Snapshot.objects.get(pk=pk), read_heading)


def known_values(
    snapshot: Snapshot, attributes: Sequence[Attribute], heading: str
) -> dict[str, list[KnownValue]]:
    """Return the values of the attributes that may stand on a page, by attribute.

    They come from the records, then from annotations: of the same page, of the same thing
    elsewhere, of other pages of the site.
    """
    known: defaultdict[str, list[KnownValue]] = defaultdict(list)
    for name, values in known_values_source()(snapshot, attributes, heading).items():
        known[name] += values

    name_by_pk = {attribute.pk: attribute.name for attribute in attributes}
    annotations = Annotation.objects.live().filter(
        attribute__in=name_by_pk,
        kind=Annotation.Kind.VALUE,
        text__gt="",
        page__site=snapshot.page.site_id,
    )
    of_page = annotations.filter(page=snapshot.page_id).values_list("attribute", "text")
    for pk, text in of_page[:MAX_KNOWN_VALUES]:
        why = "was annotated on this page before"
        known[name_by_pk[pk]].append(KnownValue(text, why, SAME_PAGE))

    for name, text in _values_of_same_thing(snapshot, attributes, heading):
        known[name].append(KnownValue(text, "is known of the same thing elsewhere", SAME_THING))

    on_other_pages = annotations.exclude(page=snapshot.page_id).order_by("-pk")
    pairs = on_other_pages.values_list("attribute", "text")[:MAX_KNOWN_VALUES]
    counts = Counter(pair for pair in pairs if len(pair[1]) <= MAX_KNOWN_CHARS)
    for (pk, text), n in counts.most_common():
        if meaning_of(name_by_pk[pk]).is_title or text.isdecimal():
            continue  # it is another thing's name, or a number that means nothing elsewhere
        why = f"is known from {n} other page{'s' if n > 1 else ''} of the site"
        known[name_by_pk[pk]].append(KnownValue(text, why, SAME_SITE))
    return dict(known)


def _values_of_same_thing(
    snapshot: Snapshot, attributes: Sequence[Attribute], heading: str
) -> list[tuple[str, str]]:
    """Return names of attributes with texts, as annotated on pages whose name is this heading."""
    titles = [attribute.name for attribute in attributes if meaning_of(attribute.name).is_title]
    if not heading or not titles:
        return []
    live = Annotation.objects.live().filter(kind=Annotation.Kind.VALUE)
    if keeps_sites_apart():
        live = live.filter(page__site=snapshot.page.site_id)
    named_alike = live.filter(
        attribute__vertical=attributes[0].vertical_id,
        attribute__name__in=titles,
        text=heading[:MAX_NAME_CHARS],
    ).exclude(page=snapshot.page_id)
    pages = list(named_alike.values_list("page", flat=True)[:MAX_PAGES_OF_SAME_THING])
    rows = live.filter(page__in=pages, attribute__in=[a.pk for a in attributes], text__gt="")
    pairs = rows.exclude(attribute__name__in=titles).values_list("attribute__name", "text")
    return list(pairs[:MAX_VALUES_OF_SAME_THING])
