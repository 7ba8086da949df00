"""How candidates are ranked with weights of plain numbers."""

import json
from importlib.resources.abc import Traversable
from math import e

import pytest

from clustering.algorithms.published import urest
from clustering.algorithms.records.candidates import find_candidates
from clustering.algorithms.records.features import FULL_NAMES, RANK_NAMES
from clustering.algorithms.records.ranker import (
    WEIGHTS,
    Model,
    WeightsDoNotFit,
    complete,
    load_ranker,
    preselect,
    read_model,
)
from tests.algorithms.clustering.records.test_page_model import model

STUMP = [[0, 0.5, 1, 2, 0], [-1, 0, 0, 0, 0.25], [-1, 0, 0, 0, 0.75]]
LIST = (
    b"<ul>" + b"".join(b"<li><b>%c</b> <i>%c!</i>" % (each, each) for each in b"abcde") + b"</ul>"
)


def test_a_tree_is_walked_by_thresholds() -> None:
    learnt = Model(["x"], [0.0], [1.0], [0.0], 0.0, 0.1, [STUMP, STUMP])

    assert [0.6, 1.6] == pytest.approx([learnt.score([0.5]), learnt.score([0.6])])


def test_the_margin_is_linear_in_scaled_features() -> None:
    learnt = Model(["x", "y"], [1.0, 0.0], [2.0, 1.0], [1.0, -1.0], 1.0, 0.0, [])

    assert learnt.margin([5.0, 1.0]) == 1
    assert learnt.score([5.0, 1.0]) == pytest.approx(e / (1 + e))


def test_weights_for_other_features_are_refused() -> None:
    with pytest.raises(WeightsDoNotFit):
        read_model({"names": ["x"]}, ["y"])


def test_a_candidate_that_holds_another_is_told_from_it() -> None:
    page = model(LIST)
    candidates, rows = preselect(page, find_candidates(page), None)
    done = complete(page, candidates, rows)
    holds, held = FULL_NAMES.index("holds_one_of"), FULL_NAMES.index("held_by_one")
    tags = [page.tags[candidate.regions[0][0]] for candidate in candidates]

    assert done[tags.index("li")][holds] > done[tags.index("b")][holds]
    assert done[tags.index("b")][held] > 0
    assert all(len(row) == len(FULL_NAMES) for row in done)
    assert len(RANK_NAMES) < len(FULL_NAMES)


def test_the_weights_that_ship_rank_records_first() -> None:
    page = model(LIST)
    ranked = load_ranker().rank(page, find_candidates(page))

    assert ranked[0][0] == max(score for score, _ in ranked)
    assert page.tags[ranked[0][1].regions[0][0]] == "li"


@pytest.mark.parametrize(
    "weights", [WEIGHTS / "records.json", urest.WEIGHTS], ids=["records", "urest"]
)
def test_weights_say_where_they_come_from(weights: Traversable) -> None:
    stored = json.loads(weights.read_text())

    assert "benchmarks.train_urest" in stored["command"]
    assert stored["date"] > "2020"
    assert sum(stored["pages"].values()) >= len(stored["sha256"]) > 20
