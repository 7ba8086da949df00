"""What is sealed can be read by this installation only."""

from __future__ import annotations

from typing import Any

import pytest

from vertex.core.services.people.sealing import SealBroken, seal, unseal


def test_what_is_sealed_is_read_again_and_looks_different_each_time() -> None:
    sealed = seal("pässword")

    assert "pässword" == unseal(sealed)
    assert "ssword" not in sealed
    assert sealed != seal("pässword")


def test_another_key_or_a_changed_letter_reads_nothing(settings: Any) -> None:
    sealed = seal("password")
    with pytest.raises(SealBroken, match="enter it again"):
        unseal(sealed[:-5] + "AAAAA")
    settings.SECRET_KEY = "another" * 10
    with pytest.raises(SealBroken, match="VERTEX_SECRET_KEY"):
        unseal(sealed)
