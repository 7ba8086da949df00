"""Names of clusters for people."""

from __future__ import annotations

import re

import pytest

from clustering.algorithms.grouping import RawPage
from clustering.algorithms.page_features import observe
from clustering.algorithms.titles import (
    LONGEST_SLUG,
    MAX_TITLE,
    ClusterName,
    ClusterPages,
    cluster_pages_of,
    name_clusters,
    title_clusters,
)


def urls(pattern: str, n: int = 3) -> list[str]:
    return [f"http://a.b/{pattern.format(word)}" for word in ("oak", "elm", "ash", "yew", "fir")[:n]]


@pytest.mark.parametrize(
    ("pages", "title"),
    [
        (ClusterPages(["http://a.b/"]), "Home"),
        (ClusterPages(["http://a.b/index.html"]), "Home"),
        (ClusterPages(urls("thread/{}"), headings=["x", "y", "z"]), "Thread"),
        (ClusterPages(urls("p/{}/reviews")), "Reviews"),
        (ClusterPages(urls("listing.asp?id={}")), "Listing"),
        (ClusterPages(urls("index.php?mod=article&id={}")), "Article"),
        (ClusterPages(urls("p/{}"), headings=["Sorry, gone"] * 3), "Sorry, gone"),
        (ClusterPages(urls("p/{}"), headings=["Oak", "Elm", "Ash"]), "Like “Oak”"),
        (ClusterPages(["http://a.b/p/imprint"], headings=["Imprint¶"]), "Imprint"),
        (ClusterPages(urls("page.php?id={}"), titles=["Oak tree facts", "Elm tree facts"]), "Tree facts"),
        (ClusterPages(urls("{}")), "Pages"),
    ],
)
def test_a_cluster_is_called_after_what_is_there(pages: ClusterPages, title: str) -> None:
    assert [title] == title_clusters([pages])


def test_words_of_all_titles_of_the_site_name_nothing() -> None:
    first = ClusterPages(urls("p?id={}"), titles=["Oak - My site", "Elm - My site", "Ash - My site"])
    second = ClusterPages(urls("q?id={}"), titles=["Tom - My site", "Ann - My site", "Joe - My site"])

    assert ["Like “Oak - My site”", "Like “Tom - My site”"] == title_clusters([first, second])


def test_near_twins_are_told_apart_by_a_label_of_their_own() -> None:
    threads = ClusterPages(urls("thread/{}", 5), labels=[["Reply"]] * 5)
    polls = ClusterPages(urls("thread/{}", 3), labels=[["Reply", "Poll"]] * 3)

    assert ["Thread: Poll", "Thread"] == title_clusters([polls, threads])


def test_others_of_one_name_are_numbered() -> None:
    clusters = [ClusterPages(urls("thread/{}", n)) for n in (3, 5, 4)]

    assert ["Thread 3", "Thread", "Thread 2"] == title_clusters(clusters)


def test_no_title_is_longer_than_people_read() -> None:
    (title,) = title_clusters([ClusterPages(["http://a.b/p/q"], headings=["long " * 100])])

    assert len(title) <= MAX_TITLE


def test_nothing_has_no_titles() -> None:
    assert title_clusters([]) == []
    assert title_clusters([ClusterPages([])]) == ["Pages"]


class TestNames:
    def test_a_name_is_a_title_and_a_slug(self) -> None:
        pages = ClusterPages(urls("p/{}"), headings=["Über uns: Öffnungszeiten"] * 3)

        assert [ClusterName("Über uns: Öffnungszeiten", "uber-uns-offnungszeiten")] == name_clusters([pages])

    def test_no_two_slugs_are_the_same_and_none_is_taken(self) -> None:
        clusters = [ClusterPages(urls("thread/{}", n)) for n in (3, 5)]

        assert ["thread-2", "thread-3"] == [name.slug for name in name_clusters(clusters, {"thread"})]

    @pytest.mark.parametrize("heading", ["値段", "!!", "long " * 100])
    def test_every_title_has_a_slug(self, heading: str) -> None:
        clusters = [ClusterPages(urls("p/{}"), headings=[heading] * 3) for _ in range(12)]
        slugs = {name.slug for name in name_clusters(clusters)}

        assert len(slugs) == 12
        assert all(re.fullmatch(r"[a-z0-9][a-z0-9-]*", slug) and len(slug) <= LONGEST_SLUG for slug in slugs)

    def test_observations_tell_the_name(self) -> None:
        page = observe(RawPage("http://a.b/p/1", b"<title>One</title><h1>Opening hours</h1><b>Monday:</b>"))
        pages = cluster_pages_of(["http://a.b/p/1"], [page])

        assert (["One"], ["Opening hours"]) == (pages.titles, pages.headings)
        assert "Monday" in pages.labels[0]
        assert name_clusters([pages])[0].title == "Opening hours"
