"""Run what people wrote in a child process that is stopped where it takes too long or too much.

Neither signals nor a job's own time limit interrupt XPath and XSLT, which run in C. The child
(`limited_child`) reads questions from its standard input and answers on its standard output, JSON both ways;
it may use five seconds of processor time a question, less where the question says so, and 1 GiB, and may
write no file. After MAX_QUESTIONS it is replaced.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

import orjson

from clustering.algorithms.grouping import RawPage
from rules.algorithms.by_hand.sandbox import StylesheetRefused, check_xpath, read_stylesheet

ROOT = Path(__file__).resolve().parents[__name__.count(".")]  # whatever the package stands in
CPU_SECONDS = 5
WALL_SECONDS = 15.0
MEMORY = 1024**3  # bytes
MAX_QUESTIONS = 200
MAX_CHILDREN = 4  # of one process
MAX_ANSWER_BYTES = 64 * 1024 * 1024
N_LENGTH = 8  # bytes that tell the length of what follows


class RunStopped(Exception):
    """What was run took too long, too much memory, or crashed."""


@dataclass(frozen=True, slots=True)
class FoundNode:
    """A node that an XPath selects: the path of its element, and its text."""

    path: str
    text: str


class LimitedRuns:
    """One child process, started when first asked, and asked again and again; use it as a context."""

    def __init__(
        self,
        *,
        cpu_seconds: int = CPU_SECONDS,
        wall_seconds: float = WALL_SECONDS,
        memory: int = MEMORY,
    ) -> None:
        self._memory = memory
        self._cpu_seconds = cpu_seconds
        self._wall_seconds = wall_seconds
        self._child: subprocess.Popen[bytes] | None = None
        self._n_questions = 0
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child process."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            for stream in (child.stdin, child.stdout):
                if stream is not None:
                    stream.close()
            child.wait()

    def find_nodes(self, xpath: str, pages: Sequence[RawPage]) -> list[list[FoundNode]]:
        """Return what a hand-written XPath selects on each page.

        Raises StylesheetRefused, RunStopped.
        """
        check_xpath(xpath)
        answer = self.ask({"kind": "xpath", "text": xpath, "pages": packed(pages)})
        return [[FoundNode(*node) for node in nodes] for nodes in answer]

    def transform(
        self, stylesheet: bytes, pages: Sequence[RawPage], *, provenance: bool = False
    ) -> list[bytes]:
        """Return what a hand-written stylesheet makes of each page.

        Raises StylesheetRefused, RunStopped.
        """
        read_stylesheet(stylesheet)
        text = b64encode(stylesheet).decode()
        question = {"kind": "xslt", "text": text, "provenance": provenance, "pages": packed(pages)}
        return [b64decode(result) for result in self.ask(question)]

    def ask(self, question: Mapping[str, Any]) -> list[Any]:
        """Return the child's answer, one for each page.

        Raises StylesheetRefused, RunStopped.
        """
        with self._lock:
            child = self._ready_child()
            self._n_questions += 1
            timer = threading.Timer(self._wall_seconds, child.kill)
            timer.start()
            try:
                answer = _exchange(child, orjson.dumps(question))
            except (BrokenPipeError, EOFError):
                raise RunStopped(self._why_ended(child)) from None
            finally:
                timer.cancel()
            if "stopped" in answer:
                self.close()  # the memory that it is left with may be too little for any page
        if "refused" in answer:
            raise StylesheetRefused(answer["refused"])
        if "stopped" in answer:
            raise RunStopped(answer["stopped"])
        results: list[Any] = answer["found"]
        return results

    def _ready_child(self) -> subprocess.Popen[bytes]:
        if self._n_questions >= MAX_QUESTIONS or (self._child and self._child.poll() is not None):
            self.close()
        if self._child is None:
            self._n_questions = 0
            self._child = subprocess.Popen(  # noqa: S603 - nothing that anyone typed is among the arguments
                [
                    sys.executable,
                    "-m",
                    f"{__package__}.limited_child",
                    str(self._cpu_seconds),
                    str(self._memory),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=ROOT,  # two levels above this package
                env={
                    "PATH": os.environ.get("PATH", ""),
                    "OPENBLAS_NUM_THREADS": "1",
                    "LANG": "C.UTF-8",
                },
            )
        return self._child

    def _why_ended(self, child: subprocess.Popen[bytes]) -> str:
        self.close()
        if child.returncode == -signal.SIGPROF:
            return "a learnt rule may run for one second on a page"
        if child.returncode in {-signal.SIGKILL, -signal.SIGXCPU}:
            return (
                f"it ran longer than {self._cpu_seconds} seconds; look for recursion, and for //… within"
                " a predicate, which is evaluated anew for each node"
            )
        return f"it ended its process (status {child.returncode}), most likely for want of memory"


class _Pool:
    """Children that wait for the next question, of one process."""

    def __init__(self) -> None:
        self._idle: list[LimitedRuns] = []
        self._free = threading.BoundedSemaphore(MAX_CHILDREN)

    @contextmanager
    def borrowed(self) -> Iterator[LimitedRuns]:
        with self._free:
            try:
                runs = self._idle.pop()
            except IndexError:
                runs = LimitedRuns()
            try:
                yield runs
            finally:
                self._idle.append(runs)

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()


_pools: dict[int, _Pool] = {}  # by process: after a fork a child must not be asked by both


def borrowed_runs() -> AbstractContextManager[LimitedRuns]:
    """Lend a child of this process's pool while the context lasts; at most MAX_CHILDREN at a time."""
    return _pools.setdefault(os.getpid(), _Pool()).borrowed()


@atexit.register
def close_pool() -> None:
    """End the children of this process that wait."""
    pool = _pools.pop(os.getpid(), None)
    if pool is not None:
        pool.close()


def packed(pages: Sequence[RawPage]) -> list[tuple[str, str, str]]:
    """Return pages as JSON values: the address, the bytes in base64, the content type."""
    return [(page.url, b64encode(page.body).decode(), page.content_type) for page in pages]


def unpacked(pages: Iterable[Sequence[str]]) -> Iterator[RawPage]:
    """Yield the pages that were packed."""
    for url, body, content_type in pages:
        yield RawPage(url, b64decode(body), content_type)


def _exchange(child: subprocess.Popen[bytes], question: bytes) -> dict[str, Any]:
    if child.stdin is None or child.stdout is None:
        raise EOFError
    write_message(child.stdin, question)
    answer: dict[str, Any] = orjson.loads(read_message(child.stdout))
    return answer


def write_message(stream: IO[bytes], message: bytes) -> None:
    """Write a message with its length before it."""
    stream.write(len(message).to_bytes(N_LENGTH, "big") + message)
    stream.flush()


def read_message(stream: IO[bytes]) -> bytes:
    """Return the next message. Raises EOFError where the other side ended."""
    head = stream.read(N_LENGTH)
    if len(head) < N_LENGTH:
        raise EOFError
    message = stream.read(int.from_bytes(head, "big"))
    if len(message) < int.from_bytes(head, "big"):
        raise EOFError
    return message
