"""Name processes so that a worker that is gone can be told from one that still works."""

from __future__ import annotations

import os
from pathlib import Path

GONE = {"Z", "X", "x"}  # ended; a zombie only waits for its parent to notice


def this_process() -> str:
    """Return machine, number and start of this process: a reused number is not taken for it."""
    return f"{os.uname().nodename}:{os.getpid()}:{_start_of(os.getpid())}:{_machine()}"


def is_gone(process: str) -> bool:
    """Return whether a process of this machine has ended; False for processes of other machines."""
    name, _, machine = process.rpartition(":")
    host, _, pid_and_start = name.partition(":")
    pid, _, start = pid_and_start.partition(":")
    is_ours = host == os.uname().nodename and machine == _machine() != "" and pid.isdigit()
    return is_ours and _start_of(int(pid)) != start


def _start_of(pid: int) -> str:
    """Return when a process was started, in the kernel's ticks; blank where it runs no more."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in GONE else fields[19]


def _machine() -> str:
    """Return an identifier of this boot and this space of process numbers; blank where unknown.

    Two containers may have one host name, and each its own process 1.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        numbers = Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return ""
    return f"{boot[:13]}.{numbers}"
