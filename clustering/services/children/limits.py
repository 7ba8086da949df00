"""Run a function in a child process that is stopped where it takes too long or too much.

Neither signals nor a job's own time limit interrupt libxml2 or Python's expressions, which run in
C. The child (`child`) is told the name of a function and what it is called with, and writes back
what it returns, JSON with bytes behind it both ways: nothing that comes back is run. It knows no
Django, so that it starts in a moment, it may write no file and connect to nothing, and it is
replaced after MAX_CALLS.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Final, ParamSpec, Self, TypeVar, cast

import orjson

from vertex.core.exceptions import TooBusy

ROOT: Final = (
    Path(__file__).resolve().parents[__name__.count(".")]
)  # whatever the package stands in
CPU_SECONDS: Final = 5
WALL_SECONDS: Final = 60.0
MEMORY: Final = 1024**3  # bytes
MAX_CALLS: Final = 500  # of a child
MAX_CHILDREN: Final = 4  # of one process
MAX_IDLE: Final = 2
PATIENCE_OF_REQUESTS, PATIENCE_OF_JOBS = 5.0, 600.0  # seconds of waiting for a free child
MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
READING: Final = "reading"  # the purpose of children that read pages
N_LENGTH: Final = 8  # bytes that tell the length of what follows

P = ParamSpec("P")
R = TypeVar("R")


class CallStopped(Exception):
    """What was called came to its process's limits, or crashed it: what it was given is to blame.

    `status` is that with which the process ended; None where it is told by other means.
    """

    def __init__(self, why: str, status: int | None = None) -> None:
        super().__init__(why)
        self.status = status


class ChildrenBusy(TooBusy):
    """No child was free in time, or the machine gave it no time: nobody knows what is to blame."""

    def __init__(self) -> None:
        super().__init__("many pages are being read at the moment; try again in a while")


class CallFailed(Exception):
    """What was called raised an error."""


class LimitedChild:
    """A child process, started when first asked, and asked again and again; use it as a context."""

    def __init__(
        self,
        *,
        cpu_seconds: int = CPU_SECONDS,
        wall_seconds: float = WALL_SECONDS,
        memory: int = MEMORY,
    ) -> None:
        self.limits = (cpu_seconds, memory)
        self._wall_seconds = wall_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._n_calls = 0
        self._is_late = False
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()
            process.wait()

    @property
    def pid(self) -> int | None:
        """The number of the process, None where none runs."""
        return self._process.pid if self._process is not None else None

    def call(self, function: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
        """Return what a function of a module returns: bytes, or a value that JSON knows.

        Raises CallStopped, ChildrenBusy, CallFailed.
        """
        name = f"{function.__module__}:{function.__name__}"
        parts: list[bytes] = []
        question = [
            name,
            [packed(value, parts) for value in args],
            {key: packed(named[key], parts) for key in named},
        ]
        with self._lock:
            answer, rest = self._exchange(joined(question, parts))
            if "stopped" in answer:
                self.close()  # the memory that it is left with may be too little for any page
        if "stopped" in answer:
            raise CallStopped(answer["stopped"])
        if "failed" in answer:
            raise CallFailed(answer["failed"])
        result: R = unpacked(answer["returned"], rest)
        return result

    def _exchange(self, question: bytes) -> tuple[dict[str, Any], IO[bytes]]:
        process = self._ready_process()
        requests, answers = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        timer = threading.Timer(self._wall_seconds, self._end_late, [process])
        timer.start()
        try:
            write_message(requests, question)
            answer, rest = separated(read_message(answers))
        except (BrokenPipeError, EOFError, ValueError):
            stopped = self._why_ended(process)
            self.close()
            if self._is_late:
                raise ChildrenBusy from None
            raise stopped from None
        finally:
            timer.cancel()
        return answer, rest

    def _end_late(self, process: subprocess.Popen[bytes]) -> None:
        self._is_late = True
        process.kill()

    def _ready_process(self) -> subprocess.Popen[bytes]:
        if self._n_calls >= MAX_CALLS or (self._process and self._process.poll() is not None):
            self.close()
        if self._process is None:
            self._n_calls = 0
            self._process = self._start_process()
        self._n_calls += 1
        self._is_late = False
        return self._process

    def _start_process(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - nothing that anyone typed is among the arguments
            [sys.executable, "-m", f"{__package__}.child", *map(str, self.limits)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env={
                "PATH": os.environ.get("PATH", ""),
                "OPENBLAS_NUM_THREADS": "1",
                "LANG": "C.UTF-8",
            },
        )

    def _why_ended(self, process: subprocess.Popen[bytes]) -> CallStopped:
        cpu_seconds, memory = self.limits
        try:
            status = process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return CallStopped("it made its process answer something else")
        why = f"it ends its process (status {status}), which may have {memory >> 20:,} MB"
        if status in {-signal.SIGXCPU, -signal.SIGKILL}:
            why = f"it takes more than {cpu_seconds} seconds of a processor"
        return CallStopped(why, status)


class _Pool:
    """Children of one process that wait for the next call."""

    def __init__(self) -> None:
        self._idle: list[LimitedChild] = []
        self._free = threading.BoundedSemaphore(MAX_CHILDREN)

    @contextmanager
    def lent(self, patience: float) -> Iterator[LimitedChild]:
        if not self._free.acquire(timeout=patience):
            raise ChildrenBusy
        try:
            child = self._idle.pop() if self._idle else LimitedChild()
            try:
                yield child
            finally:
                self._idle.append(child)
        finally:
            self._free.release()
        while len(self._idle) > MAX_IDLE:
            self._idle.pop(0).close()

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()


# By process, since after a fork a child must not be asked by both, and by what the children
# are for.
_pools: dict[tuple[int, str], _Pool] = {}


def lent_child(purpose: str, patience: float) -> AbstractContextManager[LimitedChild]:
    """Lend a child of this process while the context lasts, at most MAX_CHILDREN for a purpose.

    Raises ChildrenBusy where none is free in so many seconds.
    """
    return _pools.setdefault((os.getpid(), purpose), _Pool()).lent(patience)


def call_limited(function: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
    """Return what a function of a module without Django returns, called in a child process.

    What came to the limits is called once more: the first child may have been short of memory for
    others. Raises CallStopped, ChildrenBusy, CallFailed.
    """
    return _call(PATIENCE_OF_REQUESTS, function, *args, **named)


def call_when_free(function: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
    """Return what `call_limited` returns, for jobs, which can wait. Raises the same."""
    return _call(PATIENCE_OF_JOBS, function, *args, **named)


def _call(patience: float, function: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
    with lent_child(READING, patience) as child:
        try:
            return child.call(function, *args, **named)
        except CallStopped:
            return child.call(function, *args, **named)


@atexit.register
def end_idle_children() -> None:
    """End the children of this process that wait."""
    for process, purpose in list(_pools):
        if process == os.getpid():
            _pools.pop((process, purpose)).close()


def packed(value: object, parts: list[bytes]) -> object:
    """Return a value as JSON can hold it; bytes become a part of their own."""
    if not isinstance(value, bytes):
        return value
    parts.append(value)
    return {"bytes": len(value)}


def unpacked(value: Any, parts: IO[bytes]) -> Any:
    """Return the value that `packed` made this of: bytes are read from the parts.

    All else is as it was. Values are unpacked in the order in which they were packed.
    """
    if isinstance(value, dict) and value.keys() == {"bytes"}:
        return parts.read(value["bytes"])
    return value


def joined(document: object, parts: Sequence[bytes]) -> bytes:
    """Return a message: JSON with its length before it, and the parts behind it."""
    head = write_json(document)
    return b"".join([len(head).to_bytes(N_LENGTH, "big"), head, *parts])


def separated(message: bytes) -> tuple[Any, IO[bytes]]:
    """Return the JSON of a message, and its parts. Raises ValueError."""
    rest = BytesIO(message)
    head = rest.read(int.from_bytes(rest.read(N_LENGTH), "big"))
    return read_json(head), rest


def write_json(value: object) -> bytes:
    """Return a value as JSON."""
    try:
        return orjson.dumps(value)
    except (
        TypeError
    ):  # half of a pair of surrogates, numbers as keys: only the slower one writes them
        return json.dumps(value).encode()


def read_json(written: bytes) -> Any:
    """Return the value of what `write_json` wrote. Raises ValueError."""
    try:
        return orjson.loads(written)
    except ValueError:
        return json.loads(written)


def write_message(stream: IO[bytes], message: bytes) -> None:
    """Write a message with its length before it."""
    stream.write(len(message).to_bytes(N_LENGTH, "big"))
    stream.write(message)
    stream.flush()


def read_message(stream: IO[bytes], at_most: int = MAX_ANSWER_BYTES) -> bytes:
    """Return the next message. Raises EOFError where the other side ended, or claims too much."""
    head = stream.read(N_LENGTH)
    length = int.from_bytes(head, "big")
    if len(head) < N_LENGTH or length > at_most:
        raise EOFError
    message = stream.read(length)
    if len(message) < length:
        raise EOFError
    return message
