"""One walk over a page, and what is kept of it for the next page."""

from __future__ import annotations

import pytest

from clustering.algorithms.automatic import page_walk
from clustering.algorithms.automatic.page_walk import (
    MAX_FEATURES,
    PageWalk,
    hash_text,
    label_and_hash,
    walk_page,
)
from clustering.dom.page import parse_page


def walked(html: str) -> PageWalk:
    return walk_page(parse_page(html.encode()).tree)


def texts_of(walk: PageWalk) -> list[str]:
    return [f"{kind.path.tag}={text}" for kind, text in walk.texts]


def test_texts_stand_where_they_are_shown_in_the_order_of_the_page() -> None:
    walk = walked("<div>a<b>c</b>d<!-- e -->f<script>g</script>h</div>i")

    assert texts_of(walk) == ["div=a", "b=c", "div=d", "div=f", "div=h", "body=i"]


def test_elements_of_one_path_class_and_id_are_of_one_kind() -> None:
    walk = walked("<p class=x>1<p class=x>2<p class='x y'>3<p id=a>4")

    steps = [[feature.step for feature in kind.features] for kind in walk.kinds][2:]
    assert steps == [["/p", ".x"], ["/p", ".x", ".y"], ["/p", "#a"]]
    assert len(walk.tags) == 6


def test_a_page_has_the_same_features_whatever_was_walked_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = "<div class='a b'><p itemprop=x>1</p></div>"
    known = walked(page).features
    monkeypatch.setattr(page_walk, "MAX_KINDS", 0)

    assert walked("<ul><li>other") is not None
    assert known == walked(page).features


def test_no_more_features_are_kept_than_a_page_may_have() -> None:
    walk = walked("".join(f"<p class=c{number}>x</p>" for number in range(2 * MAX_FEATURES)))

    assert len(walk.features) <= MAX_FEATURES + 1
    assert len(walk.tags) == 2 * MAX_FEATURES + 2


def test_a_long_text_is_no_label_and_has_a_hash() -> None:
    assert label_and_hash("x" * 500) == ("", hash_text("x" * 500))
    assert label_and_hash(" Price : ") == ("Price", hash_text("Price"))
