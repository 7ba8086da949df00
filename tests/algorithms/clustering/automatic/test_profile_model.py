"""The model of the groups, and later pages."""

from __future__ import annotations

import json

import numpy as np
import pytest

from clustering.algorithms.automatic import auto
from clustering.algorithms.automatic.feature_table import tabulate
from clustering.algorithms.automatic.page_features import PageFeatures, observe
from clustering.algorithms.automatic.profile_model import assign, model_of, place
from clustering.algorithms.grouping import NOWHERE, ClusteringInputs, Grouping, RawPage
from clustering.algorithms.url_patterns import address_patterns

DETAIL = "<h1>Thing {n}</h1><b>Price:</b><i>{n}</i><b>Weight:</b><i>{n} kg</i><p>{n} things"
LIST = "<h2>Things</h2><ul><li><a href=/{n}>{n}</a><li><a href=/x{n}>x{n}</a></ul><u>{n} found</u>"
SET = DETAIL + "<section><h3>Parts</h3><ol><li>{n}</ol><em>{n}</em></section>"


def seen(html: str, url: str = "http://a.b") -> PageFeatures:
    return observe(RawPage(url, html.encode()))


@pytest.fixture(scope="module")
def shop() -> Grouping:
    """Return the clusters of 60 details, 9 of them sets, and 20 lists."""
    pages = [(f"http://a.b/p/{n}", (SET if n < 9 else DETAIL).format(n=n)) for n in range(60)]
    pages += [(f"http://a.b/list/{n}", LIST.format(n=n)) for n in range(20)]
    return auto.cluster_pages(
        [url for url, _ in pages], [seen(html) for _, html in pages], ClusteringInputs()
    )


def group_at(grouping: Grouping, page: int) -> str | None:
    return grouping.labels(80)[page]


def test_a_later_page_goes_to_the_group_of_its_type(shop: Grouping) -> None:
    assert [60, 20] == [len(group.members) for group in shop.groups]
    assert group_at(shop, 30) == assign(shop.model, seen(DETAIL.format(n=99)), "http://a.b/p/99")
    assert group_at(shop, 70) == assign(shop.model, seen(LIST.format(n=99)), "http://a.b/list/99")


def test_a_later_page_is_of_the_layout_of_its_look(shop: Grouping) -> None:
    plain, sets = shop.groups[0].layouts

    assert (51, 9) == (len(plain.members), len(sets.members))
    assert plain.name == place(shop.model, seen(DETAIL.format(n=99)), "http://a.b/p/99").layout
    assert sets.name == place(shop.model, seen(SET.format(n=99)), "http://a.b/p/99").layout
    assert None is place(shop.model, seen(LIST.format(n=99)), "http://a.b/list/99").layout
    assert NOWHERE == place(shop.model, seen("<pre>other</pre>"), "http://a.b/p/99")


def test_an_address_decides_between_looks_that_are_alike() -> None:
    pages = [(f"http://a.b/buy/{n}", DETAIL.format(n=n)) for n in range(20)]
    pages += [(f"http://a.b/rent/{n}", SET.format(n=n)) for n in range(20)]
    model = model_of(
        tabulate([seen(html) for _, html in pages]),
        look=np.repeat([0, 1], 20),
        group=np.repeat([0, 1], 20),
        patterns=address_patterns([url for url, _ in pages]),
        names=["buy", "rent"],
    )
    half_a_set = SET.format(n=99).replace("<em>99</em>", "")

    assert "rent" == assign(model, seen(half_a_set), "http://a.b/rent/99")
    assert "rent" == assign(model, seen(half_a_set), "http://a.b/en/rent/99")
    assert "rent" == assign(model, seen(SET.format(n=99)), "http://a.b/buy/99")


def test_a_page_with_nothing_in_common_is_in_no_group(shop: Grouping) -> None:
    assert None is assign(shop.model, seen("<div><pre>other</pre></div>"), "http://a.b/p/99")
    assert None is assign(shop.model, seen(""), "http://a.b/p/99")
    assert None is assign({}, seen(DETAIL), "http://a.b/p/99")


def test_the_model_is_json_and_says_the_same_after_a_journey(shop: Grouping) -> None:
    model = json.loads(json.dumps(shop.model))

    assert group_at(shop, 30) == assign(model, seen(DETAIL.format(n=99)), "http://a.b/p/99")


KINDS = [kind for kind in range(50) for _ in range(4)]
RICH = [
    (
        f"http://a.b/{'abcdefghij'[kind % 10] * 4}{'klmno'[kind // 10]}/{n}",
        "".join(
            f"<b class=k{kind}>L{kind}.{f}:</b><i class=k{kind}f{f}>{n}{f}</i>" for f in range(150)
        ),
    )
    for n, kind in enumerate(KINDS)
]


@pytest.fixture(scope="module")
def rich_observations() -> list[PageFeatures]:
    return [seen(html) for _, html in RICH]


def test_the_model_of_fifty_rich_groups_stays_below_two_megabytes(
    rich_observations: list[PageFeatures],
) -> None:
    model = model_of(
        tabulate(rich_observations),
        look=np.array(KINDS),
        group=np.array(KINDS),
        patterns=address_patterns([url for url, _ in RICH]),
        names=[f"kind {kind}" for kind in range(50)],
    )

    assert len(set(model["groups"])) == 50
    assert len(json.dumps(model)) < 2_000_000


@pytest.mark.bar
def test_fifty_rich_groups_are_found_and_have_such_a_model(
    rich_observations: list[PageFeatures],
) -> None:
    grouping = auto.cluster_pages([url for url, _ in RICH], rich_observations, ClusteringInputs())

    assert len(grouping.groups) == 50
    assert len(json.dumps(grouping.model)) < 2_000_000
