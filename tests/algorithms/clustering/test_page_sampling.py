"""Pages from all parts of a site."""

from __future__ import annotations

import random
from collections import Counter
from hashlib import sha256
from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from clustering.algorithms.page_sampling import Candidate, sample_by_strata, share_out

SIZE = 2_000
N_PAGES = 100_000


def page(path: str, depth: int = 2, place: str = "/html/body/ul/li/a") -> Candidate:
    url = f"http://shop.example/{path}"
    return Candidate(url, sha256(url.encode()).digest()[:16], depth, place)


def large_site(n: int) -> list[Candidate]:
    """Return products at two kinds of addresses, and articles at addresses that tell nothing."""
    products = [page(f"p/{number}-rope") for number in range(n // 2)]
    offers = [page(f"offer.php?id={number}&view=all") for number in range(n // 4)]
    articles = [page(f"story-{number * 7919 % 999_983:x}-end") for number in range(n // 4)]
    return [*products, *offers, *articles]


FIVE = {
    "addresses of their own": [page(f"jobs/{n}") for n in range(5)],
    "a section among many": [
        page(f"jobs/{name}") for name in ("cook", "host", "maid", "cash", "it")
    ],
    "another query": [page(f"offer.php?print={n}") for n in range(5)],
    "another depth": [page(f"p/{n}-last", depth=7) for n in range(5)],
    "another place of links": [page(f"p/{n}-foot", place="/html/body/footer/a") for n in range(5)],
}


def test_types_of_5_pages_among_100_000_are_in_the_sample() -> None:
    pages = [*large_site(N_PAGES), *chain(*FIVE.values())]
    sampled = {pages[index] for index in sample_by_strata(pages, SIZE)}

    assert SIZE == len(sampled)
    for kind, five in FIVE.items():
        assert set(five) <= sampled, kind


def test_many_small_sections_are_all_in_the_sample() -> None:
    sections = [page(f"{name}/{n}-page") for name in "abcdefghijklmnopqrstuvwxyz" for n in range(5)]
    pages = [*large_site(20_000), *sections]
    sampled = {pages[index] for index in sample_by_strata(pages, SIZE)}

    assert set(sections) <= sampled


def test_the_largest_parts_have_most_pages() -> None:
    pages = large_site(20_000)
    kinds = Counter(
        pages[index].url.split("/")[3].partition(".")[0] for index in sample_by_strata(pages, SIZE)
    )

    assert kinds["p"] > kinds["offer"] > SIZE // 5


@given(st.integers(0, 10**6), st.integers(0, 150))
def test_the_sample_is_the_same_whatever_order_pages_come_in(seed: int, size: int) -> None:
    pages = [
        *(page(f"p/{n}", depth=n % 3) for n in range(60)),
        *(page(f"news/{n}/story", place=f"/html/{n % 5}") for n in range(40)),
        *(page(f"{n}.html") for n in range(7)),
    ]
    mixed = random.Random(seed).sample(pages, len(pages))
    sampled = [pages[index] for index in sample_by_strata(pages, size)]

    assert sampled == [mixed[index] for index in sample_by_strata(mixed, size)]
    assert min(size, len(pages)) == len(set(sampled))
    assert sampled == sorted(sampled, key=lambda each: each.url_hash)


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=60), st.integers(0, 5_000))
def test_strata_give_no_more_than_they_have_and_together_what_is_asked(
    sizes: list[int], n: int
) -> None:
    shares = share_out(sizes, n)

    assert all(0 <= share <= size for share, size in zip(shares, sizes, strict=True))
    assert min(n, sum(sizes)) == sum(shares)


def test_strata_of_few_pages_give_all_of_them() -> None:
    assert [3, 20, 5] == share_out([3, 20, 5], 1_000)
    shares = share_out([50_000, 3, 20, 5, 40_000], 1_000)
    assert [3, 20, 5] == shares[1:4]
