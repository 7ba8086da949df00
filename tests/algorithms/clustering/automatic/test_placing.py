"""Later pages are assigned by the profiles of groups, as arrays would compute it."""

from __future__ import annotations

from base64 import b64decode

import numpy as np
import pytest

from clustering.algorithms.automatic import auto
from clustering.algorithms.automatic.page_features import observe
from clustering.algorithms.automatic.placing import (
    FIELD,
    PAIR,
    cells_of,
    place_cells,
    place_page,
    profiles_of,
)
from clustering.algorithms.automatic.profile_model import place
from clustering.algorithms.grouping import NOWHERE, ClusteringInputs, Model, RawPage

KINDS = (
    "<h1>Thing {n}</h1><b>Price:</b><i>{n}</i><b>Weight:</b><i>{n} kg</i><p>{n} things",
    "<h1>Thing {n}</h1><b>Price:</b><i>{n}</i><ol class='parts x{n}'><li>{n}</ol><em>{n}</em>",
    "<h2>Things</h2><ul id=found><li><a href=/{n}>{n}</a><li><a>x{n}</a></ul><u>{n} found</u>",
)


def page_of(kind: int, n: int) -> RawPage:
    return RawPage(f"http://a.b/{'ptl'[kind]}/{n}", KINDS[kind].format(n=n).encode())


@pytest.fixture(scope="module")
def model() -> Model:
    pages = [page_of(kind, n) for kind in range(3) for n in range(15)]
    observations = [observe(page) for page in pages]
    return auto.cluster_pages([p.url for p in pages], observations, ClusteringInputs()).model


def distances_by_arrays(model: Model, cells: set[int]) -> list[float]:
    """Return how far a page is from each look, by the formula of `profiles`."""
    hashes = np.frombuffer(b64decode(model["features"]), "<u8")
    w = np.frombuffer(b64decode(model["weights"]), "<f4").astype(np.float64)
    P = np.frombuffer(b64decode(model["shares"]), "u1").reshape(-1, len(hashes)) / 255
    q = np.isin(hashes, np.array(sorted(cells), np.uint64)).astype(np.float64)
    shared, in_all = (w * np.minimum(P, q)).sum(axis=1), (w * np.maximum(P, q)).sum(axis=1)
    distances: list[float] = (1 - shared / in_all).tolist()
    return distances


@pytest.mark.parametrize("kind", range(3))
def test_a_page_goes_to_the_look_that_arrays_find_nearest(model: Model, kind: int) -> None:
    page = page_of(kind, 99)
    features = observe(page)
    profiles = profiles_of(model)
    paths = features.features[features.places].tolist()
    cells = cells_of(
        features.features.tolist(),
        zip(paths, features.texts.tolist(), strict=True),
        profiles.labels,
    )
    nearest = int(np.argmin(distances_by_arrays(model, cells)))

    assert place_cells(profiles, cells, "http://a.b/elsewhere").group == model["groups"][nearest]


def test_a_page_is_placed_as_what_was_observed_of_it(model: Model) -> None:
    pages = [page_of(kind, 99) for kind in range(3)]
    pages += [RawPage("http://a.b/p/1", body) for body in (b"", b"<pre>other", b"<b>Price:</b>")]

    placed = [place_page(model, page) for page in pages]

    assert placed == [place(model, observe(page), page.url) for page in pages]
    assert NOWHERE in placed
    assert len({where.group for where in placed}) > 2


def test_cells_are_hashed_as_the_columns_of_the_table() -> None:
    path, label, value = 2**63 + 1, 2**63 + 3, 7

    cells = cells_of([path], [(path, label), (path, value), (path, 0)], frozenset([label]))

    assert cells == {path, label, (path * FIELD + label) % 2**64, (path * PAIR + label) % 2**64}


def test_no_model_places_no_page() -> None:
    assert place_page({}, page_of(0, 1)) == NOWHERE


def test_an_equal_model_read_again_places_alike(model: Model) -> None:
    assert profiles_of(dict(model)) is profiles_of(model)
