"""Take the keys that a person chose."""

from __future__ import annotations

import orjson
from django.core.exceptions import BadRequest, ValidationError
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from annotation.services.verticals.keys import choose_keys
from vertex.core.models import Role
from vertex.core.views.access import needs_role, user_of

LARGEST = 64 * 1024  # bytes


@needs_role(Role.EDITOR)
@require_POST
def annotate_keys(request: HttpRequest) -> HttpResponse:
    """Let the keys that are told be this person's."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > LARGEST:
        raise BadRequest(f"Keys may have {LARGEST:,} bytes.")
    try:
        told = orjson.loads(request.body)
    except orjson.JSONDecodeError:
        told = None
    if not isinstance(told, dict):
        raise BadRequest("Keys are a key for each action, as JSON.")
    try:
        choose_keys(person=user_of(request), keys=told)
    except ValidationError as error:
        raise BadRequest(" ".join(error.messages)) from None
    return HttpResponse(status=204)
