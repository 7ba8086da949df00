"""A site in a picture: its pages by depth and cluster, and why others were not fetched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db.models import Count, Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from clustering.models import Cluster, Clustering, Page, PageMembership
from clustering.views.clusters.cluster_rows import mark_numbers
from vertex.core.models import Job, Refusal, Role, Site
from vertex.core.views.access import needs_role

MAX_LEVELS = 20  # depths with a bar of their own; deeper pages share one
MAX_CLUSTERS = 7  # with a colour of their own, the largest
BAR_LENGTH = 1_000.0
LIVE_EVERY = 3  # seconds
NOT_FETCHED = (Page.State.REFUSED, Page.State.FAILED, Page.State.SKIPPED)
WORD_BY_STATE = {
    Page.State.STORED: "In no cluster",
    Page.State.DUE: "Not visited yet",
    Page.State.REDIRECTED: "Redirected",
    Page.State.SKIPPED: "No page there",
    Page.State.REFUSED: "Refused",
    Page.State.FAILED: "Failed",
}
OTHER_CLUSTERS = "Other clusters"


class Segment(NamedTuple):
    """A part of a bar: the pages of one cluster, or of one state, at a depth."""

    word: str
    number: int | None  # of the cluster's mark; None: of no cluster
    tone: str  # a class
    n_pages: int
    start: float = 0.0
    length: float = 0.0


class Level(NamedTuple):
    """The pages at a depth."""

    word: str
    n_pages: int
    segments: list[Segment]


class Reason(NamedTuple):
    """Pages that were not fetched for the same reason."""

    state: Page.State
    word: str
    n_pages: int
    example: str


@needs_role(Role.VIEWER)
@require_GET
def crawl_picture(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    counts = dict(_counts_by_state(site))
    levels = _levels(site, counts)
    crawl = Job.objects.filter(site=site, queue=Job.Queue.FETCH).order_by("-pk").first()
    is_crawling = crawl is not None and not crawl.is_finished
    context = {
        "site": site,
        "levels": levels,
        "legend": _legend(levels),
        "n_pages": sum(counts.values()),
        "reasons": _reasons(site, crawl),
        "crawl": crawl,
        "codes": _codes_of(crawl),
        "is_live": is_crawling,
        "live_every": LIVE_EVERY,
        "bar_length": BAR_LENGTH,
    }
    return render(request, "clustering/sites/crawl_picture.html", context)


def _counts_by_state(site: Site) -> Counter[tuple[int, str]]:
    rows = site.pages.order_by().values_list("depth", "state").annotate(n=Count("pk"))
    return Counter({(depth, state): n for depth, state, n in rows})


def _levels(site: Site, counts: Mapping[tuple[int, str], int]) -> list[Level]:
    """Return the bars, each made of the clusters of its stored pages and the states of the others.

    All stored pages are counted as pages of no cluster first; those of clusters are taken
    from them then.
    """
    by_level: dict[int, Counter[tuple[int, str]]] = {}  # (order, word) -> pages
    for (depth, state), n_pages in counts.items():
        level = by_level.setdefault(min(depth, MAX_LEVELS), Counter())
        order = MAX_CLUSTERS + 1 + list(WORD_BY_STATE).index(Page.State(state))
        level[order, WORD_BY_STATE[Page.State(state)]] += n_pages
    in_none = (MAX_CLUSTERS + 1, WORD_BY_STATE[Page.State.STORED])
    for depth, order, word, n_pages in _clustered_pages(site):
        level = by_level[min(depth, MAX_LEVELS)]
        # A page that was stored once may be in another state now.
        n_moved = min(n_pages, level[in_none])
        level[order, word] += n_moved
        level[in_none] -= n_moved
    longest = max((level.total() for level in by_level.values()), default=1)
    return [
        Level(
            f"{depth} or more" if depth == MAX_LEVELS else str(depth),
            level.total(),
            _segments(level, longest),
        )
        for depth, level in sorted(by_level.items())
    ]


def _clustered_pages(site: Site) -> list[tuple[int, int, str, int]]:
    """Return how many stored pages a cluster has at each depth: depth, order, title, number."""
    current = Clustering.objects.current().defer("model").filter(site=site).first()
    if current is None:
        return []
    numbers = mark_numbers(current)
    rows = (
        PageMembership.objects.filter(
            clustering=current, cluster__isnull=False, page__state=Page.State.STORED
        )
        .order_by()
        .values_list("page__depth", "cluster")
        .annotate(n=Count("pk"))
    )
    titles = Cluster.objects.in_bulk({cluster for _, cluster, _ in rows})
    clustered = []
    for depth, cluster, n_pages in rows:
        number = numbers.get(cluster, MAX_CLUSTERS)
        if number < MAX_CLUSTERS:
            clustered.append(
                (depth, number, titles[cluster].title or titles[cluster].name, n_pages)
            )
        else:
            clustered.append((depth, MAX_CLUSTERS, OTHER_CLUSTERS, n_pages))
    return clustered


def _segments(level: Mapping[tuple[int, str], int], longest: int) -> list[Segment]:
    segments = []
    start = 0.0
    for (order, word), n_pages in sorted(level.items()):
        if not n_pages:
            continue
        length = BAR_LENGTH * n_pages / longest
        number = order if order <= MAX_CLUSTERS else None
        tone = f"hue-{order}" if number is not None else f"of-state-{order - MAX_CLUSTERS - 1}"
        segments.append(Segment(word, number, tone, n_pages, round(start, 2), round(length, 2)))
        start += length
    return segments


def _legend(levels: list[Level]) -> list[Segment]:
    """Return each kind of segment once, with its pages at all depths."""
    n_by_kind: Counter[tuple[str, int | None, str]] = Counter()
    for level in levels:
        for segment in level.segments:
            n_by_kind[segment.word, segment.number, segment.tone] += segment.n_pages
    legend = [Segment(*kind, n_pages) for kind, n_pages in n_by_kind.items()]
    return sorted(legend, key=lambda entry: (entry.number is None, entry.number or 0, entry.tone))


def _reasons(site: Site, crawl: Job | None) -> list[Reason]:
    """Return why pages were not fetched, the most frequent first; what is still due comes last."""
    rows = (
        site.pages.filter(state__in=NOT_FETCHED)
        .order_by()
        .values_list("state", "status")
        .annotate(n=Count("pk"), example=Max("reason"))
    )
    reasons = [
        Reason(Page.State(state), f"answers {status}" if status else "", n_pages, example)
        for state, status, n_pages, example in rows
    ]
    reasons.sort(key=lambda reason: -reason.n_pages)
    n_due = site.pages.filter(state=Page.State.DUE).count()
    if n_due:
        reasons.append(Reason(Page.State.DUE, "", n_due, _why_due(crawl)))
    return reasons


def _why_due(crawl: Job | None) -> str:
    if crawl is not None and not crawl.is_finished:
        return "wait for their turn in the crawl that goes on"
    limit = Refusal.objects.filter(job=crawl, code="max_pages").first() if crawl else None
    return limit.reason if limit else "were found, and no crawl has asked for them yet"


def _codes_of(crawl: Job | None) -> list[dict[str, Any]]:
    """Return what the last crawl did not take, by word, with an example."""
    if crawl is None:
        return []
    codes = crawl.refusals.order_by().values("code").annotate(n=Count("pk"), example=Max("reason"))
    return [dict(code) for code in codes.order_by("-n", "code")]
