"""Passwords that anybody tries are refused, whatever their length."""

from __future__ import annotations

import pytest
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError


@pytest.mark.parametrize(
    "password",
    [
        "aaaaaaaaaaaa",
        "abababababab",
        "abcabcabcabc",
        "vertexvertex",
        "abcdefghijkl",
        "zyxwvutsrqpo",
        "qwertyuiopas",
        "Passwordpassword",
        "1q1q1q1q1q1q1q",
    ],
)
def test_a_plain_password_is_refused(password: str) -> None:
    with pytest.raises(ValidationError):
        validate_password(password)


@pytest.mark.parametrize("password", ["correct horse battery", "kT9-uze!qmLw", "drei graue esel"])
def test_a_varied_password_is_taken(password: str) -> None:
    validate_password(password)
