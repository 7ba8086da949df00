"""The network under the HTTP library: connections of the guard that end at the deadline."""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import Iterable
from functools import lru_cache
from time import monotonic
from typing import Any, Final

import httpcore
import httpx

from clustering.fetching import deadlines
from clustering.fetching.guard import Guard
from clustering.fetching.refusals import FetchRefused

MAX_SILENCE: Final = 15.0  # seconds without a byte
QUICK_ACKNOWLEDGEMENT: Final = getattr(socket, "TCP_QUICKACK", None)  # Linux; it holds for one read
CLOSED: Final = select.POLLIN | select.POLLHUP | select.POLLERR


class TlsFailed(FetchRefused):
    """The host's certificate or its encryption cannot be trusted."""

    code = "tls"


class HostSilent(FetchRefused):
    """The host accepted the connection and then sent nothing."""

    code = "deadline"
    is_transient = True


class Stream(httpcore.NetworkStream):
    """A connected socket whose every operation ends at the deadline of the request that uses it."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        deadline = deadlines.current()
        silent_at = monotonic() + (timeout or MAX_SILENCE)
        while True:
            self._socket.settimeout(deadline.slice())
            try:
                self._acknowledge_at_once()
                return self._socket.recv(max_bytes)
            except TimeoutError:
                if monotonic() >= silent_at:
                    raise HostSilent(f"no byte for {timeout or MAX_SILENCE:g} seconds") from None
            except OSError as error:
                raise httpcore.ReadError(str(error)) from error

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if not buffer:
            return
        self._socket.settimeout(deadlines.current().share(timeout or MAX_SILENCE))
        try:
            self._socket.sendall(buffer)
        except TimeoutError:
            raise HostSilent("the host reads nothing") from None
        except OSError as error:
            raise httpcore.WriteError(str(error)) from error

    def _acknowledge_at_once(self) -> None:
        """Acknowledge at once: a server that sends in two parts would wait 40 ms for it."""
        if QUICK_ACKNOWLEDGEMENT is not None:
            self._socket.setsockopt(socket.IPPROTO_TCP, QUICK_ACKNOWLEDGEMENT, 1)

    def close(self) -> None:
        self._socket.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        self._socket.settimeout(deadlines.current().share(timeout or MAX_SILENCE))
        try:
            return Stream(ssl_context.wrap_socket(self._socket, server_hostname=server_hostname))
        except TimeoutError:
            self.close()
            raise HostSilent("no encryption was agreed on in time") from None
        except (ssl.SSLError, ssl.CertificateError) as error:
            self.close()
            raise TlsFailed(f"{server_hostname}: {_why(error)}") from None
        except OSError as error:
            self.close()
            raise httpcore.ConnectError(str(error)) from error

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            poll = select.poll()
            poll.register(self._socket.fileno(), CLOSED)
            return self._socket.fileno() < 0 or bool(poll.poll(0))
        if info == "ssl_object":
            return self._socket if isinstance(self._socket, ssl.SSLSocket) else None
        return None


class Network(httpcore.NetworkBackend):
    """Connections of the guard, and none of any other kind."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the signature is the library's
        local_address: str | None = None,  # noqa: ARG002 (the kernel chooses)
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002 (the guard sets them)
    ) -> httpcore.NetworkStream:
        return Stream(self._guard.connect(host, port, deadlines.current()))


@lru_cache(maxsize=1)
def trusted_certificates() -> ssl.SSLContext:
    """Return the settings of encryption that all connections share."""
    return httpx.create_ssl_context(trust_env=False)


def _why(error: Exception) -> str:
    return getattr(error, "verify_message", "") or getattr(error, "reason", "") or str(error)
