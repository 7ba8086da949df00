"""A Python that has loaded what every command loads, and begins programs in forks of itself.

For tests that start dozens of processes to see what each makes of its environment: to load the same
libraries each time takes most of their time. No settings are read before the fork, so each program
meets its own environment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = (
    "django.core.management.commands.check",
    "django.core.serializers.json",
    "django.contrib.staticfiles.storage",
    "celery.app.base",
    "csp.constants",
    "structlog.dev",
    "lxml.html",
    "requests",
)


class PreparedPython:
    """The process that waits for programs."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.prepared_python"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self, program: str, environ: Mapping[str, str], folder: Path
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to its end; what it prints goes through two files of the folder."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        stdout, stderr = folder / "stdout", folder / "stderr"
        print(
            json.dumps([program, dict(environ), str(stdout), str(stderr)]),
            file=self._process.stdin,
            flush=True,
        )
        status = int(self._process.stdout.readline())
        return subprocess.CompletedProcess(program, status, stdout.read_text(), stderr.read_text())

    def stop(self) -> None:
        self._process.communicate()


def wait_for_programs() -> str:
    """Fork for each line of standard input; in a fork, return the program of its line."""
    for name in LIBRARIES:
        import_module(name)
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            program, environ, stdout, stderr = json.loads(line)
            begin(environ, stdout, stderr)
            return str(program)
        _, status = os.waitpid(process, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()
    return ""


def begin(environ: Mapping[str, str], stdout: str, stderr: str) -> None:
    """Take on an environment and the files to print to."""
    os.environ.clear()
    os.environ.update(environ)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in ((1, stdout), (2, stderr)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)


if __name__ == "__main__":
    exec(wait_for_programs())
