"""Settle the doubts of a clustering by people's answers, and cluster the site again to follow them.

An answer is a row; the clusters change when the site is clustered again, by a job. While one runs,
further answers may be given: when it ends, the site is clustered once more if it does not follow
all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.models import ClusterAnswer, ClusterDoubt, Clustering, Page, PageMembership
from clustering.services.clusters.cluster_answers import holding_answers
from clustering.services.clusters.clusterings import assignments, clustering_request
from clustering.services.clusters.current_clusterings import lock_clusters, locked_clustering
from vertex.core.models import Job, Site, User
from vertex.core.services.jobs.jobs import JobExists, JobRun, Work
from vertex.core.services.jobs.requests import JobRequest, enqueue
from vertex.core.services.people import audit

MAX_URLS = 10  # of each side, in a line
WORDS = {True: "one template made both", False: "two templates made them"}


class SettledDoubt(NamedTuple):
    """An answer that was stored, and what follows from it."""

    answer: ClusterAnswer
    overruled: Sequence[ClusterAnswer]  # earlier answers that it contradicts; they hold no more
    job: Job | None = None  # that clusters the site again


def settle_doubt(*, site: Site, doubt: str, is_same: bool, actor: User | None) -> SettledDoubt:
    """Store a person's answer to a doubt and start the job that clusters the site again.

    Raises ValidationError for a doubt that the current clustering does not have, and for one
    that is settled.
    """
    settled = store_answer(site=site, doubt=doubt, is_same=is_same, actor=actor)
    job = follow_answers(site=site, actor=actor)
    return SettledDoubt(settled.answer, settled.overruled, job)


def store_answer(*, site: Site, doubt: str, is_same: bool, actor: User | None) -> SettledDoubt:
    """Store a person's answer to a doubt of the current clustering; the clusters stay as they are.

    Where it contradicts earlier answers, it holds and they do not. Raises ValidationError as
    `settle_doubt` does.
    """
    with transaction.atomic():
        clustering = locked_clustering(site)
        _refuse_settled(site, doubt)
        settled_doubt = _find_doubt(clustering, doubt)
        url_by_page = dict(
            Page.objects.filter(pk__in=[*settled_doubt.left, *settled_doubt.right]).values_list(
                "pk", "url"
            )
        )
        left = [url_by_page[pk] for pk in settled_doubt.left if pk in url_by_page]
        right = [url_by_page[pk] for pk in settled_doubt.right if pk in url_by_page]
        if not left or not right:
            raise ValidationError(
                f"the pages of the doubt {doubt} are gone; cluster {site.name} again"
            )
        before = holding_answers(site)
        answer = ClusterAnswer.objects.create(
            site=site,
            doubt=doubt,
            left=left,
            right=right,
            n_left=settled_doubt.n_left,
            n_right=settled_doubt.n_right,
            is_same=is_same,
            algorithm=clustering.algorithm,
            probability=settled_doubt.probability,
            was_joined=settled_doubt.is_joined,
            given_by=actor,
        )
        overruled = _dropped(before, holding_answers(site))
        _record(actor, "doubt.settled", answer, {"overruled": [old.doubt for old in overruled]})
    return SettledDoubt(answer, overruled)


def undo_answer(*, answer: ClusterAnswer, actor: User | None) -> Job | None:
    """Undo an answer and start the job that clusters the site again, where that is needed.

    Answers that it overruled hold again. Raises ValidationError for one that is undone.
    """
    take_back_answer(answer=answer, actor=actor)
    return follow_answers(site=answer.site, actor=actor)


def take_back_answer(*, answer: ClusterAnswer, actor: User | None) -> None:
    """Undo an answer; the clusters stay as they are. Raises ValidationError for an undone one."""
    with transaction.atomic():
        lock_clusters(answer.site_id)
        rows = ClusterAnswer.objects.filter(pk=answer.pk, undone_at=None)
        if not rows.update(undone_at=timezone.now()):
            raise ValidationError("this answer is undone already")
        _record(actor, "doubt_answer.undone", answer, {})
    answer.refresh_from_db(fields=["undone_at"])


def redo_answer(*, answer: ClusterAnswer, actor: User | None) -> Job | None:
    """Redo an answer, at its old position in the order, and start the job that follows it.

    Raises ValidationError for one in force, and where the doubt has another answer.
    """
    with transaction.atomic():
        lock_clusters(answer.site_id)
        answer.refresh_from_db(fields=["undone_at"])
        if answer.undone_at is None:
            raise ValidationError("this answer is in force already")
        _refuse_settled(answer.site, answer.doubt)
        ClusterAnswer.objects.filter(pk=answer.pk).update(undone_at=None)
        _record(actor, "doubt_answer.redone", answer, {})
    answer.refresh_from_db(fields=["undone_at"])
    return follow_answers(site=answer.site, actor=actor)


def follow_answers(*, site: Site, actor: User | None) -> Job | None:
    """Start the job by which the site's clusters follow the answers; None where they do already.

    A job that clusters the site and is not finished is returned instead: when it ends, another one
    starts if it did not see all answers.
    """
    current = Clustering.objects.current().filter(site=site).without_model().first()
    if current is None or not unfollowed_answers(current):
        return None
    try:
        return enqueue(follow_request(site=site), actor=actor)
    except JobExists as unfinished:
        return unfinished.job


def follow_request(*, site: Site) -> JobRequest:
    """Describe the clustering of a site as its current one was made, to follow the answers.

    Raises ValidationError where the site has none, and where its algorithm is gone.
    """
    current = Clustering.objects.current().filter(site=site).without_model().first()
    if current is None or current.algorithm not in CLUSTERERS:
        raise ValidationError(f"{site.name} cannot be clustered as before; cluster the site anew")
    return clustering_request(
        site=site,
        algorithm=current.algorithm,
        n_sample=current.params.get("asked_sample"),
        parameters=current.parameters,
    )


def unfollowed_answers(clustering: Clustering) -> int:
    """Return how many answers were given or undone since a clustering was made.

    Zero for an algorithm that no answer was about: it has no doubts and follows no answers.
    """
    answers = ClusterAnswer.objects.filter(site=clustering.site_id)
    if not answers.filter(algorithm=clustering.algorithm).exists():
        return 0
    holding = {answer.pk for answer in holding_answers(clustering.site)}
    return len(holding ^ set(clustering.answers))


def with_answers(work: Work) -> Work:
    """Return work that clusters a site, then starts another job if it did not see all answers."""

    def work_and_follow(run: JobRun) -> dict[str, Any] | None:
        result = work(run)
        if run.job.site is not None:
            follow_answers(site=run.job.site, actor=run.job.created_by)
        return result

    return work_and_follow


def unsettled_doubts(site: Site) -> list[ClusterDoubt]:
    """Return the current clustering's doubts that nobody settled, most worth a look first.

    Those of whose pages a whole side is gone are left out.
    """
    doubts = list(ClusterDoubt.objects.current(site).unanswered())
    named = {pk for doubt in doubts for pk in (*doubt.left, *doubt.right)}
    there = set(Page.objects.filter(pk__in=named).values_list("pk", flat=True))
    return [
        doubt
        for doubt in doubts
        if not there.isdisjoint(doubt.left) and not there.isdisjoint(doubt.right)
    ]


def doubt_lines(site: Site, *, most: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield the doubts that nobody settled, or the first of them, as lines of results."""
    for doubt in unsettled_doubts(site)[:most]:
        yield {
            "doubt": doubt.doubt,
            "probability": doubt.probability,
            "joined": doubt.is_joined,
            "left": _urls_of(doubt.left),
            "right": _urls_of(doubt.right),
            "n_left": doubt.n_left,
            "n_right": doubt.n_right,
            "why": doubt.why,
        }


def clusters_by_url(site: Site) -> dict[str, str | None]:
    """Return each page's cluster name in the current clustering; None for a page in none."""
    rows = PageMembership.objects.filter(clustering__site=site, clustering__is_current=True)
    return dict(rows.values_list("page__given_url", "cluster__name").iterator(chunk_size=5_000))


def moved_pages(
    before: Mapping[str, str | None], clustering: Clustering
) -> Iterator[dict[str, str | None]]:
    """Yield the URL and the cluster of each page that is in another cluster than before."""
    for line in assignments(clustering):
        if before.get(line["url"]) != line["cluster"]:
            yield line


def sentence_of(answer: ClusterAnswer) -> str:
    """Return what an answer says, and who gave it when."""
    person = answer.given_by.username if answer.given_by else "a command"
    return f"{person} answered on {answer.given_at:%Y-%m-%d} that {WORDS[answer.is_same]}"


def _urls_of(pages: Sequence[int]) -> list[str]:
    """Return the URLs of the first pages that are still there, in their order."""
    url_by_page = dict(Page.objects.filter(pk__in=pages).values_list("pk", "given_url"))
    return [url_by_page[pk] for pk in pages if pk in url_by_page][:MAX_URLS]


def _find_doubt(clustering: Clustering, doubt: str) -> ClusterDoubt:
    """Return a doubt of the current clustering. Raises ValidationError."""
    row = ClusterDoubt.objects.filter(clustering=clustering, doubt=doubt).first()
    if row is not None:
        return row
    site = clustering.site.name
    if ClusterDoubt.objects.filter(clustering__site=clustering.site_id, doubt=doubt).exists():
        raise ValidationError(
            f"the doubt {doubt} belongs to an earlier clustering of {site}; look at those of the "
            f"current one (cluster_doubts {site})"
        )
    raise ValidationError(
        f"{site} has no doubt {doubt!r}; look at those that it has (cluster_doubts {site})"
    )


def _refuse_settled(site: Site, doubt: str) -> None:
    """Raise ValidationError where an answer to a doubt is in force."""
    answers = ClusterAnswer.objects.not_undone().filter(site=site, doubt=doubt)
    answer = answers.select_related("given_by").first()
    if answer is not None:
        raise ValidationError(
            f"the doubt {doubt} is settled: {sentence_of(answer)}; "
            "undo that answer to give another one"
        )


def _dropped(
    before: Sequence[ClusterAnswer], after: Sequence[ClusterAnswer]
) -> list[ClusterAnswer]:
    holding = {answer.pk for answer in after}
    return [answer for answer in before if answer.pk not in holding]


def _record(
    actor: User | None, action: str, answer: ClusterAnswer, detail: Mapping[str, object]
) -> None:
    audit.record(
        actor=actor,
        action=action,
        subject=answer.doubt,
        site=answer.site,
        detail={
            "is_same": answer.is_same,
            "left": answer.left[0],
            "right": answer.right[0],
            "pages": answer.n_left + answer.n_right,
            **detail,
        },
    )
