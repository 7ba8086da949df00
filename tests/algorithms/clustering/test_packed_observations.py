"""What was observed of a page, in few bytes and back."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from clustering.algorithms.automatic.page_features import PageFeatures
from clustering.algorithms.clusterers import CLUSTERERS, clusterer_with
from clustering.algorithms.grouping import RawPage
from clustering.algorithms.observation import ObservedPage, observe_page
from clustering.algorithms.packed_observations import (
    VERSION,
    BadPacking,
    is_packable,
    observation_for,
    observe_packed,
    pack_page,
    packing_version,
    unpack_page,
)
from vertex.demo import sites

ROPE = RawPage(
    "https://shop.example/p/1",
    b"<html><head><title> A  rope </title></head><body id=b class='x y'><h1>Rope <b>9 mm</b></h1>"
    b"<table><tr><th>Price:<td>9.50<tr><th>Length:<td>60 m</table><p itemprop=text>Good &amp; long",
)
EMPTY = RawPage("https://shop.example/p/2", b"")


def assert_same(expected: ObservedPage, actual: ObservedPage) -> None:
    for name in ("vector", "title", "heading", "labels"):
        assert getattr(expected, name) == getattr(actual, name), name
    assert expected.paths.tolist() == actual.paths.tolist()
    for field in fields(PageFeatures):
        before = getattr(expected.observation, field.name)
        after = getattr(actual.observation, field.name)
        if isinstance(before, np.ndarray):
            assert before.dtype == after.dtype
            assert before.tolist() == after.tolist(), field.name
        else:
            assert before == after, field.name


@pytest.mark.parametrize("page", [ROPE, EMPTY])
def test_what_is_unpacked_is_what_was_observed(page: RawPage) -> None:
    assert_same(observe_page("auto", page), unpack_page(observe_packed([page])[0]))


def test_pages_of_a_demo_site_come_back_as_they_were() -> None:
    for path, page in list(sites.load(sites.NAMES[0], "1").pages.items())[::40]:
        raw = RawPage(f"https://shop.example{path}", page.body, page.content_type)
        seen = observe_page("auto", raw)
        assert_same(seen, unpack_page(pack_page(seen)))


@pytest.mark.parametrize("algorithm", sorted(CLUSTERERS))
def test_an_algorithm_gets_its_own_observation_from_a_packed_page(algorithm: str) -> None:
    clusterer = clusterer_with(algorithm, {})
    if not is_packable(clusterer):
        assert clusterer.observe is not None
        return
    own = observe_page(algorithm, ROPE)
    stored = observation_for(clusterer, unpack_page(observe_packed([ROPE])[0]))

    assert (own.vector, own.title, own.heading) == (stored.vector, stored.title, stored.heading)
    assert own.paths.tolist() == stored.paths.tolist()
    if algorithm != "auto":
        assert own.observation == stored.observation


def test_signatures_of_other_shingles_are_not_taken_from_a_packed_page() -> None:
    assert is_packable(clusterer_with("shingles", {}))
    assert not is_packable(clusterer_with("shingles", {"shingle_length": 3}))


@given(st.binary(max_size=300), st.integers(0, 3000))
def test_damaged_bytes_are_refused(noise: bytes, at: int) -> None:
    packed = observe_packed([ROPE])[0]
    for damaged in (noise, packed[:at], packed + noise + b"x"):
        if damaged != packed and len(damaged) != len(packed):
            with pytest.raises(BadPacking):
                unpack_page(damaged)


def test_another_version_is_refused() -> None:
    packed = observe_packed([ROPE])[0]
    other = packed.replace(packing_version().encode(), b"00000000")

    with pytest.raises(BadPacking, match="version 00000000"):
        unpack_page(other)


def test_the_version_is_raised_when_something_else_is_observed() -> None:
    """What is stored of pages is compared with what is observed of later ones.

    Where this fails, `observe`, `shingle_vector` or `all_paths` now gives something else for the
    same page: raise VERSION, so that stored pages are observed again, and write the new digest.
    """
    packed = observe_packed([ROPE])[0]

    assert (2, "7fea6b92bed82ec3") == (VERSION, xxhash.xxh64_hexdigest(packed))
