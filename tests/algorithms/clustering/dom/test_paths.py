"""Each element has one path, which selects it; the walk and lxml agree on it."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st
from lxml.html import HtmlElement

from clustering.dom.page import parse_page
from clustering.dom.paths import element_paths, walk_paths, walk_tag_paths

TAGS = ["p", "b", "div", "table", "tr", "td", "a", "my-tag", "h1"]
PAGES = st.lists(
    st.sampled_from(
        [f"<{tag}>" for tag in TAGS]
        + [f"</{tag}>" for tag in TAGS]
        + ["x", "<!--c-->", "<?p?>", "<br>"]
    )
).map(lambda pieces: "<p>" + "".join(pieces))
ODD_PAGES = st.lists(
    st.sampled_from(
        [
            "<p>",
            "<o:p>",
            "</o:p>",
            "<p,q>",
            "<a=b>",
            '<x">',
            "<é>",
            "</p>",
            "<svg:a>",
            "<x'y[1]>",
            "<!--c-->",
        ]
    )
).map(lambda pieces: "<p>" + "".join(pieces))


def tree_of(page: str) -> HtmlElement:
    tree = parse_page(page.encode()).tree
    assert tree is not None
    return tree


class TestPaths:
    def test_number_the_elements_of_one_tag(self) -> None:
        tree = tree_of("<div><p>a</p><!--c--><ul><li>b<li>c</ul><p>d</p></div>")
        paths = [path for _, path in walk_paths(tree)]
        body = "/html/body/div"
        assert [
            "/html", "/html/body", body, f"{body}/p[1]", f"{body}/ul", f"{body}/ul/li[1]",
            f"{body}/ul/li[2]", f"{body}/p[2]",
        ] == paths  # fmt: skip

    @given(PAGES)
    def test_are_those_of_lxml(self, page: str) -> None:
        tree = tree_of(page)
        find_path = tree.getroottree().getpath
        elements = list(tree.iter("*"))
        expected = [(element, find_path(element)) for element in elements]
        assert expected == list(walk_paths(tree))
        assert [path for _, path in expected] == element_paths(elements)

    @given(ODD_PAGES)
    def test_select_their_element_whatever_its_tag_is(self, page: str) -> None:
        tree = tree_of(page)
        walked = list(walk_paths(tree))
        assert list(tree.iter("*")) == [element for element, _ in walked]
        assert [path for _, path in walked] == element_paths([element for element, _ in walked])
        for element, path in walked:
            assert [element] == tree.xpath(path)

    def test_begin_at_the_root_for_a_part_of_a_tree(self) -> None:
        tree = tree_of("<div><p>a</p><p class=b>b</p></div>")
        (paragraph,) = tree.find_class("b")
        assert [(paragraph, "/html/body/div/p[2]")] == list(walk_paths(paragraph))
        assert [(paragraph, "/html/body/div/p")] == list(walk_tag_paths(paragraph))

    @given(PAGES, st.data())
    def test_of_some_elements_are_the_same_on_a_large_page(
        self, page: str, data: st.DataObject
    ) -> None:
        tree = tree_of(page + "<div>" + "<b></b>" * 20_000)
        elements = list(tree.iter("p", "a", "td", "h1"))[:200]
        some = data.draw(st.lists(st.sampled_from(elements)))
        assert [tree.getroottree().getpath(element) for element in some] == element_paths(some)

    def test_of_no_elements_are_none(self) -> None:
        assert [] == element_paths([])

    def test_of_a_large_page_take_linear_time(self) -> None:
        for page in ("<p>" * 60_000, "<div>" * 250 + "<b></b>" * 60_000):
            tree = tree_of(page)
            begin = time.process_time()
            assert 60_000 <= sum(1 for _ in walk_paths(tree))
            assert time.process_time() - begin < 15


def test_tag_paths_leave_positions_out() -> None:
    tree = tree_of("<div><p>a</p><!--c--><ul><li>b<li>c</ul></div>")
    body = "/html/body/div"
    expected = [
        "/html",
        "/html/body",
        body,
        f"{body}/p",
        f"{body}/ul",
        f"{body}/ul/li",
        f"{body}/ul/li",
    ]
    assert expected == [path for _, path in walk_tag_paths(tree)]
