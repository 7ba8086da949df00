"""Send mail and messages to services by a child process with limits, one for each message."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Final, ParamSpec, TypeVar

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from django.core.mail.message import sanitize_address

from clustering.services.children.limits import (
    ROOT,
    CallFailed,
    CallStopped,
    ChildrenBusy,
    LimitedChild,
)
from monitoring.services.notices import sending_child

CPU_SECONDS: Final = 10
WALL_SECONDS: Final = 40.0
MEMORY: Final = 1024**3  # of addresses

P = ParamSpec("P")
R = TypeVar("R")


class NotSent(OSError):
    """A message did not arrive, or nobody knows whether it did."""


class SendingChild(LimitedChild):
    """A child that may connect to where the operator has messages sent."""

    def _start_process(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - nothing that anyone typed is among the arguments
            [sys.executable, "-m", sending_child.__name__, *map(str, self.limits)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        )


class MailByChild(BaseEmailBackend):
    """Django's way to send mail, by a child."""

    def send_messages(self, messages: Sequence[EmailMessage]) -> int:
        """Send messages and return how many. Raises NotSent."""
        for message in messages:
            sender, *recipients = (
                sanitize_address(address, settings.DEFAULT_CHARSET)
                for address in (message.from_email, *message.recipients())
            )
            written = b"\r\n".join([*message.message().as_bytes().splitlines(), b""])
            send_by_child(sending_child.send_mail, written, _mail_server(), sender, recipients)
        return len(messages)


def send_by_child(send: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
    """Return what a function of the child returns. Raises NotSent."""
    child = SendingChild(cpu_seconds=CPU_SECONDS, wall_seconds=WALL_SECONDS, memory=MEMORY)
    try:
        with child:
            return child.call(send, *args, **named)
    except ChildrenBusy:
        raise NotSent(f"it was not sent within {WALL_SECONDS:.0f} seconds") from None
    except (CallStopped, CallFailed) as error:
        raise NotSent(str(error)) from None


def _mail_server() -> dict[str, str | int | bool]:
    return {
        "host": settings.EMAIL_HOST,
        "port": settings.EMAIL_PORT,
        "user": settings.EMAIL_HOST_USER,
        "password": settings.EMAIL_HOST_PASSWORD,
        "use_ssl": settings.EMAIL_USE_SSL,
        "use_tls": settings.EMAIL_USE_TLS,
    }
