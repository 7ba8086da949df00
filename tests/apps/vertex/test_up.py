"""One command runs all that an installation on one machine needs, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest
from django.core.management import CommandError, call_command

from tests.conftest import IS_FULL
from tests.installation import PATIENCE, Installation, is_alive, own_database, wait_until
from tests.servers import free_port
from vertex.management.commands import up

pytestmark = pytest.mark.slow


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    """An installation that nobody migrated or made folders for."""
    installation = Installation(tmp_path)
    installation.var = tmp_path / "var"
    installation.var.mkdir()
    yield installation
    installation.stop()


def start(installation: Installation, port: int) -> subprocess.Popen[bytes]:
    process = installation.start("manage.py", "up", "--port", str(port), "--workers", "1", log="up")
    wait_until(
        lambda: "Vertex answers at" in installation.log("up") or process.poll() is not None,
        "an answer",
        seconds=600,
    )
    assert process.poll() is None, installation.log("up")
    return process


def family(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    return list(psutil.Process(process.pid).children(recursive=True))


def workers_of(process: subprocess.Popen[bytes], name: str) -> list[int]:
    """Return the process number of the worker of this name, if it runs."""
    children = psutil.Process(process.pid).children()
    return [child.pid for child in children if f"--hostname={name}@%h" in child.cmdline()]


def test_it_serves_works_restarts_what_died_and_stops_cleanly(installation: Installation) -> None:
    port = free_port()
    process = start(installation, port)
    with urlopen(f"http://127.0.0.1:{port}/healthz") as answer:
        assert answer.status == 200
    wait_until(
        lambda: len(beats(installation)) == 6, "a sign of life of the clock and of five queues"
    )

    killed = workers_of(process, "work")
    os.kill(killed[0], signal.SIGKILL)
    wait_until(
        lambda: "work  | ended (killed by SIGKILL)" in installation.log("up"), "the restart is told"
    )
    wait_until(lambda: set(workers_of(process, "work")) - set(killed), "the worker is there again")

    members = family(process)
    assert len(members) >= 6
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=PATIENCE) == 0
    assert time.monotonic() - begun < (15 if IS_FULL else PATIENCE)
    assert [member for member in members if is_alive(member.pid)] == []
    assert installation.log("up").endswith("stopped\n")


def test_nothing_outlives_it_when_it_is_killed(installation: Installation) -> None:
    own_database(installation.var, "")
    process = start(installation, free_port())
    members = family(process)

    os.kill(process.pid, signal.SIGKILL)
    process.wait()

    wait_until(
        lambda: not any(is_alive(member.pid) for member in members), "everything it started is gone"
    )


def beats(installation: Installation) -> list[str]:
    return [name for (name,) in installation.query("SELECT name FROM core_heartbeat")]


class TestRefusals:
    def test_a_port_that_is_taken_is_named_with_a_way_out(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            with pytest.raises(
                CommandError, match=rf"port {port}: Address already in use.*--port {port + 1}"
            ):
                call_command("up", port=port)

    def test_a_host_that_does_not_exist_is_named(self) -> None:
        with pytest.raises(CommandError, match=r"cannot listen at no-such-host\.invalid"):
            call_command("up", host="no-such-host.invalid")

    def test_no_workers_at_all_are_refused(self) -> None:
        with pytest.raises(CommandError, match="--workers: at least 1"):
            call_command("up", workers=0)


class TestAddress:
    @pytest.mark.parametrize(
        ("host", "shown"),
        [
            ("127.0.0.1", "http://127.0.0.1:8000/"),
            ("0.0.0.0", "http://127.0.0.1:8000/"),
            ("::1", "http://[::1]:8000/"),
            ("::", "http://[::1]:8000/"),
        ],
    )
    def test_it_is_one_that_a_browser_takes(self, host: str, shown: str) -> None:
        assert up.address(host, 8000) == shown


def test_crawls_have_a_process_of_their_own() -> None:
    commands = {
        child.name: child.command for child in up.children(3, {"workers": 2, "demo": False})
    }

    assert commands["fetch"][-1] == "fetch"
    assert "--queues=learn,extract,check,keep" in commands["work"]
    assert "--queues=clock" in commands["clock"]
    assert list(commands) == ["web", "fetch", "work", "clock", "beat"]


def test_the_demo_is_loaded_once_and_its_sites_are_served() -> None:
    *_, sites, demo = up.children(3, {"workers": 2, "demo": True})

    assert (sites.command[-2:], sites.is_kept) == (["demo", "--serve"], False)
    assert (demo.command[-1], demo.is_kept) == ("demo", False)
