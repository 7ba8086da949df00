"""Call functions on the bytes of stored pages in limited children; mark pages that end them.

A page that ends two children is marked as too heavy: nothing reads it again, its page says so, and
samples, suggestions and clusterings do without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

import structlog

from clustering.dom.page import MAX_BYTES, PageTooLarge
from clustering.models import Snapshot
from clustering.services.children.limits import CallStopped, call_limited
from vertex.core.storage import page_store

P = ParamSpec("P")
R = TypeVar("R")

log = structlog.get_logger(__name__)


class PageTooHeavy(Exception):
    """Reading the page takes more than a page may take; the message says what."""


def call_on_page(
    snapshot: Snapshot,
    function: Callable[Concatenate[bytes, str, P], R],
    *args: P.args,
    **named: P.kwargs,
) -> R:
    """Return what a function returns for the body and content type of a snapshot.

    Raises PageTooHeavy, PageTooLarge, ChildrenBusy, BodyMissing, BodyDamaged.
    """
    if snapshot.problem == Snapshot.Problem.TOO_HEAVY:
        raise PageTooHeavy("reading it took too much of this machine before, so it is left out")
    body = page_store().read(snapshot.body)
    if len(body) > MAX_BYTES:
        raise PageTooLarge(len(body))
    try:
        return call_limited(function, body, snapshot.content_type, *args, **named)
    except CallStopped as stopped:
        mark_too_heavy(snapshot.body, function.__name__, str(stopped))
        snapshot.problem = Snapshot.Problem.TOO_HEAVY
        raise PageTooHeavy(
            f"reading it was stopped: {stopped}. It is left out from now on"
        ) from None


def mark_too_heavy(body: str, by: str, why: str) -> None:
    """Mark all snapshots of these bytes as too heavy."""
    log.warning("page_too_heavy", body=body, by=by, why=why)
    Snapshot.objects.filter(body=body).update(problem=Snapshot.Problem.TOO_HEAVY)
