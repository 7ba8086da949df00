"""Keep which keys a person chose, so that they hold in every browser."""

from __future__ import annotations

from collections.abc import Mapping

from django.core.exceptions import ValidationError

from annotation.models import ChosenKeys
from vertex.core.models import User
from vertex.core.texts import storable

MOST = 500
LONGEST_ACTION, LONGEST_KEY = 120, 20  # characters


def keys_chosen(person: User) -> dict[str, str]:
    """Return the key of each action that has another one than usual."""
    row = ChosenKeys.objects.filter(person=person).first()
    return dict(row.keys) if row else {}


def choose_keys(*, person: User, keys: Mapping[str, object]) -> None:
    """Let these be a person's keys. Raises ValidationError."""
    if len(keys) > MOST:
        raise ValidationError(f"{MOST} keys may be chosen, not {len(keys):,}.")
    chosen = {}
    for action, key in keys.items():
        if (
            not isinstance(key, str)
            or not 0 < len(key) <= LONGEST_KEY
            or len(action) > LONGEST_ACTION
        ):
            raise ValidationError(f"“{action[:40]}” has no usable key.")
        chosen[storable(action)] = storable(key)
    ChosenKeys.objects.update_or_create(person=person, defaults={"keys": chosen})
