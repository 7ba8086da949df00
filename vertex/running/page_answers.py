"""What a page process answers: requests, by the application with all that belongs around it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from io import BytesIO
from typing import Any, TypeAlias
from wsgiref.types import StartResponse, WSGIEnvironment

from django.core.signals import got_request_exception
from django.core.wsgi import get_wsgi_application

from clustering.services.children.child import was_short_of_memory
from clustering.services.children.limits import joined
from vertex.running.known_services import connect_to_known_services_only
from vertex.running.lock_patience import wait_shortly_for_locks

Head: TypeAlias = tuple[str, Sequence[tuple[str, str]]]  # status and header fields
OutOfMemory = MemoryError | RecursionError


def answer_request(fields: dict[str, str], body: bytes) -> bytes:
    """Return the status and the header fields of an answer as a message, with its body behind them.

    Raises MemoryError.
    """
    heads: list[Head] = []

    def start_response(
        status: str, headers: list[tuple[str, str]], _exc_info: object = None
    ) -> Callable[[bytes], object]:
        heads.append((status, headers))
        return BytesIO().write

    environ: WSGIEnvironment = {
        **fields,
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": fields["wsgi.url_scheme"],
        "wsgi.input": BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": False,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    application, failures = load_application()
    failures.clear()
    answer = application(environ, start_response)
    try:
        written = b"".join(answer)
    finally:
        close = getattr(answer, "close", None)
        if close is not None:
            close()
    if failures:
        raise MemoryError
    return joined(heads[-1], [written])


# Saves setting Django up, seconds, for each request but the first.
@lru_cache(maxsize=1)
def load_application() -> tuple[Callable[[WSGIEnvironment, StartResponse], Any], list[str]]:
    """Return the application, and the list in which it notes that it was short of memory.

    The application itself answers such an error like any other.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vertex.settings")
    connect_to_known_services_only()
    wait_shortly_for_locks()
    application = get_wsgi_application()
    failures: list[str] = []

    def note(**_kwargs: object) -> None:
        error = sys.exc_info()[1]
        if was_short_of_memory():
            failures.append(str(error))
        while error is not None:  # others are raised where one is handled
            if isinstance(error, OutOfMemory):
                failures.append(str(error))
            error = error.__cause__ or error.__context__

    got_request_exception.connect(note, weak=False)
    return application, failures
