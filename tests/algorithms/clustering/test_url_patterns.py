"""Patterns of addresses."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.algorithms.url_patterns import (
    MAX_WILD_CARDS,
    WILD,
    address_patterns,
    beginnings,
    matches,
    pattern_among,
    pattern_of,
    prefixes_of,
)

ADDRESSES = st.lists(
    st.lists(
        st.sampled_from(["p", "oak", "elm-2", "x.html", "a?b=1", "", "7", "(.*)", "%C3%A9"]),
        max_size=4,
    ).map(lambda segments: "http://a.b/" + "/".join(segments)),
    min_size=1,
    max_size=8,
)


class TestPaper:
    @given(ADDRESSES)
    def test_a_clusters_pattern_matches_all_its_urls(self, urls: list[str]) -> None:
        pattern = pattern_of(urls)

        assert all(matches(pattern, url) for url in urls)

    @pytest.mark.parametrize(
        ("urls", "pattern"),
        [
            (["http://a.b/p/oak", "http://a.b/p/elm"], "http://a.b/p/(.*)"),
            (["http://a.b/p/1/reviews", "http://a.b/p/22/reviews"], "http://a.b/p/(.*)/reviews"),
            (["http://a.b/x.php?id=1", "http://a.b/x.php?id=2"], "http://a.b/x.php?id=(.*)"),
            (["http://a.b/an-oak-as-10", "http://a.b/the-old-elm-as-9"], "http://a.b/(.*)-as-(.*)"),
            (["http://a.b/x", "https://c.d/y/z"], "(.*)://(.*)/(.*)"),
            (["http://a.b/x"], "http://a.b/x"),
            ([], WILD),
        ],
    )
    def test_it_is_the_most_specific(self, urls: list[str], pattern: str) -> None:
        assert pattern == pattern_of(urls)

    @given(ADDRESSES)
    def test_it_keeps_within_the_limits(self, urls: list[str]) -> None:
        pattern = pattern_of([url for url in urls if WILD not in url])
        between = pattern.split(WILD)[1:-1]

        assert pattern.count(WILD) <= MAX_WILD_CARDS
        assert all(re.search(r"[^\W_]|[/?&=]", run) for run in between)

    @given(ADDRESSES, st.randoms(use_true_random=False))
    def test_the_order_of_the_addresses_is_nothing(self, urls: list[str], chance: object) -> None:
        shuffled = urls.copy()
        chance.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis draws a random.Random

        assert pattern_of(urls) == pattern_of(shuffled)


class TestMatches:
    def test_the_end_is_not_looked_for_in_what_is_matched_already(self) -> None:
        assert not matches("http://a.b/aba(.*)aba", "http://a.b/aba")
        assert matches("http://a.b/aba(.*)aba", "http://a.b/abaaba")

    def test_many_wild_cards_take_no_time(self) -> None:
        assert not matches("(.*)a" * 200 + "b", "a" * 100_000)


class TestAddressPatterns:
    def test_what_is_peculiar_becomes_a_wild_card_and_numbers_a_sign(self) -> None:
        urls = [f"http://a/item/{word}/{n}.html" for n, word in enumerate(("oak", "elm", "ash"))]

        assert {"a/item/*/#.html"} == set(address_patterns(urls))

    def test_a_number_in_a_segment_of_its_own_is_one_sign(self) -> None:
        assert {"a/#"} == set(address_patterns(["http://a/1", "http://a/22", "http://a/333"]))

    def test_the_number_of_a_lists_page_does_not_count(self) -> None:
        urls = [f"http://a/list{query}" for query in ("", "", "?page=2", "?page=3")]

        assert {"a/list"} == set(address_patterns(urls))

    def test_values_of_keys_stay_where_many_pages_share_them(self) -> None:
        urls = [f"http://a/i.php?mod={mod}&id={n}" for mod in ("article", "list") for n in range(3)]

        assert {"a/i.php?id,mod&id=#&mod=article", "a/i.php?id,mod&id=#&mod=list"} == set(
            address_patterns(urls)
        )

    def test_a_word_stays_only_where_enough_pages_share_it(self) -> None:
        urls = [*[f"http://a/oak/{n}" for n in range(3)], "http://a/elm/1", "http://a/ash/1"]

        assert ["a/oak/#"] * 3 + ["a/*/#"] * 2 == address_patterns(urls)

    def test_a_later_address_has_the_pattern_of_its_kind(self) -> None:
        urls = [
            *[f"http://a/p/{word}?ref=1" for word in ("oak", "elm", "ash")],
            *[f"http://a/i.php?id={n}&mod=list" for n in range(3)],
        ]
        patterns = set(address_patterns(urls))
        prefixes = prefixes_of(patterns)

        assert "a/p/*?ref&ref=#" == pattern_among("http://a/p/yew?ref=9", patterns, prefixes)
        assert "a/i.php?id,mod&id=#&mod=list" == pattern_among(
            "http://a/i.php?mod=list&id=77", patterns, prefixes
        )
        assert None is pattern_among("http://a/other/way", patterns, prefixes)

    def test_beginnings_end_before_the_marks(self) -> None:
        assert ["a", "a/p", "a/p?id", "a/p?id&id=#"] == beginnings("a/p?id&id=#")

    def test_hostile_addresses_end_well(self) -> None:
        urls = [
            "",
            "http://a",
            "http://a/" + "x/" * 5000,
            "http://a/?" + "&".join(["k=1"] * 5000),
            "//%00",
        ]

        assert len(urls) == len(address_patterns(urls))
        assert WILD in pattern_of(urls)
