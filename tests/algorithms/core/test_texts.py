"""Text as any database takes it."""

from hypothesis import given
from hypothesis import strategies as st

from vertex.core.texts import REPLACEMENT, storable


def test_what_a_database_refuses_is_replaced_and_the_rest_stays() -> None:
    assert storable("a\0b\ud800c\tü") == f"a{REPLACEMENT}b{REPLACEMENT}c\tü"


def test_a_surrogate_pair_is_the_character_it_means() -> None:
    assert storable("\ud83d\ude00") == "😀"


def test_text_is_cut_after_it_was_mended() -> None:
    assert storable("\0" * 5, 2) == REPLACEMENT * 2


@given(st.text(alphabet=st.characters()))
def test_all_text_can_be_written_as_utf_8_and_comes_back(text: str) -> None:
    mended = storable(text)

    assert "\0" not in mended
    assert mended == mended.encode().decode()
