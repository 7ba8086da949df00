"""Small groups that surely are of one template."""

from __future__ import annotations

import numpy as np

from clustering.algorithms.automatic.feature_table import tabulate
from clustering.algorithms.automatic.first_groups import find_structure, part_by_addresses
from clustering.algorithms.automatic.page_features import observe
from clustering.algorithms.grouping import RawPage
from clustering.algorithms.url_patterns import address_patterns

DETAIL = "<h1>{n}</h1><b>Price:</b><i>{n}</i><b>Weight:</b><i>{n} kg</i>"
LIST = "<ul><li><a href=/{n}>{n}</a><li><a href=/x{n}>x{n}</a></ul><u>{n} found</u>"


def parted(urls: list[str]) -> list[int]:
    one_structure = np.zeros(len(urls), np.intp)
    groups: list[int] = part_by_addresses(one_structure, urls, address_patterns(urls)).tolist()
    return groups


def test_pages_of_other_structure_are_apart() -> None:
    html = [DETAIL.format(n=n) for n in range(12)] + [LIST.format(n=n) for n in range(8)]
    table = tabulate([observe(RawPage("http://a.b", text.encode())) for text in html])

    structure = find_structure(table)

    assert not set(structure[:12].tolist()) & set(structure[12:].tolist())


def test_pages_at_other_addresses_are_apart() -> None:
    urls = [f"http://a.b/p/{n}" for n in range(6)] + [f"http://a.b/c/{n}" for n in range(6)]

    group = parted(urls)

    assert 2 == len(set(group))
    assert 1 == len(set(group[:6]))


def test_a_first_word_that_enough_pages_have_parts_them() -> None:
    names = ["oak", "elm", "ash", "yew", "fir"]
    urls = [f"http://a.b/struct-{name}" for name in names]
    urls += [f"http://a.b/enum-{name}" for name in names]

    assert [5, 5] == np.bincount(parted(urls)).tolist()


def test_a_word_that_few_pages_have_parts_nothing() -> None:
    urls = [f"http://a.b/{name}" for name in ("oak", "elm", "ash", "yew", "fir", "oak-2")]

    assert [6] == np.bincount(parted(urls)).tolist()
