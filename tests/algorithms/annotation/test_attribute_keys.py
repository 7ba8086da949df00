"""Each attribute has a key of its own, a letter of its name if it can."""

from __future__ import annotations

from string import ascii_letters

from hypothesis import given
from hypothesis import strategies as st

from annotation.algorithms.attribute_keys import RESERVED, keys_of


def test_the_first_free_letter_of_the_name_is_taken() -> None:
    assert {"name": "n", "number": "m", "price": "p", "image": "i"} == keys_of(
        ["name", "number", "price", "image"]
    )


@given(st.lists(st.text(alphabet="gjkuxab_1", min_size=1, max_size=5), unique=True, max_size=60))
def test_no_key_twice_and_none_that_is_reserved(names: list[str]) -> None:
    keys = [key for key in keys_of(names).values() if key]
    assert len(keys) == len(set(keys))
    assert not set(keys) & (RESERVED | {"U", "X"})
    assert set(keys) <= set(ascii_letters)


def test_who_comes_after_the_letters_has_none() -> None:
    assert "" in keys_of([f"a{n}" for n in range(80)]).values()
