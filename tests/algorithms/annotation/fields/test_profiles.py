"""Profiles of the fields of known sites."""

import json

import pytest

from annotation.algorithms.fields.profiles import SiteProfile, fit_of
from tests.algorithms.annotation.fields.pages import FIELDS, profile_of, site_of_cells, truth


def test_each_field_has_the_slots_that_show_it() -> None:
    profile = profile_of("cells", site_of_cells(), truth(0))

    assert sorted(profile.examples) == FIELDS
    assert all(example.bags["values"] for example in profile.examples["maker"])
    assert profile.n_slots_by_token["steps"]["td"] >= 3


def test_a_field_that_no_slot_shows_is_left_out() -> None:
    wrong = [{**values, "price": ["nowhere"]} for values in truth(0)]

    assert "price" not in profile_of("cells", site_of_cells(), wrong).examples


def test_a_profile_is_stored_and_read() -> None:
    profile = profile_of("cells", site_of_cells(), truth(0))

    assert SiteProfile.from_json(json.loads(json.dumps(profile.as_json()))) == profile


@pytest.mark.parametrize(
    ("shown", "wanted", "is_multi", "fit"),
    [
        ([["a"], ["b"]], [["a"], ["c"]], False, 0.5),
        ([["a", "x"]], [["a"]], False, 1.0),
        ([["a", "x"]], [["a"]], True, 0.0),
        ([["x", "a"]], [["a", "x"]], True, 1.0),
        ([["a"], []], [["a"], ["b"]], False, 2 / 3),
        ([["a  b"]], [["ab"]], False, 1.0),
        ([[]], [[]], False, 0.0),
    ],
)
def test_how_well_a_slot_shows_a_field(
    shown: list[list[str]], wanted: list[list[str]], *, is_multi: bool, fit: float
) -> None:
    assert fit_of(shown, wanted, is_multi=is_multi) == pytest.approx(fit)
