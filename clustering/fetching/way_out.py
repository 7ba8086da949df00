"""Refuse the connections of this process that went past the guard.

The guard lets its own sockets through; beside them a process connects to nothing but the services
that operators name in the settings. So what a library opens by itself ends here, whatever it read
in a page. Not seen are other programs, such as a browser, and libraries in C that open sockets by
themselves, such as that of PostgreSQL.
"""

from __future__ import annotations

import logging
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final
from weakref import WeakSet

CONNECTING: Final = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
LOCAL_FAMILIES: Final = frozenset(
    {getattr(socket, "AF_UNIX", None), getattr(socket, "AF_NETLINK", None)}
)

_own_sockets: WeakSet[socket.socket] = WeakSet()
_thread = threading.local()

log = logging.getLogger(__name__)


class ConnectionPastGuard(PermissionError):
    """Something other than guard and known services is connected to: a mistake in the product."""


def let_through(connection: socket.socket) -> None:
    """Allow a socket to connect whose address was checked."""
    _own_sockets.add(connection)


@contextmanager
def sending_to_service() -> Iterator[None]:
    """Allow this thread to connect to where a library sends what an operator's service is told."""
    _thread.is_sending = True
    try:
        yield
    finally:
        _thread.is_sending = False


class ConnectionWatch:
    """What a process that connects to known services only looks at."""

    def __init__(self) -> None:
        self.is_service: Callable[[str, int], bool] | None = None

    def check(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Look at what the interpreter is about to do. Raises ConnectionPastGuard."""
        if self.is_service is not None and event in CONNECTING:
            _check(arguments[0], arguments[1], self.is_service)


connection_watch = ConnectionWatch()


def refuse_other_connections(is_service: Callable[[str, int], bool]) -> None:
    """Refuse from now on, for as long as the process lives, what goes past the guard.

    `is_service` says whether a service of the installation listens at an address and port.
    """
    connection_watch.is_service = is_service
    sys.addaudithook(connection_watch.check)


def _check(
    connection: socket.socket, target: object, is_service: Callable[[str, int], bool]
) -> None:
    """Raise ConnectionPastGuard unless a socket may connect to where it is about to."""
    if connection in _own_sockets or connection.family in LOCAL_FAMILIES or target is None:
        return
    if getattr(_thread, "is_sending", False):
        return
    host, port = str(target), 0
    if isinstance(target, tuple) and len(target) > 1:
        host, port = str(target[0]), int(target[1])
    if is_service(host, port):
        return
    log.error("refused a connection past the guard, to %s port %s", host, port)
    raise ConnectionPastGuard(
        f"{host}:{port} is no service that the settings name, and the guard has not checked it"
    )
