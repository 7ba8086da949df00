"""Suggest values on a snapshot: from the page itself, from other samples, from what is known elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from lxml.html import HtmlElement

from annotation.algorithms.suggestions.declared import read_declared
from annotation.algorithms.suggestions.evidence import KnownValue
from annotation.algorithms.suggestions.names import meaning_of
from annotation.algorithms.suggestions.spots import PagePrint, SpotIndex
from annotation.algorithms.suggestions.suggestion import Suggestion, suggest
from annotation.models import Annotation, Attribute, Sample
from annotation.services.page.stored_trees import tree_of
from annotation.services.seams import known_values_source
from clustering.models import PageMembership, Snapshot
from vertex.core.services.people.people import keeps_sites_apart

N_OTHERS = 5  # samples of the cluster that a page is compared with
MOST_KNOWN = 400  # values of an attribute on other pages
LONGEST_KNOWN = 120  # characters
SAME_PAGE, SAME_THING, SAME_SITE = 0.9, 0.6, 0.4  # how far a value from there is trusted


def suggestions_for(
    *,
    snapshot: Snapshot,
    tree: HtmlElement,
    attributes: Iterable[Attribute],
    known: Mapping[str, Sequence[KnownValue]] | None = None,
) -> list[Suggestion]:
    """Return what the attributes may be on a page: in their order, the best first, at most three each.

    A suggestion without marks says that the page has none. `known` adds values from elsewhere. Nothing is
    written down: an editor accepts or not.
    """
    listed = list(attributes)
    page = SpotIndex(tree, snapshot.page.url, prints_beside(snapshot))
    values = known_values(snapshot, listed, page.heading.text if page.heading else "")
    for name, more in (known or {}).items():
        values[name] = [*values.get(name, []), *more]
    return suggest(page, read_declared(tree), [attribute.as_type() for attribute in listed], values)


def prints_beside(snapshot: Snapshot) -> list[PagePrint]:
    """Return some other samples of the page's cluster, or else other pages of it, to compare with."""
    cluster = (
        PageMembership.objects.current()
        .filter(page=snapshot.page_id)
        .values_list("cluster", flat=True)
        .first()
    )
    if cluster is None:
        return []
    drawn = Sample.objects.filter(cluster=cluster).exclude(page=snapshot.page_id).order_by("rank")
    ids = list(drawn.values_list("snapshot", flat=True)[:N_OTHERS])
    if not ids:
        members = PageMembership.objects.current().filter(
            cluster=cluster, page__latest_snapshot__problem=Snapshot.Problem.NONE
        )
        others = members.exclude(page=snapshot.page_id).order_by("page__url_hash")
        ids = list(others.values_list("page__latest_snapshot", flat=True)[:N_OTHERS])
    return [found for pk in ids if (found := _print_of(pk)) is not None]


@lru_cache(maxsize=256)
def _print_of(pk: int) -> PagePrint | None:
    """Return the print of a snapshot, which never changes; None where it has no tree."""
    snapshot = Snapshot.objects.select_related("page").filter(pk=pk).first()
    tree = tree_of(snapshot) if snapshot else None
    return (
        None if tree is None or snapshot is None else SpotIndex(tree, snapshot.page.url).page_print
    )


def known_values(
    snapshot: Snapshot, attributes: Sequence[Attribute], heading: str
) -> dict[str, list[KnownValue]]:
    """Return what annotations say of the same page, the same thing elsewhere, other pages of the site.

    The records add what they know.
    """
    found: dict[str, list[KnownValue]] = {}
    names = {attribute.pk: attribute.name for attribute in attributes}
    rows = Annotation.objects.live().filter(
        attribute__in=names,
        kind=Annotation.Kind.VALUE,
        text__gt="",
        page__site=snapshot.page.site_id,
    )
    for name, known in known_values_source()(snapshot, attributes, heading).items():
        found.setdefault(name, []).extend(known)
    for pk, text in rows.filter(page=snapshot.page_id).values_list("attribute", "text")[
        :MOST_KNOWN
    ]:
        found.setdefault(names[pk], []).append(
            KnownValue(text, "was annotated on this page before", SAME_PAGE)
        )
    for name, text in _of_same_thing(snapshot, attributes, heading):
        found.setdefault(name, []).append(
            KnownValue(text, "is known of the same thing elsewhere", SAME_THING)
        )
    others = rows.exclude(page=snapshot.page_id).order_by("-pk").values_list("attribute", "text")
    counts = Counter(pair for pair in others[:MOST_KNOWN] if len(pair[1]) <= LONGEST_KNOWN)
    for (pk, text), n in counts.most_common():
        if not meaning_of(names[pk]).is_title and not text.isdecimal():
            why = f"is known from {n} other page{'s' if n > 1 else ''} of the site"
            found.setdefault(names[pk], []).append(KnownValue(text, why, SAME_SITE))
    return found


def _of_same_thing(
    snapshot: Snapshot, attributes: Sequence[Attribute], heading: str
) -> list[tuple[str, str]]:
    """Return what was annotated on pages whose name is the heading of this one."""
    titles = [one.name for one in attributes if meaning_of(one.name).is_title]
    if not heading or not titles:
        return []
    live = Annotation.objects.live().filter(kind=Annotation.Kind.VALUE)
    if keeps_sites_apart():
        live = live.filter(page__site=snapshot.page.site_id)
    vertical = attributes[0].vertical_id
    pages = live.filter(
        attribute__vertical=vertical, attribute__name__in=titles, text=heading[:1_000]
    )
    ids = list(pages.exclude(page=snapshot.page_id).values_list("page", flat=True)[:5])
    rows = live.filter(page__in=ids, attribute__in=[one.pk for one in attributes], text__gt="")
    return list(
        rows.exclude(attribute__name__in=titles).values_list("attribute__name", "text")[:100]
    )
