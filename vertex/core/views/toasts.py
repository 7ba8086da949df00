"""Tell people what happened, with a way back where there is one."""

from __future__ import annotations

import json
from collections.abc import Iterable

from django.contrib import messages
from django.http import HttpRequest


def tell(
    request: HttpRequest,
    text: str,
    *,
    undo_url: str = "",
    undo_fields: Iterable[tuple[str, str]] = (),
) -> None:
    """Show a toast on the next page; `undo_url` with the fields posted to it takes the change back."""
    undo = json.dumps({"url": undo_url, "fields": list(undo_fields)}) if undo_url else ""
    messages.success(request, text, extra_tags=undo)
