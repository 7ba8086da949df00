"""Names of clusters for people."""

from __future__ import annotations

import pytest

from clustering.algorithms.titles import MAX_TITLE, ClusterPages, title_clusters


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
