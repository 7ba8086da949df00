"""Children of the supervisor: their lines, their restarts, their end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from tests.installation import is_alive, wait_until
from vertex.running import supervision
from vertex.running.supervision import Child, ChildFailed, Supervisor


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "LONGEST_PAUSE", 0.1)
    monkeypatch.setattr(supervision, "POLITE", 1.0)
    monkeypatch.setattr(supervision, "FIRM", 2.0)


def python(name: str, code: str, *, is_kept: bool = True) -> Child:
    return Child(name, [sys.executable, "-u", "-c", code], is_kept=is_kept)


def supervise(*children: Child, until: Callable[[list[str]], bool]) -> list[str]:
    """Run the children until their lines show it, and return the lines."""
    lines: list[str] = []
    supervisor = Supervisor(children, lines.append, {})
    problems: list[AssertionError] = []

    def watch() -> None:
        try:
            wait_until(lambda: until(lines) or supervisor.is_stopping.is_set(), "the lines")
        except AssertionError as problem:
            problems.append(problem)
        supervisor.stop()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        supervisor.run()
    finally:
        supervisor.stop()
        watcher.join()
    assert problems == [], lines
    return lines


def test_each_line_says_which_child_it_is_of() -> None:
    lines = supervise(
        python("web", "print('ready'); input()", is_kept=False),
        python("worker", "import sys, time; print('at work', file=sys.stderr); time.sleep(600)"),
        until=lambda lines: "worker | at work" in lines and "web    | ready" in lines,
    )

    assert {"web    | ready", "worker | at work"} <= set(lines)


def test_a_dead_child_is_started_again() -> None:
    lines = supervise(
        python("worker", "import os, signal; print('up'); os.kill(os.getpid(), signal.SIGKILL)"),
        until=lambda lines: lines.count("worker | up") >= 2,
    )

    assert "worker | ended (killed by SIGKILL); starting again in 0 s" in lines


def test_a_child_that_never_starts_ends_the_run_with_its_last_lines() -> None:
    with pytest.raises(ChildFailed, match=r"(?s)worker ended 5 times in a row.*\nno such module"):
        supervise(python("worker", "print('no such module'); exit(3)"), until=lambda _: False)


def test_a_child_that_lived_for_a_while_has_all_its_tries_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(supervision, "HEALTHY_AFTER", 0.0)

    lines = supervise(
        python("worker", "print('up')"),
        until=lambda lines: lines.count("worker | up") > supervision.MAX_FAILURES,
    )

    assert lines.count("worker | up") > supervision.MAX_FAILURES


def test_a_child_that_may_end_is_not_started_again() -> None:
    lines = supervise(
        python("demo", "print('shown')", is_kept=False),
        python("web", "import time; time.sleep(1); print('later'); time.sleep(600)"),
        until=lambda lines: "web  | later" in lines,
    )

    assert lines.count("demo | shown") == 1


def test_a_child_that_may_end_badly_is_told_of_and_stops_nothing_else() -> None:
    lines = supervise(
        python("demo", "print('port taken'); exit(1)", is_kept=False),
        python("web", "import time; time.sleep(1); print('later'); time.sleep(600)"),
        until=lambda lines: "web  | later" in lines,
    )

    assert (lines.count("demo | port taken"), lines.count("demo | ended (status 1)")) == (1, 1)


def test_children_and_what_they_started_are_gone_at_the_end() -> None:
    grandchild = (
        "import subprocess, sys, time; c = subprocess.Popen([sys.executable, '-c', 'import time; "
        "time.sleep(600)']); print(c.pid); time.sleep(600)"
    )

    lines = supervise(python("worker", grandchild), until=lambda lines: len(lines) > 0)

    pid = int(lines[0].rpartition(" ")[2])
    wait_until(lambda: not is_alive(pid), "the grandchild is gone")


def test_a_child_that_does_not_want_to_end_is_killed() -> None:
    stubborn = (
        "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        "print(os.getpid())\nwhile True: time.sleep(1)"
    )

    lines = supervise(python("worker", stubborn), until=lambda lines: len(lines) > 0)

    assert not is_alive(int(lines[0].rpartition(" ")[2]))


def test_children_do_not_outlive_a_supervisor_that_is_killed() -> None:
    code = (
        "from vertex.running.supervision import Child, Supervisor\nimport sys\n"
        "child = Child('worker', [sys.executable, '-u', '-c', 'import os, time; "
        "print(os.getpid()); time.sleep(600)'])\n"
        "Supervisor([child], lambda line: print(line, flush=True), {}).run()"
    )
    pid = run_until_first_line(code)

    wait_until(lambda: not is_alive(pid), "the child is gone")


def run_until_first_line(code: str) -> int:
    """Run the code until it prints a process number, kill it, and return the number."""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline().rpartition(" ")[2])
        assert is_alive(pid)
        os.kill(process.pid, 9)
    return pid
