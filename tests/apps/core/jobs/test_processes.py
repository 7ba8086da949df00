"""Which processes are gone, and which nobody here can know of."""

from __future__ import annotations

import os
import subprocess
import sys

from vertex.core.services.jobs import processes
from vertex.core.services.jobs.processes import is_gone, this_process


def test_this_process_is_here() -> None:
    assert not is_gone(this_process())


def test_a_process_that_ended_is_gone_even_before_its_parent_noticed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "print(1, flush=True); input()"], stdin=-1, stdout=-1
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        name = name_of(child.pid)
        assert not is_gone(name)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert is_gone(name)


def name_of(pid: int) -> str:
    return f"{os.uname().nodename}:{pid}:{processes._start_of(pid)}:{processes._machine()}"


def test_another_process_with_a_reused_number_is_not_taken_for_it() -> None:
    host, pid, start, machine = this_process().split(":")

    assert is_gone(f"{host}:{pid}:{int(start) - 1}:{machine}")


def test_of_other_machines_and_other_containers_nothing_is_known() -> None:
    _, pid, start, machine = this_process().split(":")
    host = os.uname().nodename

    assert not is_gone(f"elsewhere:{pid}:{int(start) - 1}:{machine}")
    assert not is_gone(f"{host}:{pid}:{int(start) - 1}:another-container")
    assert not is_gone("")
