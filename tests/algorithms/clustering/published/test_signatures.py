"""Signatures as texts."""

from __future__ import annotations

import pytest

from clustering.algorithms.published.signatures import Masked, read_signature


@pytest.mark.parametrize("text", ["0a1b2c3d4e5f6071", "0a1b**2c**000000"])
def test_a_signature_is_read_as_it_is_written(text: str) -> None:
    assert str(read_signature(text)) == text


def test_wild_bytes_match_anything() -> None:
    masked = read_signature("0a**000000000000")

    assert masked == Masked(0x0A00 << 48, 0xFF << 48)
    assert masked.covers(0x0AFF << 48)
    assert not masked.covers(0x0BFF << 48)


def test_a_text_that_is_no_signature_is_refused() -> None:
    with pytest.raises(ValueError, match="eight bytes"):
        read_signature("xx")
