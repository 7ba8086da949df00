"""How many requests one caller may make."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from vertex.core.models import Token

if TYPE_CHECKING:  # the framework imports this module while it makes that class
    from rest_framework.views import APIView

WINDOW: Final = 60  # seconds


class CallerThrottle(BaseThrottle):
    """Count by token, else by user, else by address; anonymous callers get a smaller share.

    The counts lie in the cache, which all processes share: one of this minute and one of the last,
    of which that part counts that lies within the last 60 seconds. Callers at the same time are
    counted one by one. Where the cache is away, nobody is refused.
    """

    seconds_left = WINDOW

    def allow_request(self, request: Request, view: APIView) -> bool:  # noqa: ARG002 - the library's signature
        is_known = bool(request.user and request.user.is_authenticated)
        per_minute = settings.API_RATE if is_known else settings.API_RATE_ANONYMOUS
        caller = self._caller_of(request)
        minute, seconds = divmod(time.time(), WINDOW)
        self.seconds_left = int(WINDOW - seconds) + 1
        n_before: int = cache.get(_key(caller, int(minute) - 1), 0)
        n_now = _count(_key(caller, int(minute)))
        if n_before * (1 - seconds / WINDOW) + n_now <= per_minute:
            return True
        _count(_key(caller, int(minute)), -1)  # whoever is refused does not pay for it
        return False

    def wait(self) -> float:
        return min(self.seconds_left, WINDOW)

    def _caller_of(self, request: Request) -> str:
        if isinstance(request.auth, Token):
            return f"token-{request.auth.pk}"
        if request.user and request.user.is_authenticated:
            return f"user-{request.user.pk}"
        return f"address-{self.get_ident(request)}"


def _key(caller: str, minute: int) -> str:
    return f"api-calls-{caller}-{minute}"


def _count(key: str, delta: int = 1) -> int:
    """Add to a count and return it."""
    cache.add(key, 0, 2 * WINDOW)
    try:
        return cache.incr(key, delta)
    except ValueError:  # it expired this moment
        return 0
