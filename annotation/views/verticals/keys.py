"""Receive the keys that a person chose."""

from __future__ import annotations

import orjson
from django.core.exceptions import BadRequest, ValidationError
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from annotation.services.verticals.keys import choose_keys
from vertex.core.models import Role
from vertex.core.views.access import needs_role, user_of

MAX_BODY_BYTES = 64 * 1024


@needs_role(Role.EDITOR)
@require_POST
def annotate_keys(request: HttpRequest) -> HttpResponse:
    """Save the keys that a person chose."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BODY_BYTES:
        raise BadRequest(f"Keys may have {MAX_BODY_BYTES:,} bytes.")
    try:
        keys = orjson.loads(request.body)
    except orjson.JSONDecodeError:
        keys = None
    if not isinstance(keys, dict):
        raise BadRequest("Keys are a key for each action, as JSON.")
    try:
        choose_keys(person=user_of(request), keys=keys)
    except ValidationError as error:
        raise BadRequest(" ".join(error.messages)) from None
    return HttpResponse(status=204)
