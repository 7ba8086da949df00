"""The words by which sites name their pages."""

from __future__ import annotations

import pytest

from clustering.algorithms.titles.title_words import (
    AddressWords,
    address_words,
    is_start,
    query_keys,
    singular_of,
    title_runs,
    token_words,
)

TREES = ("oak", "elm", "ash", "yew", "fir", "bay")


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("brand/{}", "brand"),
        ("p/{}", ""),
        ("u/{}", "user"),
        ("en-us/shop/c/{}", "shop"),
        ("tree/{}/notes", "notes"),
        ("index.php?mod=article&id={}", "article"),
        ("viewtopic.php?t={}", "topic"),
        ("view.php?product_id={}", "product"),
        ("productDetail.aspx?no={}", "product"),
        ("guide-{}.html", "guide"),
        ("{}-review.html", "review"),
        ("{}", ""),
        ("%E6%9C%A8%E3%81%AE%E6%9C%AC/{}", "木の本"),
        ("index.php?page={}", ""),
    ],
)
def test_addresses_have_words(pattern: str, words: str) -> None:
    assert words == address_words([f"http://a.b/{pattern.format(tree)}" for tree in TREES]).text


def test_a_few_addresses_that_begin_alike_have_none() -> None:
    assert "" == address_words([f"http://a.b/guide-{tree}" for tree in TREES[:3]]).text


def test_words_above_what_differs_name_one_of_many() -> None:
    assert AddressWords("recipes", are_above=True) == address_words(
        ["http://a.b/recipes/1", "http://a.b/recipes/x"]
    )
    assert not address_words(["http://a.b/1/reviews", "http://a.b/x/reviews"]).are_above
    assert AddressWords() == address_words([])


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


def test_words_begin_or_end_a_part_of_a_title() -> None:
    assert {"Tag", "shop"} == title_runs("Tag: oak wood | My shop", {"Tag", "wide", "shop", "of"})
    assert set() == title_runs("Oak of wood", {"of"})
