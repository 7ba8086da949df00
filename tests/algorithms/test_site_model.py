"""Compute-Model: schemas, costs, candidates, the exploration of a site."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.algorithms.grouping import Evidence, RawPage, SiteLink
from clustering.algorithms.site_model import (
    Candidate,
    Collection,
    Observation,
    PageClass,
    PageLinks,
    Progress,
    SiteModel,
    Strategy,
    _Queue,
    assign,
    classify,
    cluster_pages,
    compute_model,
    dist,
    enc,
    find_collections,
    finish,
    is_heterogeneous,
    mdl,
    mdl_of_best_update,
    observe,
    schema_cost,
    select_candidates,
    spread,
    update_model,
)
from clustering.dom.page import parse_page
from tests import sites

HOME = "https://a.example/"


def page(url: str, collections: Mapping[str, Sequence[str]]) -> PageLinks:
    return PageLinks(url, collections)


def with_schema(url: str, paths: str) -> PageLinks:
    return page(url, {path: [f"u{path}"] for path in paths})


def class_of(number: int, *pages: PageLinks) -> PageClass:
    C = PageClass(number)
    C.add(pages)
    return C


def candidate(*pages: PageLinks) -> Candidate:
    return Candidate(list(pages), frozenset().union(*(p.schema for p in pages)))


def popped(queue: _Queue) -> list[str]:
    paths: list[str] = []
    while lc := queue.pop():
        paths.append(lc.path)
    return paths


class TestPaper:
    def test_the_schemas_of_figure_3(self) -> None:
        tree = parse_page(
            b"<html><table><tr><td><a href=/b3>1</a></td><td><a href=/b4>2</a><a href=/b2>3</a></td></tr></table>"
            b"<b><a href=/b1>4</a></b><ul><li><a href=/c2>5</a></li></ul></html>"
        ).tree
        assert tree is not None
        collections = find_collections(tree, HOME)

        assert {
            "/html/body/table/tr/td/a": [f"{HOME}b3", f"{HOME}b4", f"{HOME}b2"],
            "/html/body/b/a": [f"{HOME}b1"],
            "/html/body/ul/li/a": [f"{HOME}c2"],
        } == collections

    def test_the_schema_of_a_class_is_the_union_of_its_pages_schemas(self) -> None:
        assert set("123") == class_of(1, with_schema("p1", "12"), with_schema("p2", "132")).schema

    def test_the_example_of_3_2(self) -> None:
        C_A = {"path1", "path2", "path3"}
        p = page(
            "p",
            {
                "path1": ["url11", "url12"],
                "path3": ["url31", "url32", "url33"],
                "path4": ["url41", "url43"],
            },
        )

        assert schema_cost(C_A) == 3.0
        assert enc(p, C_A) == pytest.approx(3 * 0.8 + 7 + 1 + 1)  # 3 c_i + 7 c_u + 1 c_p + 1 c_miss
        assert enc(p, C_A) == pytest.approx(11.4)

    def test_a_model_costs_its_schemas_and_its_pages(self) -> None:
        p1, p2 = with_schema("p1", "123"), with_schema("p2", "12")

        # 3 c_p + (3 c_i + 3 c_u) + (3 c_i + 2 c_u + 1 c_miss) against each page in a class of its own.
        assert mdl([(p1.schema, [p1, p2])]) == pytest.approx(3 + 5.4 + 5.4)
        assert mdl([(p1.schema, [p1]), (p2.schema, [p2])]) == pytest.approx(3 + 5.4 + 2 + 3.6)

    def test_a_candidate_is_merged_where_the_merged_model_is_cheaper(self) -> None:
        M = [class_of(1, with_schema("p1", "123")), class_of(2, with_schema("p2", "789"))]
        merged = update_model(M, candidate(with_schema("p3", "12")))

        # 13.8 merged, 14.0 apart (and the other class).
        assert (merged, len(M)) == (M[0], 2)

    def test_a_candidate_opens_a_class_where_that_is_cheaper(self) -> None:
        M = [class_of(1, with_schema("p1", "123"))]
        update_model(M, candidate(with_schema("p2", "145")))

        # 5 + 2 x (5 x 0.8 + 2) + 6 = 23 merged, 2 x (3 + 2.4 + 3) = 16.8 apart.
        assert [{"1", "2", "3"}, {"1", "4", "5"}] == [C.schema for C in M]

    def test_the_first_candidate_opens_a_class(self) -> None:
        M: list[PageClass] = []

        assert update_model(M, candidate(with_schema("p1", "1"))) is M[0]

    def test_the_distance_of_schemas(self) -> None:
        assert dist(set("1234"), set("1235")) == pytest.approx(2 / 5)
        assert (dist(set("12"), set("12")), dist(set("12"), set("34"))) == (0, 1)

    def test_small_groups_are_collapsed_into_large_ones_of_nearly_the_same_schema(self) -> None:
        players = [with_schema(f"p{n}", "123456") for n in range(4)]
        champion, team = with_schema("champion", "1234567"), with_schema("team", "89")
        S = select_candidates([champion, team, *players])

        assert [5, 1] == [len(C.pages) for C in S]
        assert S[0].schema == set("1234567")

    def test_menus_are_kept_apart_and_are_heterogeneous(self) -> None:
        menu = select_candidates([with_schema(str(n), str(n)) for n in range(5)])

        assert len(menu) == 5
        assert is_heterogeneous(menu)
        assert not is_heterogeneous(select_candidates([with_schema(str(n), "12") for n in range(5)]))
        assert not is_heterogeneous(select_candidates([with_schema("1", "1")]))

    @pytest.mark.parametrize(("strategy", "expected"), [("densest_first", "lmt"), ("sparsest_first", "tml")])
    def test_the_strategies_order_collections_by_their_share_of_the_links(
        self, strategy: Strategy, expected: str
    ) -> None:
        owner = class_of(1, page("a", {"m": list("12"), "l": list("345678"), "t": ["9"]}), page("b", {}))
        queue = _Queue(strategy)
        for path in owner.urls_by_path:
            queue.push(Collection(owner, path))

        assert list(expected) == popped(queue)

    def test_collections_of_singleton_classes_come_first(self) -> None:
        large = class_of(1, page("a", {"x": list("123456")}), page("b", {"x": []}))
        single = class_of(2, page("c", {"y": ["1"], "z": list("23456")}))
        queue = _Queue("densest_first")
        for lc in (Collection(large, "x"), Collection(single, "y"), Collection(single, "z")):
            queue.push(lc)

        assert list("zyx") == popped(queue)

    def test_a_class_that_is_no_longer_single_loses_its_place(self) -> None:
        grown, single = class_of(1, page("a", {"x": ["1"]})), class_of(2, page("c", {"y": ["1"]}))
        queue = _Queue("densest_first")
        queue.push(Collection(grown, "x"))
        queue.push(Collection(single, "y"))
        grown.add([page("b", {})])

        assert list("yx") == popped(queue)

    def test_a_page_goes_to_the_class_that_encodes_it_best(self) -> None:
        schemas = {"a": frozenset("123"), "b": frozenset("3456")}

        assert classify(with_schema("p", "124"), schemas) == "a"
        assert classify(with_schema("p", "456"), schemas) == "b"
        assert classify(with_schema("p", "1"), {}) is None


def test_pages_without_links_are_one_class() -> None:
    M = [class_of(1, with_schema("p1", "123")), class_of(2, with_schema("p2", ""))]

    assert update_model(M, candidate(with_schema("p3", ""))) is M[1]


SCHEMAS = st.text("abcdef", max_size=6)


@given(st.lists(SCHEMAS, max_size=12), SCHEMAS)
def test_the_fast_update_decides_as_the_whole_models_do(members: list[str], new: str) -> None:
    M: list[PageClass] = []
    for number, paths in enumerate(members):
        update_model(M, candidate(with_schema(str(number), paths)))
    C = candidate(with_schema("new", new))
    place, cost = mdl_of_best_update(M, C)
    chosen = update_model(M, C)

    assert cost == pytest.approx(mdl([(C_.schema, C_.pages) for C_ in M]))
    assert chosen is M[-1 if place is None else place]


def shop() -> dict[str, RawPage]:
    """Make a home page, three categories, thirty products, each product with a page of reviews."""
    bodies = {HOME: "<ul>" + "".join(f"<li><a href=/c/{c}>c</a></li>" for c in range(3)) + "</ul>"}
    for c in range(3):
        rows = "".join(f"<tr><td><a href=/p/{c}{p}>p</a></td></tr>" for p in range(10))
        bodies[f"{HOME}c/{c}"] = f"<p><a href=/>home</a></p><table>{rows}</table>"
        for p in range(10):
            bodies[f"{HOME}p/{c}{p}"] = f"<p><a href=/c/{c}>up</a></p><b><a href=/r/{c}{p}>reviews</a></b>"
            bodies[f"{HOME}r/{c}{p}"] = f"<i><a href=/p/{c}{p}>back</a></i><h6><a href=/>home</a></h6>"
    return {url: RawPage(url, f"<html><body>{body}</body></html>".encode()) for url, body in bodies.items()}


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
    asked: list[str] = []
    pages = shop()
    model = finish(compute_model([HOME], noting(asked, pages), max_pages=5))

    assert (len(asked), model.n_fetched, model.stopped) == (5, 5, "limit")


def test_no_page_is_asked_for_twice_and_none_outside() -> None:
    asked: list[str] = []
    pages = shop() | {
        HOME: RawPage(HOME, b"<a href=/c/0>1</a><a href=https://b.example/>2</a><a href=/gone>3</a>")
    }
    model = finish(compute_model([HOME], noting(asked, pages)))

    assert len(asked) == len(set(asked)) == model.n_fetched
    assert all(url.startswith(HOME) for url in asked)
    assert f"{HOME}gone" in asked


def test_a_redirect_to_a_known_page_does_not_count_as_a_page() -> None:
    home = RawPage(HOME, b"<p><a href=/one>1</a></p><b><a href=/two>2</a></b>")
    one = RawPage(f"{HOME}one", b"<i>1</i>")
    model = finish(compute_model([HOME], {HOME: home, f"{HOME}one": one, f"{HOME}two": one}.get))

    assert [HOME, f"{HOME}one"] == [p.url for C in model.classes for p in C.pages]
    assert {1, 2} == {target for _, target, _, _ in model.class_links()} | {1}


def test_past_the_peak_the_exploration_may_stop() -> None:
    whole = finish(compute_model([HOME], shop().get))
    part = finish(compute_model([HOME], shop().get, stop="peak"))

    assert part.n_fetched <= whole.n_fetched
    assert whole.n_fetched_at_peak <= whole.n_fetched


def test_a_menu_on_every_page_is_followed_once() -> None:
    menu = "<nav>" + "".join(f"<a href=/m{n}/x>m</a>" for n in range(30)) + "</nav>"
    pages = {
        url: RawPage(url, p.body.replace(b"<body>", f"<body>{menu}".encode())) for url, p in shop().items()
    }
    pages |= {
        f"{HOME}m{n}/x": RawPage(f"{HOME}m{n}/x", f"<html><body>{menu}</body></html>".encode())
        for n in range(30)
    }
    model = finish(compute_model([HOME], pages.get))

    assert sum(kind(p.url) == "m" for C in model.classes for p in C.pages) <= 6


def test_numbered_ids_are_one_path() -> None:
    tree = parse_page(b"<p id=item-12><a href=/a>1</a></p><p id=item-7><a href=/b>2</a></p>").tree
    assert tree is not None

    assert ["/html/body/p[@id='item-0']/a"] == list(find_collections(tree, HOME))


def test_stored_pages_without_links_to_each_other_are_taken_from_every_folder() -> None:
    folders = {"a": b"<b>", "b": b"<p>", "c": b"<i>"}
    urls = [f"{HOME}{folder}/{n}" for folder in folders for n in range(40)]
    pages = {url: RawPage(url, folders[kind(url)] + b"<a href=https://b.example/>x</a>") for url in urls}

    assert 3 == len(cluster_pages(*stored(pages), Evidence()).groups)


def test_spread_takes_the_first_and_the_last() -> None:
    assert ["0", "9"] == spread("0123456789", 2)
    assert ["0"] == spread("0123456789", 1)
    assert ["0", "1"] == spread("01", 5)


def stored(pages: dict[str, RawPage]) -> tuple[list[str], list[Observation]]:
    return list(pages), [observe(p) for p in pages.values()]


def test_stored_pages_are_explored_and_the_rest_is_classified() -> None:
    urls, observations = stored(shop())
    grouping = cluster_pages(urls, observations, Evidence())

    assert [{"p"}, {"r"}, {"c"}, {""}] == [
        {kind(urls[m]) for m in group.members} for group in grouping.groups
    ]
    assert grouping.model["n_fetched"] < len(urls) / 2
    assert grouping.labels(len(urls)) == [assign(grouping.model, o, "") for o in observations]


def test_the_exploration_begins_where_the_crawl_began() -> None:
    urls, observations = stored(shop())
    begin = f"{HOME}c/1"
    grouping = cluster_pages(urls, observations, Evidence(links=[SiteLink(begin, "/a", HOME)]))

    assert begin in grouping.model["classes"][0]["members"]


def test_the_order_of_pages_does_not_matter() -> None:
    urls, observations = stored(shop())
    order = list(range(len(urls)))
    random.Random(6).shuffle(order)
    here = cluster_pages(urls, observations, Evidence()).labels(len(urls))
    there = cluster_pages([urls[i] for i in order], [observations[i] for i in order], Evidence())

    assert [here[i] for i in order] == there.labels(len(urls))


def test_pages_that_no_link_reaches_are_looked_at() -> None:
    pages = {
        f"{HOME}{n}": RawPage(f"{HOME}{n}", b"<%s><a href=/x%d>" % (b"bpi"[n % 3 : n % 3 + 1], n))
        for n in range(30)
    }
    urls, observations = stored(pages)
    grouping = cluster_pages(urls, observations, Evidence())

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
    urls, observations = stored({f"{HOME}{n}": RawPage(f"{HOME}{n}", body) for n, body in enumerate(bodies)})

    assert n_groups == len(cluster_pages(urls, observations, Evidence()).groups)


def test_a_thousand_templates_are_explored() -> None:
    pages = {
        f"{HOME}{n}": RawPage(
            f"{HOME}{n}", f"<x{n}><a href=/{n + 1}>a</a><y{n}><a href=/{n * 2}>b</a>".encode()
        )
        for n in range(1_000)
    }
    urls, observations = stored(pages)

    assert cluster_pages(urls, observations, Evidence()).unassigned == ()


@pytest.mark.parametrize("name", sites.NAMES)
def test_most_types_of_a_demo_site_are_found_in_a_part_of_it(name: str) -> None:
    site = sites.load(name)
    pages = {
        site.default_url + p.path: RawPage(site.default_url + p.path, p.body, p.content_type)
        for p in site.pages.values()
    }
    types = {site.default_url + p.path: p.type for p in site.pages.values()}
    model: SiteModel = finish(compute_model([f"{site.default_url}/"], pages.get))
    found = {types[p.url] for C in model.classes for p in C.pages}

    assert len(set(types.values()) - found) <= 1
    assert model.n_fetched <= 0.3 * len(pages)
