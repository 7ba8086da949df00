"""Names that titles give to clusters."""

from __future__ import annotations

import re

import pytest

from clustering.services.clusters.cluster_names import MAX_NAME_CHARS, free_name


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Über uns: Öffnungszeiten", "uber-uns-offnungszeiten"),
        ("Log-in", "log-in"),
        ("Like “Oak”", "like-oak"),
    ],
)
def test_a_title_gives_a_plain_name(title: str, name: str) -> None:
    assert name == free_name(title, set())


def test_no_name_is_given_twice() -> None:
    assert "thread-3" == free_name("Thread", {"thread", "thread-2"})


@pytest.mark.parametrize("title", ["値段", "!!", "", "long " * 100, "_a_"])
def test_every_title_has_a_name(title: str) -> None:
    result: set[str] = set()
    for _ in range(12):
        result.add(free_name(title, result))

    assert 12 == len(result)
    assert all(
        re.fullmatch(r"[a-z0-9][a-z0-9-]*", name) and len(name) <= MAX_NAME_CHARS for name in result
    )
