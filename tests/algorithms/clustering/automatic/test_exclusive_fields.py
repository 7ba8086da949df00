"""Types that have the same structure and fields which exclude each other."""

from __future__ import annotations

import random

import numpy as np
import pytest

from clustering.algorithms.automatic.exclusive_fields import split_by_fields
from clustering.algorithms.automatic.feature_table import tabulate
from clustering.algorithms.automatic.page_features import observe
from clustering.algorithms.grouping import RawPage

CHANCE = random.Random(1)
SHARED = ("Rooms", "Area", "Floor")


def facts(*labels: str, look: str = "<p><b>{0}:</b> <i>{1}</i>") -> str:
    return "<h1>Home</h1>" + "".join(
        look.format(label, CHANCE.randrange(10**6)) for label in labels
    )


def sizes(*pages: str) -> list[int]:
    table = tabulate([observe(RawPage("http://a.b", html.encode())) for html in pages])
    return sorted(map(len, split_by_fields(table, np.arange(len(pages)))))


RENT = ("Deposit", "Free from", "Pets")
SALE = ("Commission", "Built")


def test_fields_that_exclude_each_other_make_two_types() -> None:
    pages = [facts(*SHARED, *RENT) for _ in range(12)] + [facts(*SHARED, *SALE) for _ in range(20)]

    assert [12, 20] == sizes(*pages)


def test_a_page_without_its_own_fields_goes_where_they_are_left_blank() -> None:
    pages = [facts(*SHARED, *RENT) for _ in range(12)] + [facts(*SHARED, *SALE) for _ in range(20)]
    pages += [facts(*SHARED, "Built") for _ in range(3)] + [facts(*SHARED) for _ in range(2)]

    assert [12, 25] == sizes(*pages)


def test_it_is_the_same_in_two_looks() -> None:
    other = "<tr><th>{0}</th><td>{1}</td></tr>"
    pages = [
        facts(*SHARED, *RENT, look=other if n % 3 else "<p><b>{0}</b><i>{1}</i>") for n in range(12)
    ]
    pages += [
        facts(*SHARED, *SALE, look=other if n % 2 else "<p><b>{0}</b><i>{1}</i>") for n in range(20)
    ]

    assert [12, 20] == sizes(*pages)


@pytest.mark.parametrize(
    "kinds",
    [
        [SHARED + RENT, SHARED],  # optional fields exclude nothing
        [(*SHARED, "Deposit"), (*SHARED, "Commission")],  # one against one happens by chance
        [(*SHARED, f"Height {n}", f"Width {n}") for n in range(5)],  # categories
        [("Zimmer", "Etage", "Preis"), ("Rooms", "Floor", "Price")],  # languages
        [SHARED + RENT] * 2,
    ],
    ids=["optional", "one against one", "categories", "languages", "the same"],
)
def test_other_differences_make_no_types(kinds: list[tuple[str, ...]]) -> None:
    pages = [facts(*kind) for kind in kinds for _ in range(14)]

    assert [len(pages)] == sizes(*pages)


def test_signs_and_states_are_no_fields() -> None:
    in_stock, sold = (
        "<b>In stock</b><i>Buy</i><b>Today</b><i>Send</i>",
        "<b>Sold</b><i>Wait</i><b>Soon</b><i>Ask</i>",
    )

    assert [28] == sizes(*(facts(*SHARED) + (in_stock if n % 2 else sold) for n in range(28)))


def test_nothing_stays_whole() -> None:
    assert [3] == sizes("", "", "")
