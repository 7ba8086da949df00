"""What a password must be beyond what the framework asks for."""

from __future__ import annotations

from typing import Final

from django.core.exceptions import ValidationError

from vertex.core.models import User

MIN_DIFFERENT: Final = 5
KEYS_IN_ORDER: Final = (
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890",
    "qwertyuiopasdfghjklzxcvbnm",
    "qwertzuiopasdfghjklyxcvbnm",
)


class VariedPasswordValidator:
    """Refuse passwords that repeat few characters or run along the alphabet or keyboard."""

    def validate(self, password: str, user: User | None = None) -> None:  # noqa: ARG002 - the framework's signature
        text = password.casefold()
        if len(set(text)) < MIN_DIFFERENT or _is_repeated(text) or _is_run(text):
            raise ValidationError(
                "This password repeats itself or follows the keyboard. "
                "Take several words that have "
                "nothing to do with each other.",
                code="password_too_plain",
            )

    def get_help_text(self) -> str:
        return "It must not repeat itself or follow the keyboard."


def _is_repeated(text: str) -> bool:
    """Return whether a text is one piece again and again."""
    return text in (text + text)[1:-1]


def _is_run(text: str) -> bool:
    """Return whether all of a text stands in the order of the alphabet or of keys."""
    return any(text in keys * 2 or text in keys[::-1] * 2 for keys in KEYS_IN_ORDER)
