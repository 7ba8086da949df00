"""Matching features and the trained weights."""

import numpy as np

from annotation.algorithms.fields.matching import (
    COLUMNS,
    KnownFields,
    MatchingWeights,
    match_slots,
    shipped_weights,
)
from annotation.algorithms.fields.recognising import find_described_slots
from tests.algorithms.annotation.fields.pages import (
    FIELDS,
    profile_of,
    site_of_cells,
    site_of_lists,
    truth,
)

KNOWN = KnownFields(FIELDS, frozenset(), [profile_of("cells", site_of_cells(), truth(0))])
SLOTS = find_described_slots(site_of_lists())


def test_there_is_a_row_of_all_columns_for_each_field_and_slot() -> None:
    features = match_slots(KNOWN, SLOTS, shipped_weights().spreads)

    assert features.shape == (3, len(SLOTS), len(COLUMNS))
    assert np.isfinite(features).all()


def test_a_slot_with_the_label_of_a_field_is_nearest_to_it() -> None:
    features = match_slots(KNOWN, SLOTS, shipped_weights().spreads)
    label_scores = features[FIELDS.index("maker"), :, COLUMNS.index("label words: likeness")]

    assert SLOTS[int(label_scores.argmax())].label == "Manufacturer"


def test_of_slots_with_one_text_a_page_the_right_ones_are_the_likeliest() -> None:
    weights = shipped_weights()
    single = [slot for slot in SLOTS if not slot.slot.is_multi]
    log_odds = weights.log_odds(match_slots(KNOWN, single, weights.spreads))

    best = [single[index].slot.values(0) for index in log_odds.argmax(axis=1)]
    assert best == [truth(20)[0][field] for field in FIELDS]


def test_a_vertical_without_sites_gives_features_all_the_same() -> None:
    features = match_slots(KnownFields(FIELDS, frozenset(), []), SLOTS, shipped_weights().spreads)

    assert np.isfinite(features).all()


def test_likeness_never_counts_against_a_slot() -> None:
    weight_by_column = dict(zip(COLUMNS, shipped_weights().weights, strict=True))

    for column, weight in weight_by_column.items():
        if column.endswith("distance"):
            assert weight <= 0, column
        elif column not in {"sites", "several"} and not column.startswith("slot: "):
            assert weight >= 0, column


def test_weights_are_stored_and_read() -> None:
    weights = shipped_weights()
    read = MatchingWeights.from_json(weights.as_json())

    features = match_slots(KNOWN, SLOTS, weights.spreads)
    assert np.allclose(read.log_odds(features), weights.log_odds(features), atol=0.01)
