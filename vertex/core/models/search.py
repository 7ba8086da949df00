"""Search by words, as every list of the interface does."""

from __future__ import annotations

from django.db.models import Q


def has_words(text: str, *fields: str) -> Q:
    """Return the condition that each word of the text occurs in one of the fields, in any case."""
    all_words = Q()
    for word in text.split():
        in_any_field = Q()
        for field in fields:
            in_any_field |= Q(**{f"{field}__icontains": word})
        all_words &= in_any_field
    return all_words
