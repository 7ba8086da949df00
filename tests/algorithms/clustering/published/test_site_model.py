"""Compute-Model: schemas, costs, candidates, the exploration of a site."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence

import pytest

from clustering.algorithms.grouping import ClusteringInputs, RawPage, SiteLink
from clustering.algorithms.published.exploration import Progress
from clustering.algorithms.published.link_queue import Strategy
from clustering.algorithms.published.page_classes import (
    ClassCandidate,
    Observation,
    PageClass,
    PageLinks,
    observe,
)
from clustering.algorithms.published.site_model import (
    SiteModel,
    assign,
    cluster_pages,
    compute_model,
    explore,
    finish,
)
from vertex.demo import sites

HOME = "https://a.example/"


def page(url: str, collections: Mapping[str, Sequence[str]]) -> PageLinks:
    return PageLinks(url, collections)


def with_schema(url: str, paths: str) -> PageLinks:
    return page(url, {path: [f"u{path}"] for path in paths})


def class_of(number: int, *pages: PageLinks) -> PageClass:
    C = PageClass(number)
    C.add(pages)
    return C


def candidate(*pages: PageLinks) -> ClassCandidate:
    return ClassCandidate(list(pages), frozenset().union(*(p.schema for p in pages)))


def shop() -> dict[str, RawPage]:
    """Make a home page, three categories, thirty products, each product with a page of reviews."""
    bodies = {HOME: "<ul>" + "".join(f"<li><a href=/c/{c}>c</a></li>" for c in range(3)) + "</ul>"}
    for c in range(3):
        rows = "".join(f"<tr><td><a href=/p/{c}{p}>p</a></td></tr>" for p in range(10))
        bodies[f"{HOME}c/{c}"] = f"<p><a href=/>home</a></p><table>{rows}</table>"
        for p in range(10):
            bodies[f"{HOME}p/{c}{p}"] = (
                f"<p><a href=/c/{c}>up</a></p><b><a href=/r/{c}{p}>reviews</a></b>"
            )
            bodies[f"{HOME}r/{c}{p}"] = (
                f"<i><a href=/p/{c}{p}>back</a></i><h6><a href=/>home</a></h6>"
            )
    return {
        url: RawPage(url, f"<html><body>{body}</body></html>".encode())
        for url, body in bodies.items()
    }


def noting(asked: list[str], pages: Mapping[str, RawPage]) -> Callable[[str], RawPage | None]:
    def fetch(url: str) -> RawPage | None:
        asked.append(url)
        return pages.get(url)

    return fetch


def kind(url: str) -> str:
    return url.removeprefix(HOME)[:1]


@pytest.mark.parametrize("strategy", ["densest_first", "sparsest_first"])
def test_a_small_part_of_a_site_shows_its_classes(strategy: Strategy) -> None:
    pages = shop()
    model = finish(compute_model([HOME], pages.get, strategy=strategy))

    assert [{""}, {"c"}, {"p"}, {"r"}] == sorted(
        ({kind(p.url) for p in C.pages} for C in model.classes), key=max
    )
    assert model.n_fetched <= 16
    assert model.stopped == "empty"


def test_class_links_carry_the_path() -> None:
    model = finish(compute_model([HOME], shop().get)).as_json()
    name = {kind(C["members"][0]): C["name"] for C in model["classes"]}
    links = {(link["from"], link["to"]): link["path"] for link in model["links"]}

    assert links[name[""], name["c"]] == "/html/body/ul/li/a"
    assert links[name["c"], name["p"]] == "/html/body/table/tr/td/a"
    assert model == json.loads(json.dumps(model))


def test_progress_is_told_and_the_exploration_can_be_left() -> None:
    exploration = compute_model([HOME], shop().get)
    first, second = next(exploration), next(exploration)
    exploration.close()

    assert isinstance(first, Progress)
    assert first.n_fetched == 1 < second.n_fetched


def test_no_more_pages_are_asked_for_than_allowed() -> None:
    requested: list[str] = []
    pages = shop()
    model = finish(compute_model([HOME], noting(requested, pages), max_pages=5))

    assert (len(requested), model.n_fetched, model.stopped) == (5, 5, "limit")


def test_no_page_is_asked_for_twice_and_none_outside() -> None:
    requested: list[str] = []
    pages = shop() | {
        HOME: RawPage(
            HOME, b"<a href=/c/0>1</a><a href=https://b.example/>2</a><a href=/gone>3</a>"
        )
    }
    model = finish(compute_model([HOME], noting(requested, pages)))

    assert len(requested) == len(set(requested)) == model.n_fetched
    assert all(url.startswith(HOME) for url in requested)
    assert f"{HOME}gone" in requested


def test_a_redirect_to_a_known_page_does_not_count_as_a_page() -> None:
    home = RawPage(HOME, b"<p><a href=/one>1</a></p><b><a href=/two>2</a></b>")
    first = RawPage(f"{HOME}one", b"<i>1</i>")
    model = finish(
        compute_model([HOME], {HOME: home, f"{HOME}one": first, f"{HOME}two": first}.get)
    )

    assert [HOME, f"{HOME}one"] == [p.url for C in model.classes for p in C.pages]
    assert {1, 2} == {target for _, target, _, _ in model.class_links()} | {1}


def test_past_the_peak_the_exploration_may_stop() -> None:
    whole = finish(compute_model([HOME], shop().get))
    part = finish(compute_model([HOME], shop().get, stop="peak"))

    assert part.n_fetched <= whole.n_fetched
    assert whole.n_fetched_at_peak <= whole.n_fetched


def test_figure_5_can_be_run_as_it_is_printed() -> None:
    requested: list[str] = []
    pages = shop()
    observed = {url: observe(page) for url, page in pages.items()}
    stored_pages = {
        url: PageLinks(url, collections)
        for url, collections in observed.items()
        if collections is not None
    }

    def visit(url: str) -> PageLinks | None:
        requested.append(url)
        return stored_pages.get(url)

    finish(explore([HOME], visit, stored_pages.__contains__, n=2, skips_alike=False))
    first_of_home = [url for urls in stored_pages[HOME].collections.values() for url in urls[:2]]

    assert {HOME, *first_of_home} <= set(requested)
    assert len(requested) == len(set(requested))


def test_a_menu_on_every_page_is_followed_once() -> None:
    menu = "<nav>" + "".join(f"<a href=/m{n}/x>m</a>" for n in range(30)) + "</nav>"
    pages = {
        url: RawPage(url, p.body.replace(b"<body>", f"<body>{menu}".encode()))
        for url, p in shop().items()
    }
    pages |= {
        f"{HOME}m{n}/x": RawPage(f"{HOME}m{n}/x", f"<html><body>{menu}</body></html>".encode())
        for n in range(30)
    }
    model = finish(compute_model([HOME], pages.get))

    assert sum(kind(p.url) == "m" for C in model.classes for p in C.pages) <= 6


def test_stored_pages_without_links_to_each_other_are_taken_from_every_folder() -> None:
    folders = {"a": b"<b>", "b": b"<p>", "c": b"<i>"}
    urls = [f"{HOME}{folder}/{n}" for folder in folders for n in range(40)]
    pages = {
        url: RawPage(url, folders[kind(url)] + b"<a href=https://b.example/>x</a>") for url in urls
    }

    assert 3 == len(cluster_pages(*stored(pages), ClusteringInputs()).groups)


def stored(pages: dict[str, RawPage]) -> tuple[list[str], list[Observation]]:
    return list(pages), [observe(p) for p in pages.values()]


def test_stored_pages_are_explored_and_the_rest_is_classified() -> None:
    urls, observations = stored(shop())
    grouping = cluster_pages(urls, observations, ClusteringInputs())

    assert [{"p"}, {"r"}, {"c"}, {""}] == [
        {kind(urls[m]) for m in group.members} for group in grouping.groups
    ]
    assert grouping.model["n_fetched"] < len(urls) / 2
    assert grouping.labels(len(urls)) == [assign(grouping.model, o, "") for o in observations]


def test_pages_with_ids_of_their_own_are_one_class_and_so_are_later_ones() -> None:
    def page_of(name: str) -> RawPage:
        links = "".join(f"<li><a href='/{other}'>x</a>" for other in ("a", "b", "c", "d"))
        body = f"<html><body><ul>{links}</ul><div id='func-{name}'><a href='/src'>source</a></div>"
        return RawPage(f"http://a.example/{name}", body.encode())

    pages = {page.url: page for page in map(page_of, "abcdefgh")}
    urls, observations = stored(pages)
    grouping = cluster_pages(urls, observations, ClusteringInputs())
    later = page_of("z")

    assert 1 == len(grouping.groups)
    assert grouping.groups[0].name == assign(grouping.model, observe(later), later.url)
    assert ["html/body/div/a", "html/body/ul/li/a"] == [
        path.removeprefix("/") for path in grouping.model["classes"][0]["schema"]
    ]


def test_the_exploration_begins_where_the_crawl_began() -> None:
    urls, observations = stored(shop())
    begin = f"{HOME}c/1"
    grouping = cluster_pages(
        urls, observations, ClusteringInputs(links=[SiteLink(begin, "/a", HOME)])
    )

    assert begin in grouping.model["classes"][0]["members"]


def test_the_order_of_pages_does_not_matter() -> None:
    urls, observations = stored(shop())
    order = list(range(len(urls)))
    random.Random(6).shuffle(order)
    here = cluster_pages(urls, observations, ClusteringInputs()).labels(len(urls))
    there = cluster_pages(
        [urls[i] for i in order], [observations[i] for i in order], ClusteringInputs()
    )

    assert [here[i] for i in order] == there.labels(len(urls))


def test_pages_that_no_link_reaches_are_looked_at() -> None:
    pages = {
        f"{HOME}{n}": RawPage(f"{HOME}{n}", b"<%s><a href=/x%d>" % (b"bpi"[n % 3 : n % 3 + 1], n))
        for n in range(30)
    }
    urls, observations = stored(pages)
    grouping = cluster_pages(urls, observations, ClusteringInputs())

    assert sorted(tuple(range(start, 30, 3)) for start in range(3)) == sorted(
        tuple(g.members) for g in grouping.groups
    )


@pytest.mark.parametrize(
    ("bodies", "n_groups"),
    [
        ([], 0),
        ([b"<p>a"], 1),
        ([b""] * 5, 0),
        ([b"<a href=/x>"] * 50, 1),
        ([b"<p " + b"a" * 1_000_000 + b"><a href=/1>"], 1),
    ],
)
def test_hostile_sites_end_well(bodies: list[bytes], n_groups: int) -> None:
    urls, observations = stored(
        {f"{HOME}{n}": RawPage(f"{HOME}{n}", body) for n, body in enumerate(bodies)}
    )

    assert n_groups == len(cluster_pages(urls, observations, ClusteringInputs()).groups)


def test_a_thousand_templates_are_explored() -> None:
    pages = {
        f"{HOME}{n}": RawPage(
            f"{HOME}{n}", f"<x{n}><a href=/{n + 1}>a</a><y{n}><a href=/{n * 2}>b</a>".encode()
        )
        for n in range(1_000)
    }
    urls, observations = stored(pages)

    assert cluster_pages(urls, observations, ClusteringInputs()).unassigned == ()


@pytest.mark.parametrize("name", sites.NAMES)
def test_most_types_of_a_demo_site_are_found_in_a_part_of_it(name: str) -> None:
    site = sites.load(name)
    pages = {
        site.default_url + p.path: RawPage(site.default_url + p.path, p.body, p.content_type)
        for p in site.pages.values()
    }
    types = {site.default_url + p.path: p.type for p in site.pages.values()}
    model: SiteModel = finish(compute_model([f"{site.default_url}/"], pages.get))
    visited_types = {types[p.url] for C in model.classes for p in C.pages}

    assert len(set(types.values()) - visited_types) <= 2
    assert model.n_fetched <= 0.15 * len(pages)
