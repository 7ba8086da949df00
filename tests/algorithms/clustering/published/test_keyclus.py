"""Two-step shingles, the whole algorithm, and pages that come later."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from clustering.algorithms.grouping import (
    Click,
    ClusteringInputs,
    EvidenceMissing,
    Grouping,
    RawPage,
)
from clustering.algorithms.measures import compare
from clustering.algorithms.published.attributed_paths import hash_step, hash_terms
from clustering.algorithms.published.keyclus import (
    CLUSTERER,
    PathProfile,
    assign,
    cluster_pages,
    count_queries,
    name_in_bytes,
    observe,
    two_step_shingle,
)
from vertex.demo import sites

ROOT = "http://shop.example"


def product(n: int, open_tab: str = "") -> RawPage:
    tabs = "".join(
        f"<li class={'on' if name == open_tab else 'off'}><a "
        f"href='/p/{n}?tab={name}'>{name}</a></li>"
        for name in ("Overview", "Reviews", "Specs")
    )
    reviews = "<ol class=reviews><li>nice</li></ol>" if n % 3 else ""
    body = f"<div class=product><h1>Thing word{n}</h1><p>made of steel {n}</p>{reviews}</div>"
    return RawPage(
        f"{ROOT}/p/{n}/{open_tab}", (body + f"<ul class=tabs>{tabs}</ul>" * bool(open_tab)).encode()
    )


def brand(n: int) -> RawPage:
    return RawPage(
        f"{ROOT}/b/{n}", f"<div class=brand><h2>Maker name{n}</h2><p>since {n}</p></div>".encode()
    )


def text_page(n: int) -> RawPage:
    return RawPage(f"{ROOT}/h/{n}", f"<article><p>how to return {n}</p></article>".encode())


SHOP = [*map(product, range(30)), *map(brand, range(10)), *map(text_page, range(5))]
LOG = [
    *(Click(f"thing word{n}", product(n).url, n + 1) for n in range(0, 30, 2)),
    *(Click(f"name{n} maker", brand(n).url) for n in range(0, 10, 2)),
]


def clustered(
    pages: Sequence[RawPage], clicks: Sequence[Click] = LOG, **parameters: Any
) -> Grouping:
    observations = [observe(page) for page in pages]
    return cluster_pages(
        [page.url for page in pages], observations, ClusteringInputs(clicks=clicks), **parameters
    )


def as_sets(grouping: Grouping, pages: Sequence[RawPage]) -> set[frozenset[str]]:
    return {frozenset(pages[member].url for member in group.members) for group in grouping.groups}


def path_hash(*steps: str) -> int:
    path = 0
    for step in steps:
        path = hash_step(path, step)
    return path


class TestPaper:
    A, B = (path_hash("html", "body", step) for step in ("h1", "p"))
    PAGE = observe(RawPage("/", b"<h1>a</h1><p>b</p><i>c</i>"))

    def test_a_shingle_takes_key_paths_first_and_by_rank(self) -> None:
        assert (self.B,) == two_step_shingle(
            self.PAGE, PathProfile({self.B: 0, self.A: 1}, (), k=1)
        )
        assert (self.B, self.A) == two_step_shingle(
            self.PAGE, PathProfile({self.A: 1, self.B: 0}, (), k=2)
        )

    def test_more_than_k_key_paths_leave_the_top_ranked_k(self) -> None:
        assert (self.A,) == two_step_shingle(
            self.PAGE, PathProfile({self.A: 0, self.B: 1}, (), k=1)
        )

    def test_fewer_than_k_key_paths_are_filled_up_by_min_hashing(self) -> None:
        shingle = two_step_shingle(self.PAGE, PathProfile({self.B: 0}, (), k=3))

        assert (self.B, 3, 3) == (shingle[0], len(shingle), len(set(shingle)))
        assert set(shingle) <= set(self.PAGE.paths.tolist())

    def test_min_hashes_agree_as_often_as_the_paths_overlap(self) -> None:
        # 12 and 12 paths (of which html and body in both), 8 in common: Jaccard 8 / 16.
        pages = [
            observe(RawPage("/", "".join(f"<p id=p{n}>" + "</p>" for n in numbers).encode()))
            for numbers in (range(10), range(4, 14))
        ]
        shared = set(pages[0].paths.tolist()) & set(pages[1].paths.tolist())
        jaccard = len(shared) / len(set(pages[0].paths.tolist()) | set(pages[1].paths.tolist()))
        same = [
            len({two_step_shingle(page, PathProfile({}, (), 1, seed)) for page in pages}) == 1
            for seed in range(400)
        ]

        assert 0.5 == jaccard
        assert abs(np.mean(same) - jaccard) < 0.08

    def test_a_page_of_fewer_paths_than_k_has_a_short_shingle(self) -> None:
        assert 5 == len(two_step_shingle(self.PAGE, PathProfile({}, (), k=8)))

    def test_pages_are_grouped_by_what_is_searched_for_not_by_optional_parts(self) -> None:
        types = [{page.url for page in SHOP[:30]}, {page.url for page in SHOP[30:40]}]

        assert {frozenset(type_) for type_ in types} <= as_sets(clustered(SHOP), SHOP)

    def test_pages_without_activity_have_the_key_paths_of_popular_ones(self) -> None:
        labels = clustered(SHOP).labels(len(SHOP))

        assert labels[0] == labels[1]

    def test_open_tabs_split_pages(self) -> None:
        pages = [product(n, ("Overview", "Reviews", "Specs")[n % 3]) for n in range(60)]
        clicks = [
            Click(f"word{n} {page.url.rsplit('/', 1)[1]}", page.url) for n, page in enumerate(pages)
        ]

        assert [20, 20, 20] == [len(group.members) for group in clustered(pages, clicks).groups]
        assert [60] == [
            len(group.members) for group in clustered(pages, clicks, splits_tabs=False).groups
        ]

    def test_a_menu_that_matches_queries_gives_no_key_path_once_templates_are_removed(self) -> None:
        menu = b"<div class=menu><a href=/r>thing</a><b><a href=/s></a><a href=/t></a></b></div>"
        pages = [RawPage(page.url, menu + page.body) for page in SHOP]
        clicks = [Click("thing", page.url) for page in SHOP[:30]]

        def key_paths(*, removes_templates: bool) -> str:
            model = clustered(pages, clicks, removes_templates=removes_templates).model
            return json.dumps([row["path"] for row in model["key_paths"]])

        assert "menu" not in key_paths(removes_templates=True)
        assert "menu" in key_paths(removes_templates=False)


def test_queries_count_once_a_page_however_they_are_written() -> None:
    clicks = [
        Click("Half Rope", "/p", 3),
        Click("half  rope", "/p", 1),
        Click("rope", "/p"),
        Click("x", "/q", 0),
    ]

    assert hash_terms("half rope rope") == count_queries(["/p", "/q"], clicks)[0].terms
    assert [0] == list(count_queries(["/p", "/q"], clicks))
    assert [1.0, 5.0] == [
        count_queries(["/p"], clicks, weighs_clicks=weighs)[0].weight for weighs in (False, True)
    ]


def test_without_a_log_the_evidence_is_missing() -> None:
    with pytest.raises(EvidenceMissing, match="search log"):
        clustered(SHOP, [])


def test_a_log_of_other_pages_is_none() -> None:
    with pytest.raises(EvidenceMissing, match="none of the 1 searches"):
        clustered(SHOP, [Click("thing", "http://elsewhere.example/")])


def test_a_derived_log_is_named() -> None:
    observations = [observe(page) for page in SHOP]
    urls = [page.url for page in SHOP]
    derived = cluster_pages(
        urls, observations, ClusteringInputs(clicks=LOG, has_derived_clicks=True)
    )

    assert "derived log" in derived.why
    assert "derived log" not in clustered(SHOP).why


def test_each_group_says_which_path_its_pages_have() -> None:
    whys = {group.why for group in clustered(SHOP).groups}

    assert "key path /html/body/div[@class='product']/h1" in whys


@pytest.mark.parametrize(
    "parameters", [{}, {"k": 3}, {"content_threshold": 0.9}, {"weighs_clicks": True}]
)
def test_the_order_of_pages_does_not_matter(parameters: dict[str, Any]) -> None:
    order = random.Random(5).sample(range(len(SHOP)), len(SHOP))
    here = clustered(SHOP, **parameters)
    there = clustered([SHOP[index] for index in order], LOG[::-1], **parameters)

    labels = here.labels(len(SHOP))
    assert [labels[index] for index in order] == there.labels(len(SHOP))
    assert (here.why, here.model) == (there.why, there.model)


def test_the_model_is_json_and_assigns_the_pages_it_came_from() -> None:
    grouping = clustered(SHOP)
    model = json.loads(json.dumps(grouping.model))

    assert grouping.labels(len(SHOP)) == [assign(model, observe(page), page.url) for page in SHOP]


def test_a_page_of_a_new_kind_is_in_no_group() -> None:
    model = clustered(SHOP[:40]).model

    assert assign(model, observe(RawPage("/", b"<table class=new><tr><td>x")), "/") is None
    assert assign(model, observe(RawPage("/", b"")), "/") is None


def test_a_later_page_is_recognised_in_its_bytes_alone() -> None:
    model = clustered(SHOP).model
    later = product(1000)

    assert name_in_bytes(model, later.body) == assign(model, observe(later), later.url) is not None
    assert name_in_bytes(model, text_page(9).body) is None
    assert CLUSTERER.find_group(model, text_page(9)) == assign(model, observe(text_page(9)), "")


def test_a_mark_that_a_new_template_uses_elsewhere_is_left_to_the_tree() -> None:
    grouping = clustered(SHOP)
    model = grouping.model
    path = model["key_paths"][0]
    name, value = path["mark"]
    elsewhere = RawPage("/new", f"<p>x</p><i><b {name}='{value}'>word</b></i>".encode())

    assert name_in_bytes(model, elsewhere.body) is None
    assert CLUSTERER.find_group(model, elsewhere) == assign(model, observe(elsewhere), "/new")


@pytest.mark.parametrize("edition", ["1b", "2"])
def test_bytes_and_tree_assign_alike_after_a_change_of_the_site(edition: str) -> None:
    pages, clicks, _ = demo("the-courier", "1")
    model = clustered(pages, clicks).model
    later, _, _ = demo("the-courier", edition)
    in_bytes = {page.url: name_in_bytes(model, page.body) for page in later}

    assert any(in_bytes.values())
    for page in later:
        if in_bytes[page.url] is not None:
            assert in_bytes[page.url] == assign(model, observe(page), page.url)


def test_with_larger_shingles_the_bytes_do_not_decide() -> None:
    model = clustered(SHOP, k=2).model

    assert name_in_bytes(model, product(1000).body) is None
    assert CLUSTERER.find_group(model, product(1)) is not None


@cache
def demo(name: str, edition: str) -> tuple[list[RawPage], list[Click], dict[str, str]]:
    site = sites.load(name, edition)
    pages = [
        RawPage(site.default_url + page.path, page.body, page.content_type)
        for page in site.pages.values()
    ]
    clicks = [Click(line.query, site.default_url + line.path, line.clicks) for line in site.queries]
    types = {site.default_url + page.path: page.type for page in site.pages.values()}
    return pages, clicks, types


@pytest.mark.parametrize(
    ("name", "edition"), [*((name, "1") for name in sites.NAMES), ("tinker-board", "2")]
)
def test_bytes_and_tree_assign_alike_on_pages_not_learned_from(name: str, edition: str) -> None:
    pages, clicks, _ = demo(name, edition)
    model = clustered(pages[::2], clicks).model
    later = pages[1::2]

    assert [assign(model, observe(page), page.url) for page in later] == [
        CLUSTERER.find_group(model, page) for page in later
    ]


def test_most_pages_of_a_site_with_classes_are_recognised_in_their_bytes() -> None:
    pages, clicks, _ = demo("the-courier", "1")
    model = clustered(pages[::2], clicks).model
    names = [name_in_bytes(model, page.body) for page in pages[1::2]]

    assert sum(name is not None for name in names) > 0.8 * len(names)


def test_a_search_log_finds_the_types_of_a_shop() -> None:
    pages, clicks, types = demo("alpine-shop", "1")
    grouping = clustered(pages, clicks)
    cluster_by_page = dict(
        zip([page.url for page in pages], grouping.labels(len(pages)), strict=True)
    )

    assert compare(cluster_by_page, types).adjusted_rand > 0.95


class TestHostileSites:
    def pages(self, bodies: list[bytes]) -> Grouping:
        pages = [RawPage(f"/{number}", body) for number, body in enumerate(bodies)]
        return clustered(pages, [Click("word", "/0")])

    def test_no_pages(self) -> None:
        assert [] == list(self.pages([]).groups)

    def test_one_page(self) -> None:
        assert [(0,)] == [tuple(group.members) for group in self.pages([b"<p>word"]).groups]

    def test_all_equal(self) -> None:
        assert [50] == [len(group.members) for group in self.pages([b"<p>word"] * 50).groups]

    def test_empty_pages_are_in_no_group(self) -> None:
        grouping = self.pages([b"<p>word", b"", b""])

        assert [1, 2] == list(grouping.unassigned)

    def test_only_empty_pages(self) -> None:
        assert (0, 3) == (
            len((grouping := self.pages([b"", b"", b""])).groups),
            len(grouping.unassigned),
        )

    def test_one_huge_tag(self) -> None:
        assert 1 == len(self.pages([b"<p title='" + b"x" * 1_000_000 + b"'>word"]).groups)

    def test_no_query_matches_anything(self) -> None:
        grouping = self.pages([b"<p>other", b"<p>thing"])

        assert ("0 key paths" in grouping.why, 1) == (True, len(grouping.groups))

    def test_thousands_of_templates(self) -> None:
        bodies = [b"<div class=c%d><h1 class=t%d>word</h1></div>" % (n, n) for n in range(3000)]
        pages = [RawPage(f"/{number}", body) for number, body in enumerate(bodies)]
        grouping = clustered(pages, [Click("word", page.url) for page in pages])

        assert 3000 == sum(len(group.members) for group in grouping.groups)


def test_it_stands_in_the_table_with_its_needs() -> None:
    assert ("keyclus", frozenset({"clicks"})) == (CLUSTERER.name, CLUSTERER.needs)
