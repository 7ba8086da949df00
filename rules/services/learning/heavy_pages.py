"""Find out which page ended a process that read many: each is weighed by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from clustering.dom.page import PageTooLarge
from clustering.models import Snapshot
from clustering.services.children.limits import CallFailed
from clustering.services.children.stored import PageTooHeavy, call_on_page
from rules.services.learning.weighing import weigh_page
from vertex.core.exceptions import TooBusy
from vertex.core.storage import BodyDamaged, BodyMissing

MAX_WEIGHED: Final = 60  # the first ones: each may take seconds


def mark_heavy(bodies: Sequence[str]) -> int:
    """Read pages one by one in limited children; return how many were marked as too heavy."""
    n_heavy = 0
    for body in bodies[:MAX_WEIGHED]:
        snapshot = Snapshot.objects.filter(body=body).first()
        if snapshot is None or snapshot.problem == Snapshot.Problem.TOO_HEAVY:
            continue
        try:
            call_on_page(snapshot, weigh_page)
        except PageTooHeavy:
            n_heavy += 1
        except (CallFailed, TooBusy, PageTooLarge, BodyMissing, BodyDamaged):
            continue
    return n_heavy
