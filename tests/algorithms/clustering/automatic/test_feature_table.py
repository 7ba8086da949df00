"""What features weigh."""

from __future__ import annotations

import numpy as np
import pytest

from clustering.algorithms.automatic.feature_table import (
    MASS_OF_FIELDS,
    MASS_OF_PAIRS,
    MASS_OF_PATHS,
    find_fields,
    find_labels,
    is_pair,
    preceding_labels,
    tabulate,
    texts_of,
    weigh_fields,
    weigh_pairs,
    weigh_paths,
)
from clustering.algorithms.automatic.page_features import PageFeatures, feature_names, observe
from clustering.algorithms.automatic.page_walk import hash_text
from clustering.algorithms.automatic.placing import cells_of
from clustering.algorithms.grouping import RawPage


def seen(*pages: str) -> list[PageFeatures]:
    return [observe(RawPage(f"http://a.b/{n}", html.encode())) for n, html in enumerate(pages)]


def names_of(pages: list[PageFeatures]) -> dict[int, str]:
    return {
        int(value): name.removeprefix("/html/body")
        for page in pages
        for value, name in zip(page.features, feature_names(page), strict=True)
    }


FACTS = [f"<nav>Home</nav><b>Price:</b><i>{n}</i><b>Weight:</b><i>{n} kg</i>" for n in range(4)]


def test_navigation_weighs_nothing_and_values_weigh_most() -> None:
    pages = seen(*FACTS)
    paths = weigh_paths(pages, 2)
    names = names_of(pages)
    weights = {
        names[int(value)]: weight for value, weight in zip(paths.hashes, paths.weights, strict=True)
    }

    assert (weights["/nav"], weights["/b"], weights["/i"]) == (0, 0, 1)


def test_half_as_many_contents_weigh_half() -> None:
    pages = seen(*[f"<p>{n // 2}" for n in range(6)])
    paths = weigh_paths(pages, 2)

    assert paths.weights.max() == pytest.approx((3 - 1) / (6 - 1))


def test_what_few_pages_have_is_left_out() -> None:
    pages = seen("<p>1<u>x</u>", "<p>2", "<p>3")

    assert "/p/u" not in {names_of(pages)[int(value)] for value in weigh_paths(pages, 2).hashes}


def test_labels_are_texts_on_many_pages() -> None:
    labels = find_labels(texts_of(seen(*FACTS)))

    assert set(labels.tolist()) == {hash_text(text) for text in ("Home", "Price", "Weight")}


def test_the_nearest_label_before_a_text_counts_and_never_one_of_another_page() -> None:
    texts = texts_of(seen("<b>A</b><i>1</i><i>2</i><b>B</b><i>3</i>", "<i>4</i><b>A</b>"))
    labels = np.sort(np.array([hash_text("A"), hash_text("B")], np.uint64))
    name = {0: "", hash_text("A"): "A", hash_text("B"): "B"}

    assert [name[int(value)] for value in preceding_labels(texts, labels)] == [
        "",
        "A",
        "A",
        "A",
        "B",
        "",
        "",
    ]


def test_fields_share_the_weight_of_their_path() -> None:
    pages = seen(*FACTS)
    texts = texts_of(pages)
    paths = weigh_paths(pages, 2)
    fields = weigh_fields(texts, find_labels(texts), paths, 2)
    of_values = fields.weights[fields.weights > 0]

    assert of_values.tolist() == [0.5, 0.5]


def test_a_field_is_a_label_with_something_behind_it_that_differs() -> None:
    observations = seen(*(page + "<b>In stock</b><i>Buy</i>" for page in FACTS))
    texts = texts_of(observations)
    result = find_fields(texts, find_labels(texts))

    assert {hash_text("Price"), hash_text("Weight")} <= set(result.hashes.tolist())
    assert hash_text("In stock") not in result.hashes.tolist()


def test_a_pair_weighs_more_the_rarer_it_is() -> None:
    pages = seen(*["<p>Everywhere</p><u>Often</u>"] * 3, *["<p>Everywhere</p><s>Rare</s>"] * 5)
    texts = texts_of(pages)
    pairs = weigh_pairs(texts, find_labels(texts), 2)
    weight_by_label = dict(zip(pairs.labels.tolist(), pairs.weights.tolist(), strict=True))

    assert weight_by_label == {hash_text("Often"): 1 - 3 / 8, hash_text("Rare"): 1 - 5 / 8}


def test_labels_at_one_path_share_by_the_root_of_their_number() -> None:
    pages = seen(*["<u>A</u><u>B</u><u>C</u><u>D</u>"] * 3, *["<p>x"] * 3)
    texts = texts_of(pages)
    pairs = weigh_pairs(texts, find_labels(texts), 2)

    assert set(pairs.weights.tolist()) == {0.5, 0.25}


def test_the_three_sets_have_their_masses() -> None:
    pages = seen(*FACTS, *[f"<h2>Other</h2><p>{n}<b>Size</b><u>{n}" for n in range(4)])
    weighed = tabulate(pages).weighed

    assert (weighed.incidence @ weighed.weights).mean() == pytest.approx(
        MASS_OF_PATHS + MASS_OF_FIELDS + MASS_OF_PAIRS
    )


def test_the_table_is_the_same_for_pages_in_any_order() -> None:
    pages = seen(*FACTS, *[f"<p>{n}" for n in range(3)])
    first, second = tabulate(pages).weighed, tabulate(pages[::-1]).weighed

    assert first.hashes.tolist() == second.hashes.tolist()
    assert np.allclose(first.weights, second.weights)


def test_a_later_page_has_the_features_of_the_table() -> None:
    pages = seen(*FACTS, *["<h2>Other"] * 3)
    table = tabulate(pages)
    row = table.weighed.incidence[0].indices

    texts = texts_of(pages[:1])
    cells = cells_of(
        pages[0].features.tolist(),
        zip(texts.paths.tolist(), texts.texts.tolist(), strict=True),
        frozenset(table.labels.tolist()),
    )
    assert set(table.weighed.hashes[row].tolist()) <= cells


def test_fields_and_pairs_are_told_apart() -> None:
    pages = seen(*FACTS, *["<h2>Other"] * 4)
    weighed = tabulate(pages).weighed
    with_label = [column for column in range(len(weighed.hashes)) if weighed.labels[column]]

    assert {is_pair(weighed, column) for column in with_label} == {True, False}


@pytest.mark.parametrize("pages", [[], [""], ["", ""], ["<p>x"]])
def test_sites_of_next_to_nothing_have_a_table(pages: list[str]) -> None:
    assert tabulate(seen(*pages)).weighed.incidence.shape[0] == len(pages)
