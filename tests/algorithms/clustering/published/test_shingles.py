"""Signatures of tag sequences and Algorithm 1."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.algorithms.grouping import ClusteringInputs, RawPage
from clustering.algorithms.published import shingles
from clustering.algorithms.published.shingles import (
    WILD,
    assign,
    cluster_pages,
    cluster_vectors,
    cluster_vectors_fast,
    masked_vectors,
    scan_tags,
    shingle_vector,
    threshold_for,
    vector_of_tags,
)
from clustering.algorithms.published.signatures import Masked


def packed(*values: int) -> int:
    return int.from_bytes(bytes(values), "big")


V1 = packed(0, 0, 0, 0, 0, 1, 2, 4)
V2 = packed(0, 0, 0, 0, 0, 1, 5, 3)
V3 = packed(0, 0, 0, 0, 0, 6, 2, 3)
MV1 = Masked(packed(0, 0, 0, 0, 0, 1, 0, 0), 0xFFFF)
MV2 = Masked(packed(0, 0, 0, 0, 0, 0, 2, 0), 0xFF00FF)
MV3 = Masked(packed(0, 0, 0, 0, 0, 0, 0, 3), 0xFFFF00)


class TestPaper:
    def test_37_masked_vectors_cover_a_vector(self) -> None:
        assert len(set(masked_vectors(V1))) == 1 + 8 + 28

    def test_masks_cover_what_agrees_in_the_other_bytes(self) -> None:
        assert (MV1.covers(V1), MV1.covers(V2), MV1.covers(V3)) == (True, True, False)

    def test_example_3_1_with_the_order_and_the_ties_of_its_story(self) -> None:
        # Printed as v2 and v3, its story speaks of them by each other's names: order v1, v3, v2.
        counts = {mask: sum(mask.covers(v) for v in (V1, V2, V3)) for mask in (MV1, MV2, MV3)}
        assert set(counts.values()) == {2}
        for v, best in [(V1, MV1), (V3, MV3), (V2, MV1)]:
            covering = [mask for mask in counts if mask.covers(v)]
            assert counts[best] == max(counts[mask] for mask in covering)
            for mask in covering:
                counts[mask] -= mask != best

        assert counts == {MV1: 2, MV2: 0, MV3: 1}

    def test_example_3_1_by_our_own_order(self) -> None:
        # In the order v1, v2, v3, ties to the mask whose wild cards stand highest: v1 takes mv2
        # from mv1, v2 mv3 from mv1, v3 mv3 from mv2.
        assigned, counts = cluster_vectors([V1, V2, V3], 1)

        assert assigned == [MV2, MV3, MV3]
        assert (counts.get(MV1, 0), counts[MV2], counts[MV3]) == (0, 1, 2)

    def test_signatures_agree_as_often_as_the_shingles_overlap(self) -> None:
        chance = random.Random(1)
        pages = [[f"t{chance.randrange(40)}".encode() for _ in range(400)] for _ in range(60)]
        pairs = [(a[:cut] + b[cut:], a) for a, b in pairwise(pages) for cut in (100, 200, 300)]
        errors = [agreement(a, b) - jaccard(a, b) for a, b in pairs]

        assert abs(np.mean(errors)) < 0.04

    def test_small_samples_have_a_small_threshold(self) -> None:
        assert [threshold_for(n) for n in (10, 60, 1_000, 2_000, 20_000)] == [2, 2, 10, 20, 20]


def agreement(a: list[bytes], b: list[bytes]) -> float:
    left, right = (vector_of_tags(tags).to_bytes(8, "big") for tags in (a, b))
    return sum(x == y for x, y in zip(left, right, strict=True)) / 8


def jaccard(a: list[bytes], b: list[bytes]) -> float:
    left, right = ({tuple(tags[i : i + 10]) for i in range(len(tags) - 9)} for tags in (a, b))
    return len(left & right) / len(left | right)


SIMILAR_VECTORS = st.lists(
    st.lists(st.integers(0, 2), min_size=8, max_size=8).map(lambda v: packed(*v)), max_size=40
)


@given(SIMILAR_VECTORS, st.integers(1, 4))
def test_the_fast_form_returns_what_the_paper_s_form_returns(
    vectors: list[int], threshold: int
) -> None:
    assert cluster_vectors(vectors, threshold) == cluster_vectors_fast(
        np.array(vectors, dtype=np.uint64), threshold
    )


@given(SIMILAR_VECTORS, st.randoms())
def test_the_order_of_pages_does_not_matter(vectors: list[int], chance: random.Random) -> None:
    shuffled = list(range(len(vectors)))
    chance.shuffle(shuffled)
    there, _ = cluster_vectors(vectors, 1)
    here, _ = cluster_vectors([vectors[index] for index in shuffled], 1)

    assert [there[index] for index in shuffled] == here


@given(SIMILAR_VECTORS)
def test_every_page_is_covered_by_the_mask_of_its_group(vectors: list[int]) -> None:
    assigned, _ = cluster_vectors(vectors, 1)

    assert all(
        mask is not None and mask.covers(v) for mask, v in zip(assigned, vectors, strict=True)
    )


@pytest.mark.parametrize(
    ("markup", "tags"),
    [
        (b"<html><body><p>a</p><BR/>", [b"html", b"body", b"p", b"br"]),
        (b"<p><!-- <b> --><i>", [b"p", b"i"]),
        (b"<script>if (a<b) x('<p>')</script><i>", [b"script", b"i"]),
        (b"<p>a < b <3 </p>", [b"p"]),
        (b"<!-- never ends <p>", []),
        (b"<script> never ends <p>", [b"script"]),
        (b"<title>a <b> c</TITLE ><i>", [b"title", b"i"]),
        (b"<titles><b><script/><i></script><u>", [b"titles", b"b", b"script", b"u"]),
        (b"", []),
    ],
)
def test_scanned_are_start_tags_outside_comments_and_scripts(
    markup: bytes, tags: list[bytes]
) -> None:
    assert scan_tags(markup) == tags


@pytest.mark.parametrize(
    "piece", [b"<!--", b"<script", b"<script>", b"<", b"<a" * 20, b"</script", b"<title "]
)
def test_hostile_markup_is_scanned_in_linear_time(piece: bytes) -> None:
    body = piece * (2_000_000 // len(piece))

    assert shingle_vector(body) == (vector_of_tags(tags) if (tags := scan_tags(body)) else None)


MARKUP = st.lists(
    st.sampled_from(
        [
            "<p>",
            "<A href='<b>'>",
            "<!--",
            "-->",
            "<script>",
            "</script>",
            "<SCRIPT x",
            ">",
            "<title",
            "</title",
            " ",
            "<",
            "/",
            "é",
            "<custom-element-of-length>",
        ]
    ),
    max_size=25,
).map("".join)


@given(MARKUP)
def test_the_array_scanner_finds_what_the_plain_one_finds(markup: str) -> None:
    body = markup.encode()
    tags = scan_tags(body)

    assert shingle_vector(body) == (vector_of_tags(tags) if tags else None)


def test_a_page_in_utf_16_has_the_signature_of_its_text() -> None:
    markup = "\ufeff<p><i>" + "<li>" * 20

    assert shingle_vector(markup.encode("utf-16-le")) == shingle_vector(markup.encode())


def test_a_page_without_tags_has_no_signature_and_no_group() -> None:
    grouping = cluster_pages(["a"], [shingle_vector(b"words")], ClusteringInputs())

    assert (grouping.groups, grouping.unassigned) == ([], (0,))


def test_a_later_page_goes_to_the_group_of_its_like() -> None:
    bodies = [b"<html>" + b"<p>" * 30, b"<html>" + b"<ul><li>" * 20]
    vectors = [shingles.observe(RawPage("u", body)) for body in bodies for _ in range(5)]
    grouping = cluster_pages(["u"] * 10, vectors, ClusteringInputs())

    assert [len(group.members) for group in grouping.groups] == [5, 5]
    assert assign(grouping.model, vectors[7], "new") == grouping.labels(10)[7]
    assert assign(grouping.model, vectors[7] ^ (1 << 64) - 1, "new") is None


def test_ties_are_decided_by_few_wild_cards_and_then_the_highest_bytes() -> None:
    assert WILD[0] == 0
    assert WILD[1] == 0xFF << 56
    assert WILD[9] == (0xFF << 56) | (0xFF << 48)
