"""Doubts of a clustering: stored with it, settled by people, obeyed by every later clustering."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from typing import Any

import pytest
from django.conf import settings
from django.core.exceptions import ValidationError

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.grouping import Grouping
from clustering.models import ClusterAnswer, ClusterDoubt, Clustering, Page
from clustering.services.clusters import doubts
from clustering.services.clusters.cluster_answers import holding_answers
from clustering.services.clusters.clusterings import CLUSTER_SITE, clustering_request
from clustering.services.clusters.doubts import (
    redo_answer,
    settle_doubt,
    store_answer,
    undo_answer,
    unfollowed_answers,
    unsettled_doubts,
    with_answers,
)
from clustering.services.clusters.site_samples import sample_by_parts
from clustering.services.pages.stored_pages import stored_pages
from clustering.services.sites.site_export import export_request
from tests.apps.clustering.demo_sites import cluster, store
from tests.apps.clustering.doubting import (
    CLUSTERER,
    DOUBTING,
    WHY,
    cluster_again,
    doubtful_site,
    register_doubting,
)
from vertex.celery import app
from vertex.core.models import AuditEntry, Job, Site, User
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here, run_here

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.both_databases,
    pytest.mark.usefixtures("_doubting"),
]


@pytest.fixture
def _doubting(monkeypatch: pytest.MonkeyPatch) -> None:
    register_doubting(monkeypatch)


@pytest.fixture
def olga() -> User:
    user: User = User.objects.create_user("olga")
    return user


def doubt_names(site: Site) -> list[str]:
    return [doubt.doubt for doubt in unsettled_doubts(site)]


def words_by_cluster(site: Site) -> set[frozenset[str]]:
    """Return the first words of the addresses in each cluster."""
    words: dict[str | None, set[str]] = {}
    for url, name in doubts.clusters_by_url(site).items():
        words.setdefault(name, set()).add(url.split("/")[3])
    return {frozenset(group) for group in words.values()}


APART = {frozenset({"books"}), frozenset({"news"}), frozenset({"p"})}
BOOKS_WITH_NEWS = {frozenset({"books", "news"}), frozenset({"p"})}


class TestStoring:
    def test_the_doubts_of_a_run_stand_in_its_order(self) -> None:
        site = doubtful_site()

        first, second = ClusterDoubt.objects.current(site)
        assert ("books", "news") == (word_of(first.left), word_of(first.right))
        assert (3, 3, 0.42, False) == (
            first.n_left,
            first.n_right,
            first.probability,
            first.is_joined,
        )
        assert WHY == first.why
        assert ("news", "p") == (word_of(second.left), word_of(second.right))

    def test_the_same_doubt_has_the_same_name_in_the_next_clustering(self) -> None:
        site = doubtful_site()
        before = doubt_names(site)
        cluster(site, algorithm=DOUBTING)

        assert before == doubt_names(site)
        assert 4 == ClusterDoubt.objects.count()

    def test_of_large_sets_the_first_pages_are_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("clustering.services.clusters.clustering_store.MAX_PAGES_OF_DOUBT", 2)
        doubt = ClusterDoubt.objects.current(doubtful_site()).first()

        assert doubt is not None
        assert (2, 3) == (len(doubt.left), doubt.n_left)

    def test_an_algorithm_without_doubts_stores_none(self) -> None:
        site = doubtful_site()
        cluster(site, algorithm="common_paths")
        assert [] == doubt_names(site)


class TestSettling:
    def test_an_answer_is_kept_with_who_gave_it_and_a_job_follows_it(self, olga: User) -> None:
        site = doubtful_site()
        first, second = doubt_names(site)
        settled = settle_doubt(site=site, doubt=first, is_same=True, actor=olga)

        answer = settled.answer
        assert [f"{site.root_url}books/{n}" for n in range(3)] == sorted(answer.left)
        assert (True, 0.42, False, DOUBTING, olga) == (
            answer.is_same,
            answer.probability,
            answer.was_joined,
            answer.algorithm,
            answer.given_by,
        )
        assert [second] == doubt_names(site)
        assert settled.job is not None
        assert ("clustering.cluster_site", DOUBTING, olga) == (
            settled.job.task,
            settled.job.params["algorithm"],
            settled.job.created_by,
        )
        entry = AuditEntry.objects.get(action="doubt.settled")
        assert ("olga", first, site, True) == (
            entry.actor_name,
            entry.subject,
            entry.site,
            entry.detail["is_same"],
        )

    def test_the_clusters_follow_and_so_do_those_of_every_later_run(self) -> None:
        site = doubtful_site()
        assert APART == words_by_cluster(site)
        store_answer(site=site, doubt=doubt_names(site)[0], is_same=True, actor=None)
        clustering = cluster_again(site)

        assert BOOKS_WITH_NEWS == words_by_cluster(site)
        assert 0 == unfollowed_answers(clustering)
        assert 1 == clustering.evidence["answers"]
        cluster(site, algorithm=DOUBTING)
        assert BOOKS_WITH_NEWS == words_by_cluster(site)

    def test_the_site_is_clustered_as_it_was_before(self) -> None:
        site = doubtful_site()
        cluster(site, algorithm=DOUBTING, n_sample=8)
        settled = settle_doubt(site=site, doubt=doubt_names(site)[0], is_same=False, actor=None)

        assert settled.job is not None
        assert 8 == settled.job.params["n_sample"]

    def test_a_doubt_that_is_not_there_is_refused_with_the_way_out(self) -> None:
        site = doubtful_site()
        with pytest.raises(ValidationError, match=r"no doubt 'nothing'.*cluster_doubts shop"):
            store_answer(site=site, doubt="nothing", is_same=True, actor=None)
        assert not ClusterAnswer.objects.exists()

    def test_a_doubt_of_an_earlier_clustering_is_refused(self) -> None:
        site = doubtful_site()
        old = doubt_names(site)[0]
        store(site, [("books/new", b"<html><body><h1>New</h1></body></html>", "text/html")])
        cluster(site, algorithm=DOUBTING)

        with pytest.raises(ValidationError, match="belongs to an earlier clustering of shop"):
            store_answer(site=site, doubt=old, is_same=True, actor=None)

    def test_a_settled_doubt_is_refused_and_who_settled_it_is_said(self, olga: User) -> None:
        site = doubtful_site()
        name = doubt_names(site)[0]
        store_answer(site=site, doubt=name, is_same=True, actor=olga)

        with pytest.raises(ValidationError, match=r"olga answered on .* one template .* undo that"):
            store_answer(site=site, doubt=name, is_same=False, actor=None)
        assert 1 == ClusterAnswer.objects.count()

    def test_a_site_without_clusters_has_nothing_to_settle(self) -> None:
        site = doubtful_site()
        Clustering.objects.update(is_current=False)
        with pytest.raises(ValidationError, match="cluster the site first"):
            store_answer(site=site, doubt="any", is_same=True, actor=None)

    def test_of_two_that_contradict_the_newest_holds_and_it_is_said(self) -> None:
        site = doubtful_site()
        first = store_answer(site=site, doubt=doubt_names(site)[0], is_same=True, actor=None)
        assert [] == list(first.overruled)
        # Of the next clustering, another doubt about some of the same pages.
        store(site, [("books/new", b"<html><body><h1>New</h1></body></html>", "text/html")])
        ClusterAnswer.objects.filter(pk=first.answer.pk).update(undone_at=first.answer.given_at)
        cluster(site, algorithm=DOUBTING)
        ClusterAnswer.objects.update(undone_at=None)

        second = store_answer(site=site, doubt=doubt_names(site)[0], is_same=False, actor=None)
        assert [first.answer] == list(second.overruled)
        assert [second.answer] == holding_answers(site)
        assert [first.answer.doubt] == AuditEntry.objects.filter(action="doubt.settled").order_by(
            "-pk"
        )[0].detail["overruled"]
        undo_answer(answer=second.answer, actor=None)
        assert [first.answer] == holding_answers(site)


class TestUndoing:
    def test_the_clusters_are_as_before_and_the_doubt_is_back(self, olga: User) -> None:
        site = doubtful_site()
        before = doubt_names(site)
        answer = store_answer(site=site, doubt=before[0], is_same=True, actor=None).answer
        cluster_again(site)
        job = undo_answer(answer=answer, actor=olga)
        assert job is not None
        assert job.params["algorithm"] == DOUBTING
        run_here(doubts.follow_request(site=site))

        assert APART == words_by_cluster(site)
        assert before == doubt_names(site)
        assert "olga" == AuditEntry.objects.get(action="doubt_answer.undone").actor_name

    def test_twice_is_refused(self) -> None:
        site = doubtful_site()
        answer = store_answer(
            site=site, doubt=doubt_names(site)[0], is_same=True, actor=None
        ).answer
        undo_answer(answer=answer, actor=None)
        with pytest.raises(ValidationError, match="undone already"):
            undo_answer(answer=answer, actor=None)

    def test_an_undone_answer_can_be_given_again_or_redone(self) -> None:
        site = doubtful_site()
        name = doubt_names(site)[0]
        first = store_answer(site=site, doubt=name, is_same=True, actor=None).answer
        with pytest.raises(ValidationError, match="in force already"):
            redo_answer(answer=first, actor=None)
        undo_answer(answer=first, actor=None)
        second = store_answer(site=site, doubt=name, is_same=False, actor=None).answer
        with pytest.raises(ValidationError, match="is settled"):
            redo_answer(answer=first, actor=None)
        undo_answer(answer=second, actor=None)
        redo_answer(answer=first, actor=None)

        assert [first] == holding_answers(site)

    def test_of_an_answer_that_no_clustering_followed_yet_starts_no_job(self) -> None:
        site = doubtful_site()
        answer = store_answer(
            site=site, doubt=doubt_names(site)[0], is_same=True, actor=None
        ).answer
        assert undo_answer(answer=answer, actor=None) is None

    def test_under_an_algorithm_without_doubts_no_job_starts(self) -> None:
        site = doubtful_site()
        answer = store_answer(
            site=site, doubt=doubt_names(site)[0], is_same=True, actor=None
        ).answer
        cluster(site, algorithm="common_paths")
        assert undo_answer(answer=answer, actor=None) is None


class TestFollowing:
    def test_an_answer_given_during_a_run_is_followed_by_another_run(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site = doubtful_site()
        first, second = doubt_names(site)
        job = settle_doubt(site=site, doubt=first, is_same=False, actor=None).job
        assert job is not None
        jobs_of_second = []

        def answer_while_grouping(*given: Any) -> Grouping:
            monkeypatch.undo()
            register_doubting(monkeypatch)
            settled = settle_doubt(site=site, doubt=second, is_same=True, actor=None)
            jobs_of_second.append(settled.job)
            return CLUSTERER.cluster_pages(*given)

        slow = replace(CLUSTERER, cluster_pages=answer_while_grouping)
        monkeypatch.setitem(CLUSTERERS, DOUBTING, slow)
        done = run_job(job.pk, with_answers(CLUSTER_SITE.work))

        assert (Job.State.DONE, [job]) == (done.state, jobs_of_second)
        assert APART == words_by_cluster(site)
        another = Job.objects.unfinished().get(site=site, task="clustering.cluster_site")
        run_job(another.pk, with_answers(CLUSTER_SITE.work))
        assert {frozenset({"books"}), frozenset({"news", "p"})} == words_by_cluster(site)
        assert not Job.objects.unfinished().filter(task="clustering.cluster_site").exists()

    def test_a_worker_looks_for_answers_after_each_clustering(self) -> None:
        site = doubtful_site()
        store_answer(site=site, doubt=doubt_names(site)[0], is_same=True, actor=None)
        comparing = clustering_request(site=site, algorithm=DOUBTING, compare=True)
        job = create_here(comparing)
        app.loader.import_default_modules()
        app.tasks["clustering.cluster_site"](job.pk)

        again = Job.objects.unfinished().get(site=site, task="clustering.cluster_site")
        assert again.params["compare"] is False

    def test_an_unfinished_job_is_not_doubled(self) -> None:
        site = doubtful_site()
        first, second = doubt_names(site)
        job = settle_doubt(site=site, doubt=first, is_same=False, actor=None).job
        assert job == settle_doubt(site=site, doubt=second, is_same=False, actor=None).job

    def test_an_answer_survives_new_snapshots_and_pages_that_go(self) -> None:
        site = doubtful_site()
        store_answer(site=site, doubt=doubt_names(site)[0], is_same=True, actor=None)
        store(site, [("books/0", b"<html><body><h1>Changed</h1></body></html>", "text/html")])
        Page.objects.filter(url__endswith="books/1").delete()
        cluster_again(site)
        assert BOOKS_WITH_NEWS == words_by_cluster(site)

    def test_an_answer_without_pages_on_a_side_is_skipped(self) -> None:
        site = doubtful_site()
        store_answer(site=site, doubt=doubt_names(site)[0], is_same=True, actor=None)
        Page.objects.filter(url__contains="/books/").delete()
        clustering = cluster_again(site)

        assert {frozenset({"news"}), frozenset({"p"})} == words_by_cluster(site)
        assert (0, 0) == (clustering.evidence["answers"], unfollowed_answers(clustering))

    def test_pages_of_answers_are_always_in_the_sample(self) -> None:
        site = doubtful_site()
        pages = stored_pages(site)
        sampled = sample_by_parts(site, pages, 2)
        last = next(page for page in pages if page not in sampled)

        assert last == sample_by_parts(site, pages, 2, always={last.url})[0]

    def test_doubts_about_pages_that_are_gone_are_not_shown(self) -> None:
        site = doubtful_site()
        Page.objects.filter(url__contains="/books/").delete()
        assert 1 == len(doubt_names(site))


@pytest.mark.django_db(transaction=True)  # an export reads in a transaction of its own
def test_answers_are_exported_with_the_site() -> None:
    site = doubtful_site()
    store_answer(site=site, doubt=doubt_names(site)[0], is_same=True, actor=None)
    result = run_here(export_request(site=site)).result or {}

    with zipfile.ZipFile(settings.EXPORT_DIR / result["file"]) as archive:
        rows = archive.read("rows/clustering.clusteranswer.jsonl").splitlines()
        remaining = archive.read("rows/clustering.clusterdoubt.jsonl").splitlines()
    row: dict[str, Any] = json.loads(rows[0])
    assert (1, 2) == (len(rows), len(remaining))
    assert sorted(row["left"]) == [f"{site.root_url}books/{n}" for n in range(3)]


def word_of(pages: list[int]) -> str:
    """Return the first word of the addresses of some pages, which all have the same."""
    urls = Page.objects.filter(pk__in=pages).values_list("url", flat=True)
    (word,) = {url.split("/")[3] for url in urls}
    return word
