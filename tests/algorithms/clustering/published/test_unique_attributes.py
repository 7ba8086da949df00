"""Ids and classes in the bytes of a page."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.algorithms.published.attributed_paths import hash_mark, observe_tree
from clustering.algorithms.published.key_paths import number_paths
from clustering.algorithms.published.unique_attributes import (
    find_mark,
    find_tag,
    has_steps,
    unique_marks,
)
from clustering.dom.page import parse_page

PATH = "/html/body/div[@id='a']/p[@id='c'][@class='b']/i"


@pytest.mark.parametrize(
    "body",
    [
        b'<p class="big title">x',
        b"<p class='big title'>x",
        b'<P CLASS = " big\n title ">x',
        b'<p id=a title="x > y" class="big title">x',
        b'<p title="1 < 2" id="x"><p class="big title">x',
        b"title big title <p class='title'><p class='big title'>",
        b"<!-- x --><script>1</script><p class='big title'>",
    ],
)
def test_a_class_is_found(body: bytes) -> None:
    assert find_mark(body, "class", "big title") is True


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<p>big title</p>",
        b"<p class='big'>title",
        b"<p class='big titles'>",
        b"<p class='a big title'>",
        b"<p id='big title'>",
        b"<p data-class-x='big title'>",
    ],
)
def test_a_class_is_not_found(body: bytes) -> None:
    assert find_mark(body, "class", "big title") is False


@pytest.mark.parametrize(
    "body",
    [
        b"<!-- <p class='big title'> -->",
        b"<script>x = \"<p class='big title'>\"</script>",
        b"<p class='x' class='big title'>",
        b"text class='big title' text",
        b"<p class='big title'>\0",
        b"<p\tdata-x='<b>' class='big title'>x",
        b"<SCRIPT>x = \"<p class='big title'>\"</SCRIPT>",
        b"<a title='1 < 2' class='big title'>",
    ],
)
def test_the_bytes_leave_a_doubt(body: bytes) -> None:
    assert find_mark(body, "class", "big title") is None


def test_an_unquoted_id_is_found() -> None:
    assert [True, True, False] == [
        find_mark(b"<p id=%b>" % value, "id", "a1") for value in (b"a1", b"a1 x", b"a12")
    ]


def test_a_page_full_of_the_word_is_given_up_soon() -> None:
    body = b"<p title='" + b"class=big " * 50_000 + b"'>"
    began = time.process_time()
    find_mark(body, "class", "big")

    assert time.process_time() - began < 5


ATTRIBUTES = st.sampled_from(
    [
        "class=t",
        "class='t'",
        'class=" t "',
        "class='t u'",
        "id=t",
        "title='a > b'",
        "title=\"class='t'\"",
        "x",
        "x=1/",
    ]
)
PIECES = st.one_of(
    st.lists(ATTRIBUTES, max_size=3).map(lambda names: f"<p {' '.join(names)}>"),
    st.sampled_from(
        [
            "t",
            "class=t ",
            "<",
            ">",
            "<!-- ",
            " -->",
            "<script>",
            "</script>",
            "</p>",
            "<b ",
            '"',
            "'",
        ]
    ),
)


@given(
    st.lists(PIECES, max_size=8), st.sampled_from([("class", "t"), ("id", "t"), ("class", "t u")])
)
def test_what_the_bytes_say_for_sure_the_tree_says_too(
    pieces: list[str], mark: tuple[str, str]
) -> None:
    body = "".join(pieces).encode()
    is_there = find_mark(body, *mark)
    page = observe_tree(parse_page(body).tree)

    assert is_there is None or is_there == (hash_mark(*mark) in page.marks.tolist())


def test_a_mark_is_on_the_same_pages_as_its_path() -> None:
    bodies = [b"<p class=t><b class=u>", b"<p class=t>", b"<i class=t>", b"<p class=t><b class=u>"]
    pages = [observe_tree(parse_page(body).tree) for body in bodies]
    p, b = pages[0].paths.tolist()[2:]
    present = number_paths(pages).present([p, b])
    written = ["/html/body/p[@class='t']", "/html/body/p[@class='t']/b[@class='u']"]

    assert [None, ("class", "u")] == unique_marks(pages, written, present)


def test_a_tag_is_found_from_an_offset_on() -> None:
    body = b"<i id='a'><p class='b'><i id='a'></i>"

    assert [0, 23] == [find_tag(body, "id", "a", first) for first in (0, 1)]
    assert find_tag(body, "id", "z") == -1
    assert find_tag(b"text id='a' text", "id", "a") is None


@pytest.mark.parametrize(
    "body",
    [
        b"<html><body><div id='a'><p class='b' id='c'><I>",
        b"<div id=a><div id='a'><p id='c' class='b'>x<i/>",
        b"<div id='a'><span class='b'></span><p class='b'><p class='b' id='c'><i>",
    ],
)
def test_tags_like_the_steps_of_a_path_begin_one_after_the_other(body: bytes) -> None:
    assert has_steps(body, PATH)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<p class='b' id='c'><i></i></p><div id='a'>",
        b"<div id='a'><p class='b'><i>",
        b"<div id='a'><h1 class='b' id='c'><i>",
        b"<i><div id='a'><p class='b' id='c'><img>",
        b"<!-- <div id='a'> --><p class='b' id='c'><i>",
    ],
)
def test_a_page_without_tags_like_its_steps_has_no_path(body: bytes) -> None:
    assert not has_steps(body, PATH)
