"""Seal what the database keeps and nobody may read there, such as passwords to log in at sites.

The key follows from the installation's secret key and stands in no table: a copy of the database, a
backup or an export holds nothing that can be read without it.
"""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken
from django.utils.crypto import salted_hmac

SALT = "vertex.sealed"


class SealBroken(Exception):
    """What was sealed cannot be read: it is damaged, or the installation had another secret key."""


def seal(text: str) -> str:
    """Return the text so that only this installation can read it."""
    return _box().encrypt(text.encode()).decode("ascii")


def unseal(sealed: str) -> str:
    """Return the text that was sealed. Raises SealBroken."""
    try:
        return _box().decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise SealBroken(
            "it was sealed with another VERTEX_SECRET_KEY, or it is damaged; enter it again"
        ) from None


def _box() -> Fernet:
    key = salted_hmac(SALT, "key", algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(key))
