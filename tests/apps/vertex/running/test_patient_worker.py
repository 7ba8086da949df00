"""Whoever sends slowly, or too much, holds up nobody else; in a real gunicorn with two threads."""

from __future__ import annotations

import errno
import logging
import re
import resource
import selectors
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace
from urllib.request import urlopen

import pytest
from gunicorn.workers.gthread import ThreadWorker

from tests.installation import new_installation, wait_until
from tests.servers import free_port
from vertex.running import patient_worker
from vertex.running.gunicorn import connections_within
from vertex.running.patient_worker import (
    MAX_COOKIES,
    MAX_HEAD,
    PatientWorker,
    _Arriving,
    read_callers,
    read_head,
)

N_SLOW = 40
N_NOT_TAKING = 10
FORM = (
    b"POST /log-in/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n"
)
URL_ENCODED = b"application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Yield where a web server of one process and two threads listens."""
    port = free_port()
    with new_installation(tmp_path_factory.mktemp("web")) as installation:
        installation.more = {"VERTEX_BIND": f"127.0.0.1:{port}", "VERTEX_WEB_WORKERS": "1"}
        arguments = ["-m", "gunicorn", "--config=python:vertex.running.gunicorn", "--threads=2"]
        installation.start(*arguments, "--no-control-socket", "vertex.wsgi", log="web")
        wait_until(lambda: is_answered(port), "an answer")
        yield port


def is_answered(port: int, within: float = 60) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/healthz", timeout=within) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def connect(port: int) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port))
    client.settimeout(90)
    return client


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"POST /log-in/ HTTP/1.1\r\nHost: local",
        FORM % (URL_ENCODED, 1000) + b"user",
        FORM % (b"multipart/form-data; boundary=x", 10_000_000) + b"--x\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /he",
    ],
    ids=["nothing", "heads", "forms", "files", "second requests"],
)
def test_many_who_are_slow_hold_up_nobody(port: int, begun: bytes) -> None:
    with ExitStack() as stack:
        for _ in range(N_SLOW):
            client = stack.enter_context(connect(port))
            client.sendall(begun)
        time.sleep(0.5)

        assert all(is_answered(port) for _ in range(3))


def test_those_who_do_not_take_their_answer_hold_up_nobody(port: int) -> None:
    with ExitStack() as stack:
        for _ in range(N_NOT_TAKING):
            ask_for_schema(stack, port)
        assert is_answered(port)


def test_an_answer_that_is_taken_late_comes_whole(port: int) -> None:
    with ExitStack() as stack:
        client = ask_for_schema(stack, port)
        assert is_answered(port)
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        received = b"".join(iter(lambda: client.recv(65536), b""))
    head, _, rest = received.partition(b"\r\n\r\n")
    (length,) = map(int, re.findall(rb"Content-Length: (\d+)", head))
    assert length > 400_000
    assert rest[length:].startswith(b"HTTP/1.1 200 OK"), "the connection is used again"


def ask_for_schema(stack: ExitStack, port: int) -> socket.socket:
    """Ask for an answer that is larger than what two sockets hold, and take nothing of it."""
    client = stack.enter_context(socket.socket())
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)  # as on a slow network
    client.settimeout(90)
    client.connect(("127.0.0.1", port))
    client.sendall(b"GET /api/schema/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return client


def test_those_who_do_not_take_note_of_the_end_hold_up_nobody(port: int) -> None:
    with ExitStack() as stack:
        for _ in range(N_SLOW):
            client = stack.enter_context(connect(port))
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")

        started = time.monotonic()
        assert is_answered(port)
        assert time.monotonic() - started < N_SLOW  # two seconds each, one after the other, without


def test_a_request_in_pieces_is_answered(port: int) -> None:
    body = b"username=nobody&password=nothing"
    request = FORM % (URL_ENCODED, len(body)) + body
    with connect(port) as client:
        for start in range(0, len(request), 40):
            client.sendall(request[start : start + 40])
            time.sleep(0.02)
        assert client.recv(12) == b"HTTP/1.1 403"  # without a token against forgery


def test_a_connection_is_used_again_and_pipelined(port: int) -> None:
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connect(port) as client:
        client.sendall(request + request)
        received = b""
        while received.count(b"ok\n") < 2:
            received += client.recv(4096)
        client.sendall(request)
        assert client.recv(12) == b"HTTP/1.1 200"


def test_who_is_slow_is_told_in_the_end(port: int) -> None:
    with connect(port) as client:
        client.sendall(b"GET / HTTP/1.1\r\n")
        assert client.recv(12) == b"HTTP/1.1 408"


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"Transfer-Encoding: chunked", b"411"),
        (b"X: " + b"x" * MAX_HEAD, b"431"),
    ],
)
def test_what_nobody_should_wait_for_is_refused(port: int, head: bytes, status: bytes) -> None:
    with connect(port) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n\r\n")
        assert client.recv(12)[-3:] == status


def test_whoever_expects_to_be_asked_for_the_body_is(port: int) -> None:
    head = FORM % (URL_ENCODED, 4)
    with connect(port) as client:
        client.sendall(head[:-2] + b"Expect: 100-continue\r\n\r\n")
        assert client.recv(12) == b"HTTP/1.1 100"


@pytest.mark.parametrize("path", ["/log-in/", "/sites/shop/import/", "/nothing/", "/api/v1/sites/"])
def test_a_stranger_s_file_is_refused_before_it_is_read(port: int, path: str) -> None:
    with connect(port) as client:
        head = FORM.replace(b"/log-in/", path.encode()) % (
            b"multipart/form-data; boundary=x",
            10**9,
        )
        client.sendall(head)
        answer = b"".join(iter(lambda: client.recv(4096), b""))
        assert answer.split(b" ", 2)[1] in {b"413", b"401"}
        assert b"\r\nConnection: close\r\n" in answer, "nobody asks again on a connection that ends"


def test_long_cookies_cost_nothing(port: int) -> None:
    cookie = b'Cookie: a="' + b"\\" * 7_900 + b"\r\n"
    started = time.monotonic()
    with connect(port) as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + 3 * cookie + b"\r\n")
        assert client.recv(12) == b"HTTP/1.1 200"
    assert time.monotonic() - started < 60
    assert is_answered(port)


def head_of_somebody_who_left() -> _Arriving:
    """Return a request that waits to be asked for its body, of a client that has gone."""
    ours, theirs = socket.socketpair()
    theirs.close()
    head = FORM[:-2] % (URL_ENCODED, 4) + b"Expect: 100-continue\r\n\r\n"
    return _Arriving(SimpleNamespace(sock=ours), time.monotonic() + 60, bytearray(head))


def test_a_client_that_leaves_before_it_is_asked_for_the_body_ends_nothing() -> None:
    request = head_of_somebody_who_left()
    with request.conn.sock as ours, pytest.raises(BrokenPipeError):
        ours.send(b"the control")
    request = head_of_somebody_who_left()
    with request.conn.sock:
        worker_without_connections()._advance(request)

    assert request.n_wanted is not None


class FakeConn:
    """A connection as gunicorn keeps it."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock, self.client, self.is_large = sock, ("127.0.0.1", 1), False
        self.parser = SimpleNamespace(unreader=SimpleNamespace(unread=lambda _data: None))


def worker_without_connections() -> PatientWorker:
    worker = PatientWorker.__new__(PatientWorker)
    worker.n_waiting_bytes, worker.n_waiting, worker.lingering = 0, 0, {}
    worker.answers, worker.counting = {}, threading.Lock()
    worker.arriving, worker.untaken, worker.pending_conns = {}, {}, deque()
    worker.with_thread, worker.without_thread = {}, {}
    worker.n_keeping, worker.n_by_caller = 0, Counter()
    worker.poller, worker.log = selectors.DefaultSelector(), logging.getLogger(__name__)
    return worker


def test_a_connection_that_fails_keeps_no_other_waiting(caplog: pytest.LogCaptureFixture) -> None:
    worker, called = worker_without_connections(), []
    pairs = [socket.socketpair() for _ in range(2)]

    def fail(_sock: socket.socket) -> None:
        called.append("fails")
        raise OSError(errno.EMFILE, "too many open files")

    with ExitStack() as stack:
        for pair, callback in zip(
            pairs, [fail, lambda _sock: called.append("goes on")], strict=True
        ):
            for sock in pair:
                stack.enter_context(sock)
            worker.poller.register(pair[0], selectors.EVENT_READ, callback)
            pair[1].send(b"x")
        worker.wait_for_and_dispatch_events(1)

    assert {"fails", "goes on"} == set(called)
    assert "too many open files" in caplog.text


def test_who_waits_for_the_end_has_no_more_places_than_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patient_worker, "MAX_LINGERING", 0)
    worker = worker_without_connections()
    worker.nr_conns = 1
    ours, theirs = socket.socketpair()
    with theirs:
        worker._linger(SimpleNamespace(sock=ours))
        assert b"" == theirs.recv(1)

    assert ours.fileno() == -1


def test_large_bodies_have_half_of_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = worker_without_connections()
    worker.cfg, worker.alive, worker.nr_conns = SimpleNamespace(threads=4), True, 3
    handed_over: list[_Arriving] = []
    monkeypatch.setattr(worker, "_hand_over", handed_over.append)
    monkeypatch.setattr(worker, "_forget", lambda _request: None)
    head = FORM % (URL_ENCODED, 10**9)
    pairs = [socket.socketpair() for _ in range(3)]
    requests = [
        _Arriving(FakeConn(ours), time.monotonic() + 60, bytearray(head)) for ours, _ in pairs
    ]
    for request in requests:
        worker._advance(request)

    assert requests[:2] == handed_over
    assert pairs[2][1].recv(12) == b"HTTP/1.1 503"
    done: Future[bool] = Future()
    done.set_result(False)
    worker.finish_request(requests[0].conn, done)
    worker._advance(next_one := replace(requests[2], n_wanted=None))
    assert next_one == handed_over[-1], "a place is free again"
    for sock in [sock for pair in pairs for sock in pair]:
        sock.close()


def test_a_quarter_of_the_threads_waits_for_no_page_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worker = worker_without_connections()
    worker.cfg, worker.alive, worker.nr_conns = SimpleNamespace(threads=4), True, 6
    worker.wsgi = SimpleNamespace(keeps_threads=lambda path: path == "/sites/a b/table/")
    with_thread: list[object] = []
    monkeypatch.setattr(ThreadWorker, "enqueue_req", lambda _worker, conn: with_thread.append(conn))
    monkeypatch.setattr(worker, "_forget", lambda _request: None)
    ends = [socket.socketpair() for _ in range(6)]
    *readers, other = [a_whole_request(ours) for ours, _ in ends]
    for request in readers:
        request.data[:] = b"GET http://localhost/sites/a%20b/table/?page=2 HTTP/1.1\r\n\r\n"
        worker._hand_over(request)
    worker._hand_over(other)
    conns = [request.conn for request in readers]
    assert with_thread == [*conns[:3], other.conn]

    done: Future[bool] = Future()
    done.set_result(False)
    worker.finish_request(conns[0], done)
    assert with_thread[4:] == [conns[3]], "a thread is free again"
    late = worker.without_thread.items()
    worker.without_thread = {conn: replace(turn, ends_at=0.0) for conn, turn in late}
    worker.murder_pending()
    assert ends[4][1].recv(12) == b"HTTP/1.1 503"
    for sock in [sock for pair in ends for sock in pair]:
        sock.close()


def test_half_of_the_threads_wait_for_nobody_who_asks_for_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worker = worker_without_connections()
    worker.cfg, worker.alive, worker.nr_conns = SimpleNamespace(threads=4), True, 6
    worker.wsgi = SimpleNamespace(keeps_threads=lambda _path: False)
    with_thread: list[object] = []
    monkeypatch.setattr(ThreadWorker, "enqueue_req", lambda _worker, conn: with_thread.append(conn))
    monkeypatch.setattr(worker, "_forget", lambda _request: None)
    ends = [socket.socketpair() for _ in range(6)]
    *own, other, stranger = [a_whole_request(ours) for ours, _ in ends]
    for request, caller in zip(
        [*own, other],
        [
            b"Cookie: a=b; sessionid=ada",
            b"cookie:sessionid=ada",
            b"Authorization: Token x\r\nCookie: sessionid=fake; sessionid=ada",
            b"Cookie: a=b;\r\nCookie: ;sessionid=ada",
            b"Authorization: Token bob",
        ],
        strict=True,
    ):
        request.data[:] = b"GET /annotate/ HTTP/1.1\r\n%b\r\n\r\n" % caller
    for request in [*own, other, stranger]:
        worker._hand_over(request)
    conns = [request.conn for request in own]
    assert with_thread == [*conns[:2], other.conn, stranger.conn]

    done: Future[bool] = Future()
    done.set_result(False)
    worker.finish_request(conns[0], done)
    assert with_thread[4:] == [conns[2]], "a thread is free again"
    monkeypatch.setattr(patient_worker, "MAX_WAITING_OF_CALLER", 1)
    monkeypatch.setattr(patient_worker, "MAX_WAITING", 1)
    worker._hand_over(replace(own[3], conn=FakeConn(ends[3][0])))
    assert ends[3][1].recv(12) == b"HTTP/1.1 503"
    worker._hand_over(again := replace(stranger, conn=FakeConn(ends[5][0])))
    assert with_thread[-1] == again.conn, "who waits for nobody is not turned away"
    for sock in [sock for pair in ends for sock in pair]:
        sock.close()


def test_a_session_has_one_caller_however_it_is_written() -> None:
    def callers(cookies: bytes) -> frozenset[str]:
        return read_callers(b"GET / HTTP/1.1\r\nCookie: " + cookies)

    assert {"ada"} == callers(b"sessionid=fake; a=b; sessionid = ada ")
    quoted = {callers(b'sessionid="%s"' % name) for name in (b"ada", rb"\141da", b"eve")}
    assert 1 == len(quoted)
    assert frozenset() == callers(b'a="%s"' % (b"\\" * 30_000)), "nor does that take long"
    assert frozenset() == callers(b"a=b")
    assert frozenset() == callers(b"sessionid=ada" + b";" * MAX_COOKIES)


def a_whole_request(ours: socket.socket) -> _Arriving:
    data = bytearray(b"GET /healthz HTTP/1.1\r\n\r\n")
    return _Arriving(FakeConn(ours), time.monotonic() + 60, data)


@pytest.mark.parametrize(
    ("soft", "hard", "expected"),
    [
        (1024, 524_288, (3000, 2000)),
        (1024, 2048, (2048, 1048)),
        (20_000, 20_000, (20_000, 2000)),
        (1024, resource.RLIM_INFINITY, (3000, 2000)),
    ],
)
def test_no_more_connections_are_taken_than_files_can_be_opened(
    soft: int, hard: int, expected: tuple[int, int]
) -> None:
    assert expected == connections_within(soft, hard)


def test_a_head_says_how_long_the_body_is() -> None:
    head = read_head(b"POST / HTTP/1.1\r\ncontent-LENGTH : 7\r\nExpect: 100-Continue")

    assert (7, False, True) == (head.length, head.is_chunked, head.expects_continue)
    assert 0 == read_head(b"GET / HTTP/1.1\r\nContent-Length: -1").length


@pytest.mark.parametrize("n_digits", [1, 19, 20, 5_000, 30_000])
def test_a_long_number_hides_no_body(n_digits: int) -> None:
    head = b"POST / HTTP/1.1\r\nContent-Length: %b"

    assert read_head(head % (b"9" * n_digits)).length >= 9
    assert 7 == read_head(head % (b"7".rjust(n_digits, b"0"))).length
    assert 0 == read_head(head % (b"0" * n_digits)).length
