"""Types that differ by a few paths or labels only."""

from __future__ import annotations

import random

import numpy as np

from clustering.algorithms.automatic.feature_table import FeatureTable, tabulate
from clustering.algorithms.automatic.near_twins import (
    contrasting,
    find_bundles,
    rare_sections,
    split_by_address,
    split_by_section,
)
from clustering.algorithms.automatic.page_features import observe
from clustering.algorithms.grouping import RawPage

THREAD = "<h1>T{n}</h1><b>Started:</b><i>{n}</i><p>{n}"
POLL = "<fieldset><legend>Poll</legend><input>{n}<em>{n}</em></fieldset>"


ONE_LOOK = np.zeros(60, np.intp)


def table_of(*pages: str) -> FeatureTable:
    return tabulate([observe(RawPage("http://a.b", html.encode())) for html in pages])


def threads(n: int, n_polls: int) -> list[str]:
    return [
        THREAD.format(n=number) + (POLL.format(n=number) if number < n_polls else "")
        for number in range(n)
    ]


class TestBySection:
    def test_a_section_in_one_look_tells_the_twins_of_the_others(self) -> None:
        poll = "<section><h3>Poll</h3><b>Votes:</b><tt>{n}</tt><b>Ends:</b><tt>{n}</tt></section>"
        other = "<div><h2>T{n}</h2><u>Started:</u><s>{n}</s></div>"
        in_other = "<dl><dt>Poll<dd>{n}<dt>Votes<dd>{n}<dt>Ends<dd>{n}</dl>"
        pages = [THREAD.format(n=n) + (poll.format(n=n) if n < 9 else "") for n in range(45)]
        pages += [
            other.format(n=n) + (in_other.format(n=n) if n < 49 else "") for n in range(45, 60)
        ]
        looks = np.repeat([0, 1], [45, 15])

        parts = split_by_section(table_of(*pages), looks, np.arange(60))

        assert [*range(9), *range(45, 49)] == min(parts, key=len).tolist()

    def test_the_only_rare_section_makes_a_type(self) -> None:
        parts = split_by_section(table_of(*threads(60, 9)), ONE_LOOK, np.arange(60))

        assert sorted(map(len, parts)) == [9, 51]
        assert set(min(parts, key=len).tolist()) == set(range(9))

    def test_a_section_that_many_pages_have_is_an_optional_part(self) -> None:
        assert len(split_by_section(table_of(*threads(60, 30)), ONE_LOOK, np.arange(60))) == 1

    def test_a_section_of_very_few_pages_is_an_exception(self) -> None:
        assert len(split_by_section(table_of(*threads(60, 4)), ONE_LOOK, np.arange(60))) == 1

    def test_a_section_of_many_pages_that_goes_with_facts_makes_a_type(self) -> None:
        facts = "<b>Votes:</b><i>{n}</i><b>Closes:</b><i>{n}</i>"
        pages = [
            page + (facts.format(n=n) if n < 27 else "") for n, page in enumerate(threads(60, 27))
        ]

        assert sorted(map(len, split_by_section(table_of(*pages), ONE_LOOK, np.arange(60)))) == [
            27,
            33,
        ]

    def test_where_several_sections_come_and_go_none_makes_a_type(self) -> None:
        extra = "<aside><h4>Notice</h4><u>{n}</u><s>{n}</s></aside>"
        pages = [
            page + (extra.format(n=n) if 20 <= n < 31 else "")
            for n, page in enumerate(threads(60, 9))
        ]

        assert len(rare_sections(find_bundles(table_of(*pages), np.arange(60)), 60)) == 2
        assert len(split_by_section(table_of(*pages), ONE_LOOK, np.arange(60))) == 1

    def test_parts_of_prose_make_no_type(self) -> None:
        chance = random.Random(1)
        quotes = [
            "<blockquote><p>{}<cite>{}</cite>",
            "<code>{}</code>",
            "<ul><li>{}</ul>",
            "<q>{}</q>",
        ]
        pages = [
            page
            + (
                "<blockquote><p>x<cite>y</cite>" + chance.choice(quotes) + "</blockquote>"
                if n < 12
                else ""
            )
            for n, page in enumerate(threads(60, 0))
        ]

        assert len(split_by_section(table_of(*pages), ONE_LOOK, np.arange(60))) == 1


LISTING = "<h1>{n}</h1><b>Address:</b><i>{n}</i><b>Hours:</b><i>{n}</i>"
STAY = "<h1>{n}</h1><b>Address:</b><i>{n}</i><b>Rooms:</b><i>{n}</i><b>Check-in:</b><i>{n}</i>"


class TestByAddress:
    def test_labels_of_their_own_at_an_address_of_their_own_make_a_type(self) -> None:
        table = table_of(
            *[LISTING.format(n=n) for n in range(30)], *[STAY.format(n=n) for n in range(12)]
        )
        patterns = ["a/listing.asp?id"] * 30 + ["a/stay.asp?id"] * 12

        assert [30, 12] == [len(part) for part in split_by_address(table, patterns, np.arange(42))]

    def test_an_address_alone_makes_none(self) -> None:
        table = table_of(*[LISTING.format(n=n) for n in range(42)])
        patterns = ["a/listing.asp?id"] * 30 + ["a/stay.asp?id"] * 12

        assert [42] == [len(part) for part in split_by_address(table, patterns, np.arange(42))]

    def test_labels_at_many_addresses_are_categories_of_one_type(self) -> None:
        own = "<b>Only {c}:</b><i>{n}</i><b>Also {c}:</b><i>{n}</i>"
        table = table_of(*[(LISTING + own).format(n=n, c="abcdef"[n % 6]) for n in range(72)])
        patterns = [f"a/{'abcdef'[n % 6]}/*" for n in range(72)]

        assert [72] == [len(part) for part in split_by_address(table, patterns, np.arange(72))]

    def test_the_kind_may_stand_before_the_category(self) -> None:
        table = table_of(
            *[LISTING.format(n=n) for n in range(30)], *[STAY.format(n=n) for n in range(12)]
        )
        patterns = [f"a/eat/{'abcdef'[n % 6]}/*" for n in range(30)] + [
            f"a/stay/{'abcdef'[n % 6]}/*" for n in range(12)
        ]

        assert [30, 12] == [len(part) for part in split_by_address(table, patterns, np.arange(42))]


def test_contrasting_features_are_those_of_one_side() -> None:
    table = table_of(*threads(20, 10))
    first, second = np.arange(10), np.arange(10, 20)

    assert len(contrasting(table.texts, first, second)) == 1
    assert len(contrasting(table.paths, first, second)) == 4
    assert len(contrasting(table.paths, first, first)) == 0
