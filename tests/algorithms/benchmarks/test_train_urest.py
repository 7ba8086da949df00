"""What the ranker of records learns from: generated pages, with scores as they are in use."""

import numpy as np
import pytest

from benchmarks.records.generated import LAYOUTS, MARK, made_pages
from benchmarks.records.labelled import LabelledPage, generated
from benchmarks.records.scoring import GOOD, f_score
from benchmarks.train_urest import NO_LIST, best_least, measure, scores_of
from clustering.algorithms.records.candidates import find_candidates
from clustering.algorithms.records.ranker import load_ranker


def first_of(layout: str) -> LabelledPage:
    return next(page for page in generated() if page.source == layout)


@pytest.mark.parametrize("layout", list(LAYOUTS)[::3])
def test_the_records_of_a_layout_are_among_the_candidates(layout: str) -> None:
    labelled = first_of(layout)
    page = labelled.model()
    best = max(
        f_score(labelled.truth, [page.interval(region) for region in candidate.regions])
        for candidate in find_candidates(page)
    )

    assert len(labelled.truth.records) > 2
    assert best >= GOOD


def test_pages_are_made_alike_each_time_and_those_without_a_list_have_no_records() -> None:
    pages = list(made_pages())
    empty = [written for layout, written in pages if not layout]

    assert pages == list(made_pages())
    assert len(empty) > 20
    assert not any(MARK in written for written in empty)


def test_training_scores_candidates_as_the_ranker_does() -> None:
    ranker = load_ranker()
    looked_at = measure(first_of("items")).completed(ranker.quick)
    expected = [ranker.full.score(list(row)) for row in looked_at.rows]

    assert expected == pytest.approx(list(scores_of(ranker.full, np.array(looked_at.rows))))


def test_the_least_score_parts_pages_with_a_list_from_those_without() -> None:
    lists = [
        ("cards", 0.9, True),
        ("cards", 0.55, True),
        ("cards", 0.5, False),
        ("rows", 0.6, True),
    ]
    empty = [(NO_LIST, 0.2, False), (NO_LIST, 0.45, False), (NO_LIST, 0.9, False)]

    assert 0.45 < best_least([*lists, *empty]) <= 0.55
