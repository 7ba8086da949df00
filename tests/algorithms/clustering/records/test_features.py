"""How much candidates look like records."""

from itertools import pairwise

import pytest

from clustering.algorithms.records.candidates import RecordList
from clustering.algorithms.records.features import (
    DEEP_NAMES,
    QUICK_NAMES,
    TAGS,
    deep_features,
    quick_features,
    spread,
)
from tests.algorithms.clustering.records.test_page_model import model

SHOP = b"""<nav class=menu><a href=/1>Home</a><a href=/2>Shop</a></nav><main>
<article><h2><a href=/a>Anvil</a></h2><p>$ 10</p></article><article><h2><a href=/b>Bell</a></h2><p>$ 20</p></article>
<article><h2><a href=/c>Cup</a></h2><p>$ 3</p></article></main>"""


def measured(body: bytes, tag: str) -> dict[str, float]:
    page = model(body)
    regions = tuple((number, number) for number, own_tag in enumerate(page.tags) if own_tag == tag)
    candidate = RecordList(regions, "key")
    names = [*QUICK_NAMES, *[f"tag_{name}" for name in TAGS], *DEEP_NAMES]
    values = [*quick_features(page, candidate), *deep_features(page, candidate)]
    return dict(zip(names, values, strict=True))


def test_records_that_touch_are_contiguous_and_their_fields_are_not() -> None:
    assert measured(SHOP, "article")["contiguity"] == 1
    assert measured(SHOP, "p")["contiguity"] < measured(SHOP, "article")["contiguity"]


def test_records_cover_more_than_navigation() -> None:
    assert measured(SHOP, "article")["coverage"] > 0.5


def test_prices_links_and_headings_are_seen() -> None:
    result = measured(SHOP, "article")

    assert (1, 1, 1) == (result["with_money"], result["with_link"], result["with_heading"])
    assert (1, 1) == (result["starts_heading"], result["starts_linked"])
    assert result["tag_article"] == 1


def test_columns_that_differ_are_told_from_constant_ones() -> None:
    body = b"<ul><li><i>Price</i><b>1</b><li><i>Price</i><b>2</b><li><i>Price</i><b>3</b></ul>"
    result = measured(body, "li")

    assert result["varied_columns"] == result["constant_columns"] == pytest.approx(0.693, abs=0.001)


def test_enumerations_are_seen() -> None:
    counted = b"".join(b"<p>%d. text</p>" % n for n in range(1, 6))

    assert measured(counted, "p")["enumerated"] == 4 / 5
    assert measured(b"<p>7. text</p><p>5. text</p>", "p")["enumerated"] == 0


@pytest.mark.parametrize(
    ("values", "expected"), [([2, 2, 2], 0), ([1, 3], 0.5), ([], 0), ([0, 0], 0)]
)
def test_the_spread_is_a_share_of_the_mean(values: list[float], expected: float) -> None:
    assert spread(values) == expected


def test_longer_outliers_widen_the_spread() -> None:
    spreads = [measured(b"<p>abc<p>abc<p>" + b"a" * n, "p")["length_spread"] for n in (3, 6, 30)]

    assert all(one < after for one, after in pairwise(spreads))
