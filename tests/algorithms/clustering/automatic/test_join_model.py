"""The trees that judge a pair of groups."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.joins.training import as_json
from clustering.algorithms.automatic.join_model import (
    AS_BY_TREES,
    LEAF,
    JoinModel,
    Likeliest,
    trained_model,
)
from clustering.algorithms.automatic.pair_features import COLUMNS, DIRECTIONS

NAN = float("nan")
# Is the first column up to 0.5? Then 2, else ask the second column.
TREE = {
    "column": [0, LEAF, 1, LEAF, LEAF],
    "threshold": [0.5, 0.0, 3.0, 0.0, 0.0],
    "left": [1, 0, 3, 0, 0],
    "right": [2, 0, 4, 0, 0],
    "missing_left": [0, 0, 1, 0, 0],
    "value": [0.5, 2.0, -0.5, -1.0, 1.0],
}


def small_model() -> JoinModel:
    return JoinModel.from_json(
        {
            "columns": ["a", "b"],
            "base": 0.25,
            "depth": 2,
            "likeliest": asdict(AS_BY_TREES),
            "trees": [TREE],
        }
    )


@pytest.mark.parametrize(
    ("pair", "log_odds"),
    [([0.5, 9], 2.25), ([0.6, 3], -0.75), ([0.6, 4], 1.25), ([NAN, 4], 1.25), ([0.6, NAN], -0.75)],
)
def test_a_pair_falls_into_one_leaf(pair: list[float], log_odds: float) -> None:
    assert [log_odds] == small_model().log_odds(np.array([pair], np.float32)).tolist()


def test_columns_add_up_to_the_log_odds() -> None:
    model, pair = small_model(), np.array([0.6, 4], np.float32)

    added = model.contributions(pair)

    assert {"a": -1.0, "b": 1.5} == added
    expected = 0.25 + 0.5 + sum(added.values())
    assert expected == pytest.approx(model.log_odds(pair[np.newaxis])[0])


def test_a_missing_column_speaks_neither_for_nor_against() -> None:
    assert {"a": -1.0} == small_model().contributions(np.array([0.6, NAN], np.float32))


def test_the_json_says_what_the_fits_say() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(2_000, 6)).astype(np.float32)
    x[rng.random(x.shape) < 0.1] = NAN
    y = np.nan_to_num(x[:, 0]) * np.nan_to_num(x[:, 1]) > 0.1
    fits = [
        HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=8, random_state=seed).fit(x, y)
        for seed in range(3)
    ]

    likeliest = Likeliest(1.1, 0.5, -0.25)

    model = JoinModel.from_json(json.loads(json.dumps(as_json(fits, likeliest))))

    expected = np.mean([fitted.decision_function(x) for fitted in fits], axis=0)
    assert np.allclose(expected, model.log_odds(x), atol=1e-3)
    assert likeliest == model.likeliest


def test_by_chance_the_likeliest_of_more_groups_is_likelier() -> None:
    """So it holds in the trained model."""
    likeliest = trained_model().likeliest

    assert likeliest.log_odds(1, 3) > likeliest.log_odds(1, 30)
    assert likeliest.log_odds(2, 3) > likeliest.log_odds(1, 3)


def test_larger_distances_never_speak_for_one_template() -> None:
    """The directions of the columns hold in the trained trees."""
    model, rng = trained_model(), np.random.default_rng(1)
    pairs = rng.random((200, len(COLUMNS))).astype(np.float32)
    before = model.log_odds(pairs)
    for column in np.flatnonzero(np.array(DIRECTIONS) < 0)[::7].tolist():
        farther = pairs.copy()
        farther[:, column] += 0.3

        assert (model.log_odds(farther) <= before + 1e-4).all()
