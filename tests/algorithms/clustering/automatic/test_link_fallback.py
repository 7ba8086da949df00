"""Where pages are linked from."""

from __future__ import annotations

from clustering.algorithms.automatic.link_fallback import inbound_places
from clustering.algorithms.grouping import SiteLink

LISTS = ["l0", "l1"]
PAGES = ["a", "b", "c", "d"]
GROUPS = {"l0": 0, "l1": 0, "a": 1, "b": 1, "c": 1, "d": 1}


def test_pages_linked_from_one_place_of_one_kind_of_page_share_it() -> None:
    links = [
        SiteLink("l0", "/html/body/ul/li[1]/a", "a"),
        SiteLink("l0", "/html/body/ul/li[7]/a", "b"),
        SiteLink("l1", "/html/body/ul/li[2]/a", "c"),
        SiteLink("a", "/html/body/p/a", "d"),
    ]

    places = inbound_places([*PAGES, *LISTS], links, GROUPS)

    assert places == ["0 /html/body/ul/li/a"] * 3 + ["1 /html/body/p/a", "", ""]


def test_of_several_places_the_commonest_counts() -> None:
    links = [
        SiteLink("l0", "/ul/a", "a"),
        SiteLink("l0", "/ul/a", "b"),
        SiteLink("b", "/p/a", "a"),
    ]

    assert "0 /ul/a" == inbound_places([*PAGES, *LISTS], links, GROUPS)[0]


def test_navigation_is_no_evidence() -> None:
    links = [SiteLink(source, "/nav/a", "a") for source in [*PAGES[1:], *LISTS]]

    assert set(inbound_places([*PAGES, *LISTS], links, GROUPS)) == {""}
    assert "0 /nav/a" in inbound_places([*PAGES, *LISTS], links[-1:], GROUPS)


def test_links_from_and_to_pages_unknown_and_to_the_page_itself_are_passed_over() -> None:
    links = [SiteLink("z", "/a", "a"), SiteLink("a", "/a", "z"), SiteLink("a", "/a", "a")]

    assert set(inbound_places(PAGES, links, GROUPS)) == {""}
