"""The words by which sites name their pages."""

from __future__ import annotations

import pytest

from clustering.algorithms.titles.title_words import (
    Place,
    is_long,
    is_start,
    key_words,
    naming_words,
    query_keys,
    singular_of,
    title_runs,
    token_words,
)


@pytest.mark.parametrize(
    ("segment", "words"),
    [
        ("brand", "brand"),
        ("product-category", "product category"),
        ("land-of-trees", "land of trees"),
        ("viewtopic.php", "topic"),
        ("productDetail.aspx", "product"),
        ("p", ""),
        ("main.html", ""),
        ("the", ""),
    ],
)
def test_parts_of_addresses_have_words(segment: str, words: str) -> None:
    assert words == naming_words(segment)


def test_a_key_has_words_without_its_id() -> None:
    assert ("product", "", "") == (key_words("product_id"), key_words("id"), key_words("page"))


def test_words_have_a_length() -> None:
    assert is_long("oak")
    assert is_long("木本")
    assert not is_long("of")
    assert not is_long("x" * 40)


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("product-info", "product info"),
        ("page--listing", "listing"),
        ("single-recipe", "recipe"),
        ("recipeBody", "recipe"),
        ("mx-auto", ""),
        ("justify-between", ""),
        ("col-md-8", ""),
        ("postid-71", ""),
        ("x", ""),
    ],
)
def test_classes_have_words(token: str, words: str) -> None:
    assert words == token_words(token)


def test_english_words_are_made_singular() -> None:
    plurals = [
        "products",
        "categories",
        "boxes",
        "dishes",
        "recipes",
        "glasses",
        "news",
        "status",
        "movies",
        "bus",
    ]
    singulars = [
        "product",
        "category",
        "box",
        "dish",
        "recipe",
        "glass",
        "news",
        "status",
        "movie",
        "bus",
    ]

    assert singulars == list(map(singular_of, plurals))


def test_words_of_other_cases_are_made_singular() -> None:
    assert ["Movie", "Products".removesuffix("s"), "NEWS"] == list(
        map(singular_of, ["Movies", "Products", "NEWS"])
    )


def test_words_begin_and_end_a_text() -> None:
    assert [
        (Place.BEGINNING, "Tag"),
        (Place.END, "wood"),
        (Place.BEGINNING, "Tag oak"),
        (Place.END, "wood"),
    ] == list(title_runs("Tag oak 7 by the wide of wood"))[:4]


def test_the_start_of_a_site_is_known() -> None:
    starts = [
        "http://a.b",
        "http://a.b/",
        "http://a.b/index.html",
        "http://a.b/?q=x",
        "http://a.b/x",
    ]

    assert [True, True, True, False, False] == [is_start(url) for url in starts]


def test_keys_of_a_query_count_with_a_word_behind_them() -> None:
    assert {"q"} == query_keys("http://a.b/?q=red+shoe&page=2&x=")
