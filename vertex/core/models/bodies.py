"""A column that names a body in the page store: what it names is kept and backed up."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from django.apps import apps
from django.db import models

if TYPE_CHECKING:  # the class takes no parameters at run time
    CharField = models.CharField[str, str]
else:
    CharField = models.CharField


class BodyField(CharField):
    """The sha256 of a body, its name in the page store; blank where there is none."""

    def __init__(self, **options: object) -> None:
        super().__init__(**{"max_length": 64, "db_index": True, **options})  # type: ignore[arg-type]


def bodies_named(among: Collection[str] | None = None) -> set[str]:
    """Return the bodies that any row of any app names; `among` asks only for these."""
    names: set[str] = set()
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, BodyField):
                rows = model._default_manager.exclude(**{field.name: ""})
                if among is not None:
                    rows = rows.filter(**{f"{field.name}__in": among})
                names.update(rows.values_list(field.name, flat=True).distinct())
    return names
