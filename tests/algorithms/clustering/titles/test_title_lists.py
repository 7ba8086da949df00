"""Lists on the pages of clusters."""

from __future__ import annotations

from clustering.algorithms.titles.cluster_pages import ClusterPages
from clustering.algorithms.titles.page_kinds import LinkList, PageKind
from clustering.algorithms.titles.schema_types import DeclaredType
from clustering.algorithms.titles.title_lists import Lists

ROPES = [f"http://a.b/rope/{n}" for n in range(40)]
MENU = tuple(f"http://a.b/menu/{n}" for n in range(8))


def rope_list(number: int, *, share: float = 0.8) -> PageKind:
    return PageKind(lists=(LinkList(share, tuple(ROPES[number * 8 : number * 8 + 8])),))


def ropes() -> ClusterPages:
    return ClusterPages(ROPES, kinds=[PageKind()] * 20)


def lists(*kinds: PageKind) -> ClusterPages:
    return ClusterPages([f"http://a.b/c/{n}" for n in range(len(kinds))], kinds=kinds)


def test_links_that_vary_make_a_list_that_leads_somewhere() -> None:
    site = Lists([lists(*map(rope_list, range(5))), ropes()])

    assert site.is_list(0)
    assert 1 == site.main_target(0)
    assert not site.is_list(1)
    assert site.main_target(1) is None


def test_a_list_of_a_small_share_is_what_is_related() -> None:
    assert not Lists([lists(*(rope_list(n, share=0.2) for n in range(5)))]).is_list(0)


def test_links_that_all_pages_have_are_a_menu() -> None:
    menu = PageKind(lists=(LinkList(0.9, MENU),))

    assert not Lists([lists(menu, menu, menu)]).is_list(0)


def test_links_to_pages_of_the_same_cluster_make_no_list() -> None:
    kinds = list(map(rope_list, range(5)))

    assert not Lists([ClusterPages(ROPES, kinds=kinds)]).is_list(0)


def test_what_pages_declare_decides() -> None:
    cards = PageKind(types=(DeclaredType("Recipe", 5),))
    thing = PageKind(types=(DeclaredType("Recipe", 1),), lists=rope_list(0).lists)

    assert Lists([lists(cards, cards)]).is_list(0)
    assert not Lists([lists(thing, thing, thing)]).is_list(0)


def test_lists_that_lead_out_of_the_site_have_no_target() -> None:
    site = Lists([lists(*map(rope_list, range(5)))])

    assert site.is_list(0)
    assert site.main_target(0) is None
