"""A worker of gunicorn whose threads never wait for a client.

The event loop reads requests, with their bodies, from all connections at once; only a whole request
is given to a thread. Somebody who sends a byte now and then costs a place in a table and not a
thread. Bodies larger than a form are read by the application as they come: it takes them from known
people only, see `vertex.running.request_limits`, and half of the threads at most wait for them. In
the same way the end of a connection is waited for in the loop.
"""

from __future__ import annotations

import selectors
import socket
import struct
import threading
import time
from collections import Counter
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from django.conf import settings
from gunicorn import http
from gunicorn.workers.gthread import TConn, ThreadWorker

from vertex.running.kept_answers import KeptAnswer

HEAD_WITHIN: Final = 10.0  # seconds from the first byte
BODY_WITHIN: Final = 30.0
LINGER: Final = 2.0  # seconds in which a client may take note of the end
MAX_LINGERING: Final = 500  # connections; more are closed at once
MAX_UNTAKEN: Final = 100  # answers that clients are behind with
MAX_WAITING: Final = 200  # whole requests that wait for a thread
MAX_WAITING_OF_CALLER: Final = 50
THREAD_WITHIN: Final = 10.0  # seconds until they are told to come again
# Seconds in which the next bytes of a large body come, or some of an answer are taken.
STALL: Final = 20
MAX_HEAD: Final = 32 * 1024
MAX_BODY: Final = 2 * 1024 * 1024 + 64 * 1024  # of forms, whose own limit answers in words
MAX_WAITING_BYTES: Final = 64 * 1024 * 1024  # of all requests that are not complete
MAX_RECEIVED: Final = 64 * 1024
MAX_DIGITS: Final = 18  # of a length that is looked at
END_OF_HEAD: Final = b"\r\n\r\n"
MAX_COOKIES: Final = 4096  # characters; ours are three of less than a hundred
QUOTE: Final = '"'
CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
REFUSALS: Final = {
    408: b"Request Timeout",
    411: b"Length Required",
    431: b"Request Header Fields Too Large",
    503: b"Service Unavailable",
}


@dataclass(eq=False, slots=True)
class _Arriving:
    """A request that is not complete yet."""

    conn: TConn
    ends_at: float  # when it is given up
    data: bytearray = field(default_factory=bytearray)
    n_wanted: int | None = None  # bytes of the whole request, None until its head is complete


@dataclass(frozen=True, slots=True)
class _Turn:
    """What decides when a whole request has a thread."""

    callers: frozenset[str]  # by what it says who asks: a session, a token; empty: a stranger
    keeps_threads: bool  # its thread may wait for long
    ends_at: float  # when it is given up


@dataclass(eq=False, slots=True)
class _Untaken:
    """An answer whose thread is done and whose client has not taken all of it."""

    conn: TConn
    answer: KeptAnswer
    done: Future[Any]  # of the thread
    ends_at: float  # when it is given up


@dataclass(frozen=True, slots=True)
class _Head:
    """What a request's head says of its body."""

    length: int
    is_chunked: bool
    expects_continue: bool


class PatientWorker(ThreadWorker):  # type: ignore[misc]  # the library has no types
    """Threads for requests that are complete, the event loop for all that is not."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.arriving: dict[TConn, _Arriving] = {}
        self.lingering: dict[socket.socket, float] = {}  # with the time at which they are closed
        self.n_waiting_bytes = 0
        self.answers: dict[TConn, KeptAnswer] = {}
        self.untaken: dict[TConn, _Untaken] = {}  # who took something last stands last
        self.n_waiting = 0  # threads that may wait for a client
        self.counting = threading.Lock()
        self.with_thread: dict[TConn, _Turn] = {}
        self.without_thread: dict[TConn, _Turn] = {}  # who waits longest stands first
        self.n_keeping = 0  # of those with a thread, that keep it for long
        self.n_by_caller: Counter[str] = Counter()  # of those with a thread

    def accept(self, listener: socket.socket) -> None:
        try:
            client, address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError, InterruptedError):
            return
        stall = struct.pack("ll", STALL, 0)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, stall)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, stall)
        self.nr_conns += 1
        self._await_request(TConn(self.cfg, client, address, listener.getsockname()), b"")

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        """Look after what happened; no connection ends the process, whatever becomes of it."""
        for key, _ in self.poller.select(timeout):
            try:
                key.data(key.fileobj)
            except (OSError, ValueError, KeyError):  # of the system, and of the poller
                self.log.exception("a connection was not looked after")

    def enqueue_req(self, conn: TConn) -> None:
        """Read the next request of a connection that was used before."""
        self._await_request(conn, conn.parser.unreader.take_buffered())

    def handle_request(self, req: Any, conn: TConn) -> Any:
        """Answer a request; the answer to one with a large body says that the connection ends."""
        if conn.is_large:
            req.force_close()
        answer = KeptAnswer(conn.sock, STALL, self._take_place, self._give_place_back)
        self.answers[conn] = answer
        try:
            return super().handle_request(
                req, SimpleNamespace(sock=answer, client=conn.client, server=conn.server)
            )
        finally:
            answer.end()

    def finish_request(self, conn: TConn, fs: Future[Any]) -> None:
        """Send the rest of an answer, then keep the connection for its next request or end it."""
        if conn.is_large:
            self._give_place_back()
        turn = self.with_thread.pop(conn, None)
        if turn is not None:
            self.n_keeping -= turn.keeps_threads
            self.n_by_caller -= Counter(turn.callers)
            self._give_threads()
        answer = self.answers.pop(conn, None)
        if answer is None or answer.is_sent:
            self._keep_or_end(conn, fs)
        else:
            self._await_taking(_Untaken(conn, answer, fs, time.monotonic() + STALL))

    def _keep_or_end(self, conn: TConn, fs: Future[Any]) -> None:
        """Keep a connection for its next request, or end it without waiting for the client."""
        try:
            is_kept = not fs.cancelled() and bool(fs.result()) and self.alive
        except Exception:  # noqa: BLE001 - as in the class above: whatever happened, the connection ends
            is_kept = False
        if is_kept:
            super().finish_request(conn, fs)
        else:
            self._linger(conn)

    def murder_pending(self) -> None:
        """Give up what did not arrive in time."""
        super().murder_pending()
        now = time.monotonic()
        for request in [request for request in self.arriving.values() if request.ends_at <= now]:
            self._refuse(request, 408)
        for conn in [conn for conn, turn in self.without_thread.items() if turn.ends_at <= now]:
            del self.without_thread[conn]
            self._turn_away(conn)
        for untaken in [untaken for untaken in self.untaken.values() if untaken.ends_at <= now]:
            self._give_up(untaken)
        for sock in [sock for sock, ends_at in self.lingering.items() if ends_at <= now]:
            self._close(sock)

    def _keepalive_after(self, conn: TConn, keepalive: Any) -> bool:
        """Never wait for the rest of a large body that the application did not want."""
        return not conn.is_large and bool(super()._keepalive_after(conn, keepalive))

    def _await_request(self, conn: TConn, data: bytes) -> None:
        conn.sock.setblocking(False)
        request = _Arriving(conn, time.monotonic() + HEAD_WITHIN, bytearray(data))
        self.n_waiting_bytes += len(data)
        self.arriving[conn] = request
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._on_bytes, request))
        if data:
            self._advance(request)

    def _on_bytes(self, request: _Arriving, _client: object) -> None:
        """Take the bytes that arrived; without any the client has gone, and so does the request."""
        try:
            data = request.conn.sock.recv(MAX_RECEIVED)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self._forget(request)
            self.nr_conns -= 1
            request.conn.close()
            return
        request.data += data
        self.n_waiting_bytes += len(data)
        self._advance(request)

    def _advance(self, request: _Arriving) -> None:
        """Give the request to a thread if it is complete, or refuse what nobody should wait for."""
        if request.n_wanted is None:
            end = request.data.find(END_OF_HEAD)
            if end < 0:
                if len(request.data) > MAX_HEAD:
                    self._refuse(request, 431)
                return
            if end > MAX_HEAD:
                self._refuse(request, 431)
                return
            head = read_head(bytes(request.data[:end]))
            if head.is_chunked:
                self._refuse(request, 411)
                return
            request.n_wanted = end + len(END_OF_HEAD) + head.length
            request.ends_at = time.monotonic() + BODY_WITHIN
            request.conn.is_large = head.length > MAX_BODY
            if request.conn.is_large:
                self._hand_over_large(request)
                return
            if head.expects_continue:
                with suppress(OSError):  # the client may have gone; reading tells
                    request.conn.sock.send(CONTINUE)
        if len(request.data) >= request.n_wanted:
            self._hand_over(request)
        elif self.n_waiting_bytes > MAX_WAITING_BYTES:
            self._refuse(request, 503)

    def _hand_over_large(self, request: _Arriving) -> None:
        """Have a thread read a body as it comes; refuse it while half of the threads do so."""
        if self._take_place():
            self._hand_over(request)
        else:
            self._refuse(request, 503)

    def _take_place(self) -> bool:
        """Count one more thread that may wait for its client; return whether it may."""
        with self.counting:
            if self.n_waiting >= max(1, self.cfg.threads // 2):
                return False
            self.n_waiting += 1
            return True

    def _give_place_back(self) -> None:
        with self.counting:
            self.n_waiting -= 1

    def _hand_over(self, request: _Arriving) -> None:
        conn = request.conn
        self._forget(request)
        if conn.parser is None:
            conn.parser = http.get_parser(self.cfg, conn.sock, conn.client)
        conn.parser.unreader.unread(bytes(request.data))
        conn.data_ready = True
        head, _, _ = bytes(request.data[: MAX_HEAD + len(END_OF_HEAD)]).partition(END_OF_HEAD)
        turn = _Turn(
            read_callers(head),
            self._keeps_threads(request.data),
            time.monotonic() + THREAD_WITHIN,
        )
        if self._may_have_thread(turn):
            self._give_thread(conn, turn)
        elif self._may_wait(turn):
            self.without_thread[conn] = turn
        else:
            self._turn_away(conn)

    def _may_wait(self, turn: _Turn) -> bool:
        """Return whether there is room in the line; strangers are one caller there."""
        n_alike = sum(
            bool(each.callers & turn.callers) or each.callers == turn.callers
            for each in self.without_thread.values()
        )
        return n_alike < MAX_WAITING_OF_CALLER and len(self.without_thread) < MAX_WAITING

    def _turn_away(self, conn: TConn) -> None:
        """Answer a client for whose request there is no thread."""
        if conn.is_large:
            self._give_place_back()
        self._answer_shortly(conn, 503)

    def _keeps_threads(self, data: bytearray) -> bool:
        """Return whether a thread may wait for long while a request is answered."""
        _, _, rest = bytes(data[:MAX_HEAD]).partition(b" ")
        try:
            target = urlsplit(rest.partition(b" ")[0].decode("latin-1"))
        except ValueError:
            return False
        return bool(self.wsgi.keeps_threads(unquote(target.path)))

    def _give_threads(self) -> None:
        """Give threads to the requests that may have one, in their order."""
        for conn, turn in list(self.without_thread.items()):
            if self._may_have_thread(turn):
                del self.without_thread[conn]
                self._give_thread(conn, turn)

    def _give_thread(self, conn: TConn, turn: _Turn) -> None:
        self.with_thread[conn] = turn
        self.n_keeping += turn.keeps_threads
        self.n_by_caller.update(turn.callers)
        super().enqueue_req(conn)

    def _may_have_thread(self, turn: _Turn) -> bool:
        """Return whether enough threads are left to all others.

        Of what keeps a thread for long, such as reading pages or sending a file, a quarter of them
        is kept free; of whoever asks for much at once, half.
        """
        n_threads = self.cfg.threads
        if turn.keeps_threads and self.n_keeping >= max(1, n_threads * 3 // 4):
            return False
        most_of_caller = max(1, n_threads // 2)
        return all(self.n_by_caller[caller] < most_of_caller for caller in turn.callers)

    def _refuse(self, request: _Arriving, status: int) -> None:
        self._forget(request)
        if request.data:  # else the client said nothing, and browsers open connections ahead
            self._answer_shortly(request.conn, status)
        else:
            self._linger(request.conn)

    def _answer_shortly(self, conn: TConn, status: int) -> None:
        """Answer with a status alone, and end the connection."""
        phrase = REFUSALS[status]
        answer = b"HTTP/1.1 %d %b\r\nConnection: close\r\nContent-Length: 0\r\n\r\n" % (
            status,
            phrase,
        )
        with suppress(OSError):
            conn.sock.send(answer)
        self._linger(conn)

    def _forget(self, request: _Arriving) -> None:
        self.arriving.pop(request.conn, None)
        self.n_waiting_bytes -= len(request.data)
        self.poller.unregister(request.conn.sock)

    def _await_taking(self, untaken: _Untaken) -> None:
        """Have the loop send an answer's rest; where there are too many, give up the slowest."""
        sock = untaken.conn.sock
        try:
            sock.setblocking(False)
            self.poller.register(
                sock, selectors.EVENT_WRITE, lambda _client: self._send_more(untaken)
            )
        except (OSError, ValueError, KeyError):
            self._linger(untaken.conn)
            return
        self.untaken[untaken.conn] = untaken
        if len(self.untaken) > MAX_UNTAKEN:
            self._give_up(next(iter(self.untaken.values())))

    def _send_more(self, untaken: _Untaken) -> None:
        try:
            is_sent = untaken.answer.send_kept()
        except OSError:
            self._give_up(untaken)
            return
        del self.untaken[untaken.conn]
        if not is_sent:
            untaken.ends_at = time.monotonic() + STALL
            self.untaken[untaken.conn] = untaken
            return
        self.poller.unregister(untaken.conn.sock)
        self._keep_or_end(untaken.conn, untaken.done)

    def _give_up(self, untaken: _Untaken) -> None:
        """Close the connection of a client that does not take its answer."""
        del self.untaken[untaken.conn]
        self.nr_conns -= 1
        with suppress(OSError, ValueError, KeyError):
            self.poller.unregister(untaken.conn.sock)
        untaken.conn.close()

    def _linger(self, conn: TConn) -> None:
        """End a connection after its client, or after a while, so that the answer is read whole."""
        sock = conn.sock
        self.nr_conns -= 1
        if len(self.lingering) >= MAX_LINGERING:
            sock.close()
            return
        try:
            sock.shutdown(socket.SHUT_WR)
            sock.setblocking(False)
            self.poller.register(sock, selectors.EVENT_READ, self._drain)
        except (OSError, ValueError, KeyError):
            sock.close()
            return
        self.lingering[sock] = time.monotonic() + LINGER

    def _drain(self, sock: socket.socket) -> None:
        try:
            if sock.recv(MAX_RECEIVED):
                return
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            pass
        self._close(sock)

    def _close(self, sock: socket.socket) -> None:
        self.lingering.pop(sock, None)
        with suppress(OSError, ValueError, KeyError):
            self.poller.unregister(sock)
        sock.close()


def read_head(head: bytes) -> _Head:
    r"""Return what a head says of the body; the parser refuses what makes no sense.

    >>> read_head(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 12").length
    12
    """
    length, is_chunked, expects_continue = 0, False, False
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        name, value = name.strip().lower(), value.strip().lower()
        if name == b"content-length" and value.isdigit():
            # The first digits of a number of any length: more bytes than anybody sends.
            length = max(length, int(value.lstrip(b"0")[:MAX_DIGITS] or b"0"))
        elif name == b"transfer-encoding":
            is_chunked = True
        elif name == b"expect":
            expects_continue = value == b"100-continue"
    return _Head(length, is_chunked, expects_continue)


def read_callers(head: bytes) -> frozenset[str]:
    r"""Return what a head says of who asks: the session, the token, as the application reads them.

    >>> head = b"GET / HTTP/1.1\r\nCookie: a=b; sessionid=s1\r\nAuthorization: Token t1"
    >>> sorted(read_callers(head))
    ['s1', 't1']
    """
    cookies, tokens = [], []
    for line in head.decode("latin-1").split("\r\n")[1:]:
        name, _, value = line.partition(":")
        if name.strip().lower() == "cookie":
            cookies.append(value.strip())
        elif name.strip().lower() == "authorization":
            tokens += value.split()[-1:]
    sessions = []
    written = ",".join(cookies)
    if len(written) > MAX_COOKIES:
        written = ""  # the application leaves them out, too
    for cookie in written.split(";"):
        name, _, value = cookie.partition("=")
        if name.strip() == settings.SESSION_COOKIE_NAME:
            # No browser quotes it. To undo that takes long, and one session has many spellings:
            # all who quote it are one caller.
            sessions = [QUOTE if QUOTE in value else value.strip()]
    return frozenset([*tokens, *sessions])
