"""How far apart two groups of pages may be."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from clustering.algorithms.automatic.feature_table import FeatureTable, tabulate
from clustering.algorithms.automatic.kinship import (
    APART,
    OTHER,
    SAME,
    UNTOLD,
    Contrasts,
    KinshipBounds,
    Where,
    has_same_labels,
    join_looks,
    mixed_addresses,
    overlap_with,
)
from clustering.algorithms.automatic.page_features import observe
from clustering.algorithms.grouping import RawPage

PLAIN = "<h1>{n}</h1><p>{n}<b>{n}</b><em>{n}</em></p>"
WITH_TABLE = "<h2>{n}</h2><table><tr><th>Size<td>{n}</table><u>{n}</u>"


def table_of(*pages: str) -> FeatureTable:
    return tabulate([observe(RawPage("http://a.b", html.encode())) for html in pages])


def numbers(*runs: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return the numbers of so many pages each: numbers(2, 1) is 0, 0, 1."""
    return np.repeat(np.arange(len(runs)), runs)


def pages(template: str, n: int) -> list[str]:
    return [template.format(n=number) for number in range(n)]


class TestContrasts:
    def test_what_nearly_all_and_nearly_none_have(self) -> None:
        has = sparse.csr_matrix(
            np.array([[1, 1, 0]] * 9 + [[1, 0, 0]] + [[1, 0, 1]] * 10, np.float32)
        )
        n_contrasts, core = Contrasts(has, numbers(10, 10)).of(0)

        assert (n_contrasts.tolist(), core.tolist()) == ([0, 2], [2, 3])

    def test_what_one_page_has_is_no_contrast_but_what_it_lacks_is(self) -> None:
        lacking = sparse.csr_matrix(np.array([[0, 1]] + [[1, 0]] * 10, np.float32))

        assert Contrasts(lacking, numbers(1, 10)).of(0)[0].tolist() == [0, 1]

    def test_joined_groups_are_as_if_they_had_been_one(self) -> None:
        has = sparse.csr_matrix(
            np.random.default_rng(1).integers(0, 2, (30, 20)).astype(np.float32)
        )
        joined, anew = Contrasts(has, numbers(4, 6, 20)), Contrasts(has, numbers(10, 20))
        joined.join(0, 1)

        assert [list(map(int, part[[0, 2]])) for part in joined.of(0)] == [
            list(map(int, part)) for part in anew.of(0)
        ]


class TestBounds:
    @pytest.mark.parametrize(
        ("second", "addresses", "bound"),
        [
            (PLAIN, (6, 6), OTHER),  # other addresses, the same look
            (WITH_TABLE, (6, 6), APART),  # other addresses, another look
            (WITH_TABLE, (12,), UNTOLD),  # one address for all pages: it tells nothing
        ],
    )
    def test_looks_and_addresses_decide(
        self, second: str, addresses: tuple[int, ...], bound: float
    ) -> None:
        table = table_of(*pages(PLAIN, 6), *pages(second, 6))
        where = Where(numbers(*addresses), numbers(*addresses))

        assert KinshipBounds(table, where, numbers(6, 6)).of(0)[1] == pytest.approx(bound)

    def test_where_the_address_tells_nothing_fields_do(self) -> None:
        first, second = (
            "<p>{n}<b>Price</b><i>{n}</i><b>Size</b><i>{n}</i>",
            "<p>{n}<b>Born</b><i>{n}</i><b>Died</b><i>{n}</i>",
        )
        table = table_of(*pages(first, 6), *pages(second, 6))
        where = Where(numbers(12), numbers(12))

        assert KinshipBounds(table, where, numbers(6, 6)).of(0)[1] == pytest.approx(APART)

    def test_places_of_pages_that_nothing_links_to_tell_nothing(self) -> None:
        table = table_of(*pages(PLAIN, 6), *pages(WITH_TABLE, 6), *pages(WITH_TABLE, 6))
        addresses, places = numbers(18), numbers(12, 6)

        told = KinshipBounds(table, Where(addresses, places), numbers(6, 6, 6)).of(0)[1]
        untold = KinshipBounds(
            table, Where(addresses, places, frozenset({0})), numbers(6, 6, 6)
        ).of(0)[1]

        assert (pytest.approx(OTHER), pytest.approx(UNTOLD)) == (told, untold)

    def test_the_same_address_among_others_makes_one_type(self) -> None:
        table = table_of(*pages(PLAIN, 6), *pages(PLAIN + "<i>{n}</i>", 6), *pages(WITH_TABLE, 6))
        where = Where(numbers(12, 6), numbers(12, 6))

        assert KinshipBounds(table, where, numbers(6, 6, 6)).of(0).tolist() == [
            pytest.approx(SAME),
            pytest.approx(SAME),
            pytest.approx(APART),
        ]

    def test_the_bounds_follow_the_joins(self) -> None:
        table = table_of(*pages(PLAIN, 6), *pages(WITH_TABLE, 6), *pages(WITH_TABLE, 6))
        where = Where(numbers(6, 6, 6), numbers(6, 6, 6))
        bounds, anew = (
            KinshipBounds(table, where, numbers(6, 6, 6)),
            KinshipBounds(table, where, numbers(6, 12)),
        )
        bounds.join(1, 2)

        assert bounds.of(0)[1] == anew.of(0)[1]

    def test_overlap_is_the_share_in_common(self) -> None:
        counts = np.array([[8, 1], [2, 3]], np.float32)

        assert overlap_with(counts, np.array([10, 4], np.float32), 0).tolist() == [
            1,
            pytest.approx(0.25 + 0.2),
        ]


class TestMixedAddresses:
    def test_an_address_of_three_looks_tells_nothing(self) -> None:
        table = table_of(
            *pages(PLAIN, 5),
            *pages(WITH_TABLE, 5),
            *pages("<ul><li>{n}</ul><q>{n}", 5),
            *[PLAIN] * 5,
        )
        groups = numbers(5, 5, 5, 5)

        assert mixed_addresses(table, numbers(15, 5), groups).tolist() == [True, False]
        assert mixed_addresses(table, numbers(10, 10), groups).tolist() == [False, False]


class TestLooks:
    OLD = "<table><tr><td>Price<td>{n}<tr><td>Weight<td>{n}<tr><td>Colour<td>{n}</table>"
    NEW = "<dl><dt>Price<dd>{n}<dt>Weight<dd>{n}<dt>Colour<dd>{n}</dl>"
    GONE = "<div><p>Sorry<p>Gone<p>Search</div>"

    def test_two_looks_of_one_address_with_the_same_labels_are_one_type(self) -> None:
        table = table_of(*pages(self.OLD, 6), *pages(self.NEW, 6), *pages(self.GONE, 6))
        where = Where(numbers(18), numbers(18))
        joined = join_looks(table, where, numbers(6, 6, 6))

        assert (joined[0] == joined[6], joined[0] == joined[12]) == (True, False)

    def test_at_other_addresses_they_are_two(self) -> None:
        table = table_of(*pages(self.OLD, 6), *pages(self.NEW, 6))
        joined = join_looks(table, Where(numbers(6, 6), numbers(6, 6)), numbers(6, 6))

        assert joined[0] != joined[6]

    def test_labels_of_the_whole_site_are_no_evidence(self) -> None:
        labels = np.array([[6, 6, 9], [6, 0, 0], [0, 6, 0]], np.float32)
        sizes = np.array([6, 6, 9], np.float32)

        assert not has_same_labels(labels, sizes, 0, 1)
        assert has_same_labels(np.vstack([labels, [[6, 6, 0]] * 9]).astype(np.float32), sizes, 0, 1)
