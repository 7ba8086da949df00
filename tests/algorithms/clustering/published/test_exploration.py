"""The steps of Compute-Model: which links are followed, and when there is enough."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet

import pytest

from clustering.algorithms.published.exploration import NoMoreVisits
from clustering.algorithms.published.link_queue import Strategy
from clustering.algorithms.published.page_classes import PageLinks
from clustering.algorithms.published.site_model import SiteModel, explore, finish

HOME = "https://a.example/"


def site(kinds: dict[str, int], hidden: AbstractSet[str] = frozenset()) -> dict[str, PageLinks]:
    """Make a home page with a list of links for each kind, and pages of the kinds.

    Pages that are `hidden` stand in the list of their kind and have another template.
    """
    lists = {
        f"/{kind}": [f"{HOME}{kind}/{kind}-{n}" for n in range(size)]
        for kind, size in kinds.items()
    }
    pages = {HOME: PageLinks(HOME, lists)}
    for path, urls in lists.items():
        for url in urls:
            template = "other" if url in hidden else path
            pages[url] = PageLinks(url, {f"{template}/{n}": [HOME] for n in range(5)})
    return pages


def explored(
    pages: dict[str, PageLinks], visit: Callable[[str], PageLinks | None] | None = None
) -> SiteModel:
    return finish(explore([HOME], visit or pages.get, lambda url: url.startswith(HOME)))


def test_two_pages_of_a_small_collection_are_enough() -> None:
    assert {1, 2} == {len(C.pages) for C in explored(site({"a": 20, "b": 15})).classes}


def test_of_a_large_collection_more_are_followed_in_the_end() -> None:
    model = explored(site({"a": 20, "b": 100}))

    assert [1, 2, 10] == sorted(len(C.pages) for C in model.classes)


def test_another_template_among_many_pages_is_found() -> None:
    hidden = {f"{HOME}b/b-{n}" for n in range(0, 100, 7)}

    assert len(explored(site({"b": 100})).classes) + 1 == len(
        explored(site({"b": 100}, hidden)).classes
    )


def test_a_link_that_was_passed_over_in_one_collection_is_not_followed_from_another() -> None:
    menu = [f"{HOME}m/{n}" for n in range(9)]
    pages = {url: PageLinks(url, {f"/{url[-1]}/nav": menu}) for url in [*menu, HOME]}
    model = explored(pages)

    assert 3 >= model.n_fetched - 1


def test_whoever_visits_may_end_the_exploration() -> None:
    pages = site({"a": 20, "b": 100})
    visited: list[str] = []

    def visit(url: str) -> PageLinks | None:
        if len(visited) == 4:
            raise NoMoreVisits
        visited.append(url)
        return pages.get(url)

    model = explored(pages, visit)

    assert (4, "limit") == (model.n_fetched, model.stopped)
    assert visited == [page.url for C in model.classes for page in C.pages]


def test_without_a_limit_the_exploration_ends_with_an_empty_queue() -> None:
    assert "empty" == explored(site({"a": 20, "b": 100})).stopped


@pytest.mark.parametrize("n_pages", [0, 1])
def test_a_site_of_hardly_anything_ends_well(n_pages: int) -> None:
    pages = {HOME: PageLinks(HOME, {})} if n_pages else {}

    assert n_pages == len(explored(pages).classes)


def museum() -> tuple[dict[str, PageLinks], dict[str, str]]:
    """Return the pages and types of a site of one program: only the query says what a page is."""
    objects, artists, rooms = range(160), range(40), range(12)
    menu = {
        "/div/menu/span": [view("visit", n) for n in range(5)]
        + [view("rooms"), view("artists"), HOME]
    }
    pages = {
        HOME: menu
        | {"/div/big": [view("object", n) for n in (3, 77, 120)], "/div/news": [view("loan", 1)]},
        view("rooms"): menu | {"/div/plan/b": [view("room", n) for n in rooms]},
        view("artists"): menu | {"/div/index/i": [view("artist", n) for n in artists]},
    }
    for n in range(5):
        pages[view("visit", n)] = menu | {"/div/text/p/u": [view("visit", (n + 1) % 5)]}
    for n in rooms:
        shown = [view("loan" if o % 8 == 1 else "object", o) for o in objects if o % 12 == n]
        pages[view("room", n)] = menu | {
            "/div/case/dl/dd": shown,
            "/div/doors": [view("room", (n + 1) % 12)],
        }
    for n in artists:
        pages[view("artist", n)] = menu | {
            "/div/works/dt": [view("object", o) for o in objects if o % 40 == n]
        }
    for o in objects:
        pages[view("object", o)] = menu | {
            "/div/maker": [view("artist", o % 40)],
            "/div/where": [view("room", o % 12)],
        }
        pages[view("loan", o)] = menu | {
            "/div/lender/a": [view("visit", 2)],
            "/div/where": [view("room", o % 12)],
        }
    pages = {
        url: links for url, links in pages.items() if "loan" not in url or url in linked(pages)
    }
    types = {url: url.partition("view=")[2].partition("&")[0] for url in pages}
    return {url: PageLinks(url, links) for url, links in pages.items()}, types


def linked(pages: dict[str, dict[str, list[str]]]) -> set[str]:
    return {url for links in pages.values() for urls in links.values() for url in urls}


def view(kind: str, number: int | None = None) -> str:
    return f"{HOME}index.php?view={kind}" + ("" if number is None else f"&id={number}")


@pytest.mark.parametrize("strategy", ["densest_first", "sparsest_first"])
def test_a_site_of_one_program_shows_its_types(strategy: Strategy) -> None:
    pages, types = museum()
    model = finish(explore([HOME], pages.get, lambda url: url.startswith(HOME), strategy=strategy))

    assert set(types.values()) == {types[page.url] for C in model.classes for page in C.pages}
    assert model.n_fetched <= 0.15 * len(pages)
