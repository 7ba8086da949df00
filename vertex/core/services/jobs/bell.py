"""Ring the broker: a message tells a worker that a job is due. The row of the job is the truth."""

from __future__ import annotations

import time
from typing import Final

import structlog
from celery import current_app
from kombu import Connection
from kombu.exceptions import KombuError

# A ring comes from a request that somebody waits for, and the sweeper repeats it: no use in waiting
# for long.
ANSWERS_WITHIN: Final = 2.0  # seconds
SILENCE: Final = 10.0  # seconds after a ring that was not answered

log = structlog.get_logger(__name__)


class Bell:
    """The way to the broker; one that did not answer is left alone for a while.

    Where a broker hangs, each request that makes a job keeps its thread until the ring is given up.
    So one ring at a time tries whether it answers again.
    """

    def __init__(self) -> None:
        self._is_mute = False  # it did not answer the last ring
        self._silent_until = 0.0

    def ring(self, task: str, job: int, queue: str) -> bool:
        """Send the broker a message that a job is due, and return whether it was reached."""
        if time.monotonic() < self._silent_until:
            return False
        if self._is_mute:
            self._silent_until = time.monotonic() + SILENCE
        try:
            current_app.send_task(
                task,
                args=[job],
                queue=queue,
                retry=False,
                timeout=ANSWERS_WITHIN,
                confirm_timeout=ANSWERS_WITHIN,
            )
        except broker_errors(current_app.connection_for_write()) as error:
            self._is_mute = True
            self._silent_until = time.monotonic() + SILENCE
            log.warning("broker_unreachable", job=job, error=str(error))
            return False
        self._is_mute, self._silent_until = False, 0.0
        return True


def broker_errors(broker: Connection) -> tuple[type[BaseException], ...]:
    """Return what the broker's client raises when it cannot reach the server."""
    return (OSError, KombuError, *broker.connection_errors, *broker.channel_errors)
