"""Doubts as pages show them: one at a time, with pictures of both sides, and the given answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.http import HttpRequest, QueryDict

from clustering.algorithms.doubts import Reasons, split_reasons
from clustering.models import Cluster, ClusterAnswer, ClusterDoubt, Clustering, Page, PageMembership
from clustering.services.clusters.cluster_answers import holding_answers
from clustering.services.clusters.doubts import unfollowed_answers, unsettled_doubts
from clustering.services.pages.page_titles import read_titles
from clustering.views.clusters.cluster_rows import work_on
from vertex.core.models import Role, Site
from vertex.core.views.access import user_of

N_EXAMPLES = 3  # pages of each side on a card
N_PAGES = 24  # of each side where both sets are shown
NEAREST_PERCENT, FARTHEST_PERCENT = 1, 99
# In the address: the doubt that is put off, and the one that is being looked at.
PAST, AT = "past", "at"


class ExamplePage(NamedTuple):
    """A page of a side of a doubt."""

    page: Page
    title: str


class DoubtSide(NamedTuple):
    """One of the two sets of pages of a doubt."""

    name: str  # a letter
    n_pages: int
    examples: list[ExamplePage]  # the most typical first
    cluster: Cluster | None  # in which the most typical one is


class ShownDoubt(NamedTuple):
    """A doubt with what a person decides by."""

    doubt: ClusterDoubt
    sides: list[DoubtSide]
    percent: str
    reasons: Reasons


class AnswerRow(NamedTuple):
    """An answer of a list, with the URLs that it shows and whether it holds."""

    answer: ClusterAnswer
    left: str
    right: str
    is_overruled: bool  # by a newer answer


def doubt_card(request: HttpRequest, site: Site, clustering: Clustering | None) -> dict[str, Any]:
    """Return what the card “Are these one?” shows: the next doubt, and where the buttons lead.

    The doubt that is being looked at stays in sight as long as it is open, so that no key decides
    another one than the person sees.
    """
    if clustering is None:
        return {"card": None}
    doubts = unsettled_doubts(site)
    n_unfollowed = unfollowed_answers(clustering)
    if not doubts and not n_unfollowed and not has_doubts(clustering):
        return {"card": None}
    past, at = request.GET.get(PAST, ""), request.GET.get(AT, "")
    waiting = _doubts_after(doubts, past)
    is_gone = bool(at) and at not in {doubt.doubt for doubt in doubts}
    shown = next((doubt for doubt in doubts if doubt.doubt == at), None)
    if shown is None and not is_gone:
        shown = next(iter(waiting), None)
    job = work_on(site)
    return {
        "card": {
            "shown": _shown(shown, N_EXAMPLES) if shown else None,
            "is_gone": is_gone,
            "n_doubts": len(doubts),
            "n_unfollowed": n_unfollowed,
            "has_answers": ClusterAnswer.objects.filter(site=site).exists(),
            "job": job,
            "can_answer": user_of(request).has_role(Role.EDITOR, site),
            "here": _address(request, **{PAST: past}),
            "begin": _address(request),
            "later": _address(request, **{PAST: shown.doubt}) if shown else "",
            "stay": _address(request, **{PAST: past, AT: shown.doubt if shown else at}),
            "is_live": job is not None and job.task == "clustering.cluster_site",
        }
    }


def both_sides(doubt: ClusterDoubt) -> ShownDoubt:
    """Return a doubt with many pages of both sides."""
    return _shown(doubt, N_PAGES)


def has_doubts(clustering: Clustering) -> bool:
    """Return whether a clustering says what it is not sure of, or did so before people answered."""
    answers = ClusterAnswer.objects.filter(site=clustering.site_id, algorithm=clustering.algorithm)
    return clustering.doubts.exists() or answers.exists()


def answer_rows(site: Site, answers: Iterable[ClusterAnswer]) -> list[AnswerRow]:
    """Return answers as rows."""
    holding = {answer.pk for answer in holding_answers(site)}
    return [
        AnswerRow(
            answer=answer,
            left=answer.left[0],
            right=answer.right[0],
            is_overruled=answer.undone_at is None and answer.pk not in holding,
        )
        for answer in answers
    ]


def _doubts_after(doubts: Sequence[ClusterDoubt], past: str) -> Sequence[ClusterDoubt]:
    """Return the doubts that follow the one that was put off; all where it is not there."""
    for position, doubt in enumerate(doubts):
        if doubt.doubt == past:
            return doubts[position + 1 :]
    return doubts


def _shown(doubt: ClusterDoubt, n_examples: int) -> ShownDoubt:
    percent = min(FARTHEST_PERCENT, max(NEAREST_PERCENT, round(100 * doubt.probability)))
    return ShownDoubt(
        doubt=doubt,
        sides=[
            _side("A", doubt.left, doubt.n_left, n_examples),
            _side("B", doubt.right, doubt.n_right, n_examples),
        ],
        percent=f"{percent} %",
        reasons=split_reasons(doubt.why),
    )


def _side(name: str, pks: Sequence[int], n_pages: int, n_examples: int) -> DoubtSide:
    page_by_pk = Page.objects.select_related("latest_snapshot").in_bulk(pks)
    pages = [page_by_pk[pk] for pk in pks if pk in page_by_pk][:n_examples]
    titles = read_titles(pages)
    cluster = PageMembership.objects.current().cluster_of(pages[0].pk) if pages else None
    examples = [ExamplePage(page, titles.get(page.pk, "")) for page in pages]
    return DoubtSide(name, n_pages, examples, cluster)


def _address(request: HttpRequest, **parameters: str) -> str:
    """Return the address of the page that is shown, with these parameters of the card."""
    query: QueryDict = request.GET.copy()
    for name in (PAST, AT):
        query.pop(name, None)
    for name, value in parameters.items():
        if value:
            query[name] = value
    return f"{request.path}?{query.urlencode()}" if query else request.path
