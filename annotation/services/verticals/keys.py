"""Keep which keys a person chose, so that they hold in every browser."""

from __future__ import annotations

from collections.abc import Mapping

from django.core.exceptions import ValidationError

from annotation.models import ChosenKeys
from vertex.core.models import User
from vertex.core.texts import storable

MAX_KEYS = 500
MAX_ACTION_CHARS = 120
MAX_KEY_CHARS = 20


def keys_chosen(person: User) -> dict[str, str]:
    """Return the key of each action that has another one than by default."""
    row = ChosenKeys.objects.filter(person=person).first()
    return dict(row.keys) if row else {}


def choose_keys(*, person: User, keys: Mapping[str, object]) -> None:
    """Save the keys that a person chose. Raises ValidationError."""
    if len(keys) > MAX_KEYS:
        raise ValidationError(f"{MAX_KEYS} keys may be chosen, not {len(keys):,}.")
    key_by_action = {}
    for action, key in keys.items():
        is_usable = isinstance(key, str) and 0 < len(key) <= MAX_KEY_CHARS
        if not is_usable or len(action) > MAX_ACTION_CHARS:
            raise ValidationError(f"“{action[:40]}” has no usable key.")
        key_by_action[storable(action)] = storable(str(key))
    ChosenKeys.objects.update_or_create(person=person, defaults={"keys": key_by_action})
