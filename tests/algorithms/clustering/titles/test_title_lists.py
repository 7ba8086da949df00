"""Lists on the pages of clusters."""

from __future__ import annotations

from clustering.algorithms.titles.cluster_pages import ClusterPages
from clustering.algorithms.titles.page_kinds import LinkList, PageKind
from clustering.algorithms.titles.title_lists import Lists

ROPES = [f"http://a.b/rope/{n}" for n in range(40)]
MENU = tuple(f"http://a.b/menu/{n}" for n in range(8))


def rope_list(number: int, *, share: float = 0.8) -> PageKind:
    return PageKind(lists=(LinkList(share, tuple(ROPES[number * 8 : number * 8 + 8])),))


def ropes() -> ClusterPages:
    return ClusterPages(ROPES, kinds=[PageKind()] * 20)


def lists(*kinds: PageKind) -> ClusterPages:
    return ClusterPages([f"http://a.b/c/{n}" for n in range(len(kinds))], kinds=kinds)


def test_links_that_vary_lead_somewhere() -> None:
    site = Lists([lists(*map(rope_list, range(5))), ropes()])

    assert 1 == site.main_target(0)
    assert site.main_target(1) is None


def test_a_list_of_a_small_share_is_what_is_related() -> None:
    few = lists(*(rope_list(n, share=0.2) for n in range(5)))

    assert Lists([few, ropes()]).main_target(0) is None


def test_links_that_all_pages_have_are_a_menu() -> None:
    menu = PageKind(lists=(LinkList(0.9, MENU),))
    site = Lists([lists(menu, menu, menu), ClusterPages(MENU, kinds=[PageKind()])])

    assert site.main_target(0) is None


def test_links_to_pages_of_the_same_cluster_and_out_of_the_site_lead_nowhere() -> None:
    kinds = list(map(rope_list, range(5)))

    assert Lists([ClusterPages(ROPES, kinds=kinds)]).main_target(0) is None
    assert Lists([lists(*kinds)]).main_target(0) is None
