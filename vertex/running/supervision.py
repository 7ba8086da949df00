"""Run several processes as one: start them, pass on their output, restart the dead, stop all."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

HEALTHY_AFTER = 10.0  # seconds: a child that lived this long was started well
MAX_FAILURES = 5  # in a row
LONGEST_PAUSE = 30.0
POLITE, FIRM = 3.0, 6.0  # seconds after which a child is asked with its whole group, and is killed
LINES_KEPT = 20
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None)


class ChildFailed(Exception):
    """A child ended again and again right after its start."""

    def __init__(self, child: Child) -> None:
        last = "\n".join(child.lines)
        super().__init__(
            f"{child.name} ended {child.n_failures} times in a row. Its last lines:\n{last}"
        )


@dataclass
class Child:
    """A process that runs as long as the supervisor; one that is not kept may end in any way."""

    name: str
    command: Sequence[str]
    is_kept: bool = True
    pass_fds: Sequence[int] = ()
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    start_again_at: float = 0.0
    n_failures: int = 0
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=LINES_KEPT))

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def has_ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None


class Supervisor:
    """Keep children running until told to stop; the thread that runs it starts all of them."""

    def __init__(
        self, children: Sequence[Child], write: Callable[[str], None], environ: Mapping[str, str]
    ) -> None:
        self.children = children
        self.write = write
        self.environ = environ
        self.is_stopping = threading.Event()
        self._width = max(len(child.name) for child in children)
        self._readers: list[threading.Thread] = []

    def run(self) -> None:
        """Start the children and look after them until `stop` is called. Raises ChildFailed."""
        try:
            while not self.is_stopping.is_set():
                for child in self.children:
                    self._look_after(child)
                self.is_stopping.wait(0.2)
        finally:
            self._end_all()

    def stop(self) -> None:
        """Make `run` end the children and return; safe to call from a signal handler."""
        self.is_stopping.set()

    def tell(self, child: Child, line: str) -> None:
        self.write(f"{child.name:<{self._width}} | {line}")

    def _look_after(self, child: Child) -> None:
        if child.is_running:
            return
        if child.process is not None and not self._is_to_run_again(child):
            return
        if time.monotonic() >= child.start_again_at:
            self._start(child)

    def _is_to_run_again(self, child: Child) -> bool:
        """Log the end of a child once, and return whether it is to be started again."""
        assert child.process is not None  # noqa: S101 - for the type checker
        status = child.process.returncode
        if not child.is_kept:  # it ends by itself; only a failure is worth a line, and that once
            if status and not child.n_failures:
                child.n_failures = 1
                self.tell(child, f"ended ({_reason(status)})")
            return False
        is_end_new = child.start_again_at < child.started_at  # else it waits to be started again
        if is_end_new:
            _end_group(child.process, signal.SIGKILL)  # what it left behind
            lived = time.monotonic() - child.started_at
            child.n_failures = 1 if lived > HEALTHY_AFTER else child.n_failures + 1
            if child.n_failures >= MAX_FAILURES:
                raise ChildFailed(child)
            pause = min(2.0 ** (child.n_failures - 1), LONGEST_PAUSE)
            child.start_again_at = time.monotonic() + pause
            self.tell(child, f"ended ({_reason(status)}); starting again in {pause:.0f} s")
        return True

    def _start(self, child: Child) -> None:
        child.started_at = time.monotonic()
        child.process = subprocess.Popen(  # noqa: S603 - our own programs
            child.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=child.pass_fds,
            start_new_session=True,  # a Ctrl-C is for the supervisor, which stops them in order
            preexec_fn=die_with_parent,  # noqa: PLW1509 - one call into the C library, which takes no lock
            env={**os.environ, **self.environ},
        )
        reader = threading.Thread(target=self._pass_on, args=(child, child.process), daemon=True)
        reader.start()
        self._readers.append(reader)

    def _pass_on(self, child: Child, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None  # noqa: S101 - for the type checker
        with process.stdout as output:
            for raw in output:
                line = raw.decode(errors="replace").rstrip()
                if line:
                    child.lines.append(line)
                    self.tell(child, line)

    def _end_all(self) -> None:
        """Ask all children to end, then their groups, then leave them no choice."""
        processes = [child.process for child in self.children if child.process is not None]
        begun = time.monotonic()
        for process in processes:
            if process.poll() is None:
                process.terminate()
        _wait_for(processes, begun + POLITE)
        for process in processes:
            if process.poll() is None:
                _end_group(process, signal.SIGTERM)
        _wait_for(processes, begun + FIRM)
        for process in processes:
            _end_group(process, signal.SIGKILL)
            process.wait()
        for reader in self._readers:
            reader.join(timeout=1)


def die_with_parent() -> None:
    """Ask the kernel to kill this process when the one that started it is gone; only Linux can."""
    if sys.platform == "linux":
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _end_group(process: subprocess.Popen[bytes], how: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, how)


def _wait_for(processes: Sequence[subprocess.Popen[bytes]], deadline: float) -> None:
    for process in processes:
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))


def _reason(status: int) -> str:
    return f"status {status}" if status >= 0 else f"killed by {signal.Signals(-status).name}"
