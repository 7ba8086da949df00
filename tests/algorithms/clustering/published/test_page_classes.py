"""Page schemas and the cheapest classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.algorithms.published.page_classes import (
    ClassCandidate,
    PageClass,
    PageLinks,
    classify,
    common_ids,
    dist,
    enc,
    find_collections,
    is_heterogeneous,
    keep_ids,
    mdl,
    mdl_of_best_update,
    schema_cost,
    select_candidates,
    update_model,
)
from clustering.dom.page import parse_page

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

        # 3 c_p + (3 c_i + 3 c_u) + (3 c_i + 2 c_u + 1 c_miss) against each page in a class of
        # its own.
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
        assert not is_heterogeneous(
            select_candidates([with_schema(str(n), "12") for n in range(5)])
        )
        assert not is_heterogeneous(select_candidates([with_schema("1", "1")]))

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
    index, cost = mdl_of_best_update(M, C)
    owner = update_model(M, C)

    assert cost == pytest.approx(mdl([(C_.schema, C_.pages) for C_ in M]))
    assert owner is M[-1 if index is None else index]


def with_ids(*ids: str) -> dict[str, list[str]]:
    return {f"html/body/div[@id='{id_}'][@class='c']/a": [f"/{id_}"] for id_ in ids}


def test_an_id_of_few_pages_is_of_no_layout() -> None:
    pages = [with_ids("content", f"func-{chr(97 + n)}") for n in range(10)]
    ids = common_ids(pages)

    assert {"content"} == ids
    assert {
        "html/body/div[@id='content'][@class='c']/a": ["/content"],
        "html/body/div[@class='c']/a": ["/func-a"],
    } == keep_ids(pages[0], ids)


def test_an_id_counts_once_a_page_and_by_its_share_of_a_large_site() -> None:
    large_site = [with_ids("content") for _ in range(990)] + [with_ids("rare") for _ in range(9)]

    assert {"content"} == common_ids([*large_site, None])
    assert {"content", "rare"} == common_ids([*large_site, with_ids("rare")])


def test_paths_that_become_equal_are_one() -> None:
    assert {"html/body/div[@class='c']/a": ["/x", "/y"]} == keep_ids(with_ids("x", "y"), set())


def test_all_ids_of_a_site_of_one_page_stay() -> None:
    assert {"x", "O'Neil"} == common_ids([with_ids("x", "O'Neil")])


def test_numbered_ids_are_one_path() -> None:
    tree = parse_page(b"<p id=item-12><a href=/a>1</a></p><p id=item-7><a href=/b>2</a></p>").tree
    assert tree is not None

    assert ["/html/body/p[@id='item-0']/a"] == list(find_collections(tree, HOME))
