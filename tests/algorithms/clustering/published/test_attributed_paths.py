"""Pages as attributed paths with their terms."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.algorithms.published.attributed_paths import (
    MAX_PATHS,
    NUMBER,
    PathPage,
    elements_at,
    hash_mark,
    hash_term,
    hash_terms,
    marks_in,
    observe_tree,
    terms_of,
)
from clustering.dom.page import parse_page

PAGE = b"""<html><head><title>Half rope</title></head><body class=" dp  wide "><div id=main>
<h1 class=title>Half <b>Rope</b> 12</h1><ul><li>half</li><li>twin</li></ul><script>var rope</script>
<!-- rope --><p>after</p></div></body></html>"""
BODY = "/html/body[@class='dp wide']"


def observed(body: bytes, url: str = "http://a.example/") -> PathPage:
    return observe_tree(parse_page(body).tree, url)


def written(page: PathPage) -> list[str]:
    return [page.path_written(index) for index in range(len(page.paths))]


def content(page: PathPage, path: str) -> Counter[int]:
    return Counter(page.content(written(page).index(path)).tolist())


class TestPaper:
    def test_paths_bear_id_and_class_as_in_table_4(self) -> None:
        assert [
            "/html",
            BODY,
            f"{BODY}/div[@id='main']",
            f"{BODY}/div[@id='main']/h1[@class='title']",
            f"{BODY}/div[@id='main']/h1[@class='title']/b",
            f"{BODY}/div[@id='main']/ul",
            f"{BODY}/div[@id='main']/ul/li",
            f"{BODY}/div[@id='main']/p",
        ] == written(observed(PAGE))

    def test_content_is_that_of_the_subtree(self) -> None:
        assert hash_terms("half rope 12") == content(
            observed(PAGE), f"{BODY}/div[@id='main']/h1[@class='title']"
        )

    def test_a_prefix_of_a_path_has_all_of_its_content(self) -> None:
        assert hash_terms("half rope 12 half twin after") == content(observed(PAGE), BODY)

    def test_instances_of_a_path_are_united(self) -> None:
        assert hash_terms("half twin") == content(observed(PAGE), f"{BODY}/div[@id='main']/ul/li")

    def test_what_no_reader_sees_is_left_out(self) -> None:
        everything = content(observed(PAGE), "/html")

        assert (1, 0) == (everything[hash_term("rope")], everything[hash_term("var")])


class TestPagelets:
    MENU = b"<ul><li><a href=/a>A</a><li><a href=/b>B</a><li><a href=/c>C</a></ul>"

    def pagelets(self, body: bytes) -> list[list[int]]:
        pagelets: list[list[int]] = observed(body).pagelets.tolist()
        return pagelets

    def test_an_element_without_a_child_rich_in_links_is_one(self) -> None:
        assert [[0, 2]] == self.pagelets(b"<div><p>one</p><p>two</p></div>")

    def test_a_child_rich_in_links_splits_its_parent(self) -> None:
        assert [[0, 3], [3, 4]] == self.pagelets(b"<div>" + self.MENU + b"<p>text</p></div>")

    def test_three_links_in_one_element_are_one_pagelet(self) -> None:
        assert [[0, 3]] == self.pagelets(self.MENU)

    def test_equal_menus_have_equal_shingles_however_their_links_are_written(self) -> None:
        here = observed(b"<a href=/x>X</a>", "http://a.example/p/1").shingles
        there = observed(b"<b><a href=../x>X</a></b>", "http://a.example/p/2").shingles

        assert here.tolist() == there.tolist()

    def test_equal_words_that_lead_elsewhere_do_not(self) -> None:
        here = observed(b"<a href=?tab=2>X</a>", "http://a.example/p/1").shingles
        there = observed(b"<a href=?tab=2>X</a>", "http://a.example/p/2").shingles

        assert here.tolist() != there.tolist()


def test_numbers_are_told_from_words() -> None:
    assert (True, False) == (hash_term("12") >= NUMBER, hash_term("twelve") >= NUMBER)


def test_accents_and_case_make_no_difference() -> None:
    assert terms_of("NÉVÉ Straße ﬁn") == terms_of("neve STRASSE fin")


def test_korean_and_chinese_characters_are_terms_each() -> None:
    assert ["서", "울", "東", "京"] == terms_of("서울東京")


def test_a_long_attribute_is_left_out_of_the_path() -> None:
    assert "/html/body/p" in written(observed(b"<p class='%b'>x</p>" % (b"a " * 80)))


def test_an_attribute_with_both_quotation_marks_is_left_out() -> None:
    assert "/html/body/p" in written(observed(b"<p class='a\"&apos;b'>x</p>"))


def test_an_attribute_with_an_apostrophe_is_quoted_the_other_way() -> None:
    assert '/html/body/p[@class="it\'s"]' in written(observed(b'<p class="it\'s">x</p>'))


def test_elements_are_found_at_a_written_path() -> None:
    tree = parse_page(PAGE).tree
    assert tree is not None

    items, heading = f"{BODY}/div[@id='main']/ul/li", f"{BODY}/div[@id='main']/h1[@class='title']"
    result = elements_at(tree, [items, heading, f"{BODY}/div"])

    assert ["half", "twin"] == [element.text for element in result[items]]
    assert ["h1"] == [element.tag for element in result[heading]]
    assert [] == result[f"{BODY}/div"]


def test_marks_are_the_ids_and_classes_of_all_elements() -> None:
    marks = {hash_mark("class", "dp wide"), hash_mark("id", "main"), hash_mark("class", "title")}

    assert marks == set(observed(PAGE).marks.tolist())


def test_marks_of_a_path_come_last_step_first() -> None:
    assert [("class", "t"), ("id", "b")] == marks_in(
        "/html/body[@id='b']/p[@class='t']/b[@class='ü']"
    )


@pytest.mark.parametrize(
    "body", [b"", b" ", b"\0\0", b"<!-- x -->", b"<frameset><frame></frameset>"]
)
def test_odd_pages_are_observed(body: bytes) -> None:
    assert 0 == len(observed(body).terms)


def test_a_page_of_one_huge_tag_is_observed() -> None:
    assert 3 == len(observed(b"<div class='" + b"x" * 3_000_000 + b"'>a</div>").paths)


def test_no_more_than_so_many_paths_are_kept() -> None:
    body = b"".join(b"<p id=p%d>w</p>" % number for number in range(MAX_PATHS + 10))
    page = observed(body)

    assert (MAX_PATHS, MAX_PATHS + 10) == (len(page.paths), len(page.terms))


def test_deep_nesting_ends_well() -> None:
    assert len(observed(b"<div>" * 5000 + b"x").paths) > 100


def test_an_observation_can_be_pickled_and_is_small() -> None:
    body = (
        b"<html><body>" + b"<div class=card><h3>Name of it</h3><p>Some more words</p></div>" * 1500
    )
    pickled = pickle.dumps(observed(body))

    assert len(body) > 90_000
    assert 3_000 * len(pickled) < 250_000_000
    assert observed(body).terms.tolist() == pickle.loads(pickled).terms.tolist()


TEXTS = st.sampled_from(["alpha", "beta 2", "", " ", "gamma"])
TREES = st.recursive(
    TEXTS, lambda inner: st.tuples(st.sampled_from("ab"), TEXTS, st.lists(inner, max_size=3))
)


def html_of(tree: Any) -> str:
    if isinstance(tree, str):
        return tree + " "
    tag, text, children = tree
    name = {"a": "div", "b": "section"}[tag]
    return f"<{name}>{text} {''.join(map(html_of, children))}</{name}>"


@given(st.lists(TREES, max_size=4))
def test_content_of_a_path_is_all_text_of_its_elements(trees: list[Any]) -> None:
    tree = parse_page(f"<html><body>{''.join(map(html_of, trees))}</body></html>".encode()).tree
    assert tree is not None
    page = observe_tree(tree)
    for index, path in enumerate(written(page)):
        expected = Counter[int]()
        for element in elements_at(tree, [path])[path]:
            expected += hash_terms(" ".join(element.itertext()))
        assert expected == Counter(page.content(index).tolist())
