"""What is known of a cluster's pages."""

from __future__ import annotations

from clustering.algorithms.titles.cluster_pages import MAX_ADDRESSES, MAX_PAGES, ClusterPages
from clustering.algorithms.titles.page_kinds import PageKind

ENGLISH, GERMAN = PageKind(language="en"), PageKind(language="de")


def test_a_large_cluster_is_known_by_some_pages_and_all_addresses() -> None:
    urls = [f"http://a.b/{n}" for n in range(100_000)]
    cluster = ClusterPages(urls, titles=["x"] * 100, labels=[["y"]] * 100)

    assert MAX_PAGES == len(cluster.some().titles) == len(cluster.some().labels)
    assert urls == cluster.some().urls
    assert MAX_ADDRESSES >= len(cluster.some_urls()) > MAX_ADDRESSES // 2
    assert urls[0] == cluster.some_urls()[0]


def test_plurals_become_singular_where_most_pages_are_english() -> None:
    assert "box score" == ClusterPages([], kinds=[ENGLISH, ENGLISH, GERMAN]).in_singular(
        "box scores"
    )
    assert "kurs" == ClusterPages([], kinds=[ENGLISH, GERMAN]).in_singular("kurs")
    assert "kurses" == ClusterPages([]).in_singular("kurses")
    assert "" == ClusterPages([], kinds=[ENGLISH]).in_singular("")
