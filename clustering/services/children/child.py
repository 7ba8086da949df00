"""The child process of `limits`: it calls what it is told to, until its parent closes the pipe.

It reads strangers' pages, so it has little memory, may write no file, and is ended from outside.
"""

from __future__ import annotations

import resource
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Final

from clustering.services.children.limits import (
    MAX_ANSWER_BYTES,
    joined,
    packed,
    read_message,
    separated,
    unpacked,
    write_message,
)

NEARLY_ALL: Final = 0.9  # of the memory that a process may have


def serve(cpu_seconds: int, memory: int, answers: IO[bytes], *, may_write: bool = False) -> None:
    """Answer calls until the parent closes the pipe."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        # These go to the parent's whole group; the page at work would count as one that is
        # too heavy.
        signal.signal(number, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    if not may_write:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    calls = sys.stdin.buffer
    while True:
        try:
            call = read_message(calls, memory)
        except EOFError:
            return
        usage = resource.getrusage(resource.RUSAGE_SELF)
        used = int(usage.ru_utime + usage.ru_stime) + 1
        # The soft limit alone kills: nothing here handles its signal.
        resource.setrlimit(resource.RLIMIT_CPU, (used + cpu_seconds, resource.RLIM_INFINITY))
        write_message(answers, answer_call(call))


def answer_call(call: bytes) -> bytes:
    """Return what the called function returns, or why it returned nothing."""
    try:
        (name, args, named), rest = separated(call)
        module, _, function = name.partition(":")
        values = [unpacked(value, rest) for value in args]
        named_values = {key: unpacked(value, rest) for key, value in named.items()}
        returned = getattr(import_module(module), function)(*values, **named_values)
        parts: list[bytes] = []
        answer = joined({"returned": packed(returned, parts)}, parts)
    except Exception as error:  # noqa: BLE001 - the parent raises it, with its name
        if isinstance(error, MemoryError | RecursionError) or was_short_of_memory():
            return joined({"stopped": "it needs more memory than it may have"}, [])
        return joined({"failed": f"{type(error).__name__}: {error}"}, [])
    if len(answer) > MAX_ANSWER_BYTES:
        size = f"{len(answer):,} bytes; at most {MAX_ANSWER_BYTES:,} are taken"
        return joined({"stopped": f"what is made of it has {size}"}, [])
    return answer


def was_short_of_memory() -> bool:
    """Return whether this process once had nearly all the memory that it may have.

    Where an allocation fails, Python and its libraries raise whatever comes, such as "'frame'
    object is not callable".
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return False
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "VmPeak":
            return int(value.split()[0]) * 1024 > NEARLY_ALL * limit
    return False


def _refuse_connections(event: str, _arguments: tuple[Any, ...]) -> None:
    """Refuse whatever would reach out of the process: a page needs nothing but itself."""
    if event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
        raise PermissionError("a page connects to nothing")


if __name__ == "__main__":
    sys.addaudithook(_refuse_connections)
    serve(int(sys.argv[1]), int(sys.argv[2]), sys.stdout.buffer)
