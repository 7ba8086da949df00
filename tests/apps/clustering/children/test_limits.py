"""A child does what it is told, and nothing that it is given costs more than its limits."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from clustering.services.children import limits
from clustering.services.children.limits import (
    CallFailed,
    CallStopped,
    ChildrenBusy,
    LimitedChild,
    call_limited,
    end_idle_children,
)
from tests.apps.clustering.children import burdens
from tests.installation import wait_until


@pytest.fixture(scope="module")
def child() -> Iterator[LimitedChild]:
    with LimitedChild(cpu_seconds=1, wall_seconds=60, memory=300 * 1024**2) as limited:
        yield limited


def test_it_returns_what_the_function_returns(child: LimitedChild) -> None:
    n_bytes, content_type, pid = child.call(burdens.length, b"\x00\xff" * 5, "tëxt/\ud800", times=3)

    assert [30, "tëxt/\ud800"] == [n_bytes, content_type]
    assert pid != os.getpid()
    assert pid == child.call(burdens.length, b"")[2], "one child serves all calls"
    assert b"\x00<p>\xff" == child.call(burdens.back, b"\x00<p>\xff")


@pytest.mark.parametrize(
    ("burden", "arguments", "why"),
    [
        (burdens.endless, (b"x",), "more than 1 seconds of a processor"),
        (burdens.greedy, (b"x",), "more memory than it may have"),
        (burdens.confused, (b"x",), "more memory than it may have"),
        (burdens.parses, (800_000,), "more memory than it may have"),
        (burdens.crash, (b"x",), rf"status -{signal.SIGABRT.value}"),
        (burdens.talks, (b"x", limits.MAX_ANSWER_BYTES), "bytes; at most|ends its process"),
        (burdens.lies, (b"x",), "answer something else"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_goes_too_far_ends_its_process_and_the_next_call_is_answered(
    burden: Callable[..., Any], arguments: tuple[Any, ...], why: str
) -> None:
    with LimitedChild(cpu_seconds=1, wall_seconds=60, memory=300 * 1024**2) as child:
        with pytest.raises(CallStopped, match=why):
            child.call(burden, *arguments)
        assert b"next" == child.call(burdens.back, b"next")


def test_an_error_of_the_function_is_told_and_harms_nothing(child: LimitedChild) -> None:
    pid = child.call(burdens.length, b"")[2]
    with pytest.raises(CallFailed, match="LookupError: no such thing"):
        child.call(burdens.wrong, b"")

    assert pid == child.call(burdens.length, b"")[2]


def test_nothing_is_written_and_nobody_reached(child: LimitedChild, tmp_path: Path) -> None:
    path = tmp_path / "file"
    with pytest.raises(CallFailed, match="File too large"):
        child.call(burdens.writes, b"", str(path))
    assert "" == path.read_text()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(CallFailed, match="connects to nothing"):
            child.call(burdens.connects, b"", port)
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_a_child_that_gets_no_time_to_answer_blames_nobody() -> None:
    with (
        LimitedChild(wall_seconds=0.5) as child,
        pytest.raises(ChildrenBusy, match="try again in a while"),
    ):
        child.call(burdens.waits, b"")


def test_a_child_is_replaced_after_some_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_CALLS", 2)
    with LimitedChild() as child:
        pids = [child.call(burdens.length, b"")[2] for _ in range(3)]

    assert pids[0] == pids[1] != pids[2]
    assert not psutil.pid_exists(int(str(pids[2])))


def test_more_callers_than_children_wait_and_are_turned_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    end_idle_children()
    monkeypatch.setattr(limits, "MAX_CHILDREN", 1)
    monkeypatch.setattr(limits, "PATIENCE_OF_REQUESTS", 0.2)
    begun: list[str] = []

    def first() -> None:
        with pytest.raises(CallFailed):
            call_limited(burdens.wrong, b"")
        with limits.lent_child(limits.READING, 0):
            begun.append("holds the only child")
            is_over.wait(60)

    is_over = threading.Event()
    thread = threading.Thread(target=first)
    thread.start()
    wait_until(lambda: bool(begun), "the child is lent")
    with pytest.raises(ChildrenBusy):
        call_limited(burdens.back, b"x")
    is_over.set()
    thread.join()
    assert b"x" == call_limited(burdens.back, b"x")
    end_idle_children()


def test_what_comes_to_the_limits_is_called_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    class Counting(LimitedChild):
        def call(self, function: Any, *args: Any, **named: Any) -> Any:
            calls.append(function.__name__)
            if len(calls) < 2:
                raise CallStopped("too little memory this time")
            return super().call(function, *args, **named)

    end_idle_children()
    monkeypatch.setattr(limits, "LimitedChild", Counting)
    assert b"x" == call_limited(burdens.back, b"x")
    assert ["back", "back"] == calls
    end_idle_children()


def test_a_message_is_plain_json_with_bytes_behind_it() -> None:
    parts: list[bytes] = []
    values = [limits.packed(value, parts) for value in (b"\0<p>", "text", b"")]
    assert ([{"bytes": 4}, "text", {"bytes": 0}], [b"\0<p>", b""]) == (values, parts)

    document, rest = limits.separated(limits.joined(values, parts))
    assert [b"\0<p>", "text", b""] == [limits.unpacked(value, rest) for value in document]
