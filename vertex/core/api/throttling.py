"""How many requests one caller may make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from vertex.core.models import Token

if TYPE_CHECKING:  # the framework imports this module while it makes that class
    from rest_framework.views import APIView


class CallerThrottle(SimpleRateThrottle):
    """Count by token, else by user, else by address; anonymous callers get a smaller share.

    The counts lie in the cache, which all processes share.
    """

    rate = "1/min"  # of no effect: the rate depends on the caller

    def allow_request(self, request: Request, view: APIView) -> bool:
        is_known = bool(request.user and request.user.is_authenticated)
        per_minute = settings.API_RATE if is_known else settings.API_RATE_ANONYMOUS
        self.num_requests, self.duration = per_minute, 60
        return super().allow_request(request, view)

    def get_cache_key(self, request: Request, view: APIView) -> str:  # noqa: ARG002 - the library's signature
        if isinstance(request.auth, Token):
            caller = f"token-{request.auth.pk}"
        elif request.user and request.user.is_authenticated:
            caller = f"user-{request.user.pk}"
        else:
            caller = f"address-{self.get_ident(request)}"
        return f"api-calls-{caller}"
