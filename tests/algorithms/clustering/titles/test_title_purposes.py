"""What pages are for."""

from __future__ import annotations

import pytest

from clustering.algorithms.titles.cluster_pages import ClusterPages
from clustering.algorithms.titles.title_purposes import is_home, purpose_of, root_of


def purpose(*paths: str, root: str = "http://a.b") -> str:
    cluster = ClusterPages([f"http://a.b{path}" for path in paths])
    return purpose_of(cluster, root)


@pytest.mark.parametrize("path", ["", "/", "/index.html", "/page/3/index.html", "/?page=3"])
def test_the_start_of_a_site_is_known(path: str) -> None:
    assert is_home(f"http://a.b{path}", "http://a.b")
    assert is_home(f"http://a.b/wiki{path}", "http://a.b/wiki")


@pytest.mark.parametrize("path", ["/?q=x", "/?p=3", "/p/3", "/x", "/page/x", "/x/index.html"])
def test_what_is_below_is_no_start(path: str) -> None:
    assert not is_home(f"http://a.b{path}", "http://a.b")


def test_a_site_below_a_folder_has_its_root_there() -> None:
    clusters = [ClusterPages(["http://a.b/wiki/x/1"]), ClusterPages(["http://a.b/wiki/y"])]

    assert "http://a.b/wiki" == root_of(clusters)
    assert "" == root_of([])


def test_pages_about_the_site_are_named_after_what_they_are() -> None:
    assert "Help, about, contact" == purpose("/help", "/help/2", "/about", "/contact", "/x")


def test_pages_of_one_such_word_and_of_few_are_none() -> None:
    assert "" == purpose("/help/1", "/help/2")
    assert "" == purpose("/about", "/contact", "/oak", "/elm", "/ash")
