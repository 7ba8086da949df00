"""Run everything that an installation on one machine needs, under one process."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from clustering.fetching.way_out import sending_to_service
from vertex import environment
from vertex.celery import CLOCK_QUEUE, WORK_QUEUES
from vertex.demo.serving import ports as demo_ports
from vertex.demo.sites.server import LOOPBACK
from vertex.running.health import own_name
from vertex.running.supervision import Child, ChildFailed, Supervisor

THREADS = 8
BACKLOG = 512
# The system checks run once, for this command.
ENVIRON = {"PYTHONUNBUFFERED": "1", "CELERY_SKIP_CHECKS": "1"}


class Command(BaseCommand):
    help = (
        "Run the web server, the workers and their clock until Ctrl-C. "
        "Pages are fetched by a process of their own, which crawls many sites side by side."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--host", default="127.0.0.1", help="address to listen at (default: %(default)s)"
        )
        parser.add_argument(
            "--port", type=int, default=8000, help="port to listen at (default: %(default)s)"
        )
        parser.add_argument(
            "--workers",
            type=int,
            default=2,
            metavar="N",
            help="jobs done at a time, beside those that fetch (default: %(default)s)",
        )
        parser.add_argument(
            "--demo", action="store_true", help="load the demo, and serve its sites as well"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["workers"] < 1:
            raise CommandError("--workers: at least 1")
        with listen(options["host"], options["port"]) as listener:
            prepare()
            environ = ENVIRON | (demo_environ() if options["demo"] else {})
            supervisor = Supervisor(children(listener.fileno(), options), self.tell, environ)
            for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(name, lambda *_: supervisor.stop())
            threading.Thread(target=self.announce, args=(listener, supervisor), daemon=True).start()
            try:
                supervisor.run()
            except ChildFailed as failure:
                raise CommandError(str(failure)) from None
        self.tell("stopped")

    def tell(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()

    def announce(self, listener: socket.socket, supervisor: Supervisor) -> None:
        """Print the address when the web server answers, and again below what the demo told."""
        host, port = listener.getsockname()[:2]
        message = f"Vertex answers at {address(host, port)} (stop with Ctrl-C)"
        demo = [child for child in supervisor.children if child.name == "demo"]
        if wait_until(supervisor, lambda: answers(listener.family, host, port)):
            self.tell(message)
        if demo and wait_until(supervisor, lambda: demo[0].has_ended):
            self.tell(message)


def wait_until(supervisor: Supervisor, is_so: Callable[[], bool]) -> bool:
    """Wait until it is so; return False if the supervisor stops before."""
    while not supervisor.is_stopping.wait(0.3):
        if is_so():
            return True
    return False


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that the web server takes over: connections wait while it starts again."""
    try:
        family, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(place, family=family, backlog=BACKLOG)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        way_out = f"Stop what listens there or choose another port: manage.py up --port {port + 1}"
        raise CommandError(f"cannot listen at {host}, port {port}: {why}. {way_out}") from None


def prepare() -> None:
    """Make the folders and bring the database up to date."""
    folders = [settings.VAR_DIR, settings.PAGE_STORE_DIR, settings.UPLOAD_DIR, settings.EXPORT_DIR]
    try:
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            call_command("migrate", interactive=False, verbosity=0)
    except OSError as error:
        raise CommandError(
            f"{error.filename}: {error.strerror}; VERTEX_VAR names the folder"
        ) from None
    except DatabaseError as error:
        raise CommandError(f"the database cannot be used: {error}") from None
    finally:
        connection.close()
    if settings.PRODUCTION:
        call_command("collectstatic", interactive=False, verbosity=0)


def children(listener: int, options: dict[str, Any]) -> list[Child]:
    """Return an installation's processes: a web server, one that fetches, workers, the clock."""
    celery = [sys.executable, "-m", "celery", "--quiet", "--app", "vertex"]
    worker = [*celery, "worker", "--without-gossip", "--without-mingle"]
    size = f"--concurrency={options['workers']}"
    manage = [sys.executable, "-m", "vertex"]
    if settings.IS_CHECKOUT:  # which may be no folder that modules are looked for in
        manage = [sys.executable, str(settings.BASE_DIR / "manage.py")]
    processes = [
        Child("web", web_server(listener), pass_fds=[listener]),
        Child("fetch", [*manage, "fetch"]),
        Child("work", [*worker, "--hostname=work@%h", f"--queues={','.join(WORK_QUEUES)}", size]),
        Child("clock", [*worker, "--hostname=clock@%h", f"--queues={CLOCK_QUEUE}", "--pool=solo"]),
        Child("beat", [*celery, "beat"]),
    ]
    if options["demo"]:
        demo = [*manage, "demo"]
        processes += [
            Child("sites", [*demo, "--serve"], is_kept=False),
            Child("demo", demo, is_kept=False),
        ]
    return processes


def demo_environ() -> dict[str, str]:
    """Return what lets this installation fetch the demo's sites, and nothing else of this machine.

    Networks that are allowed already stay as they are.
    """
    if settings.ALLOWED_NETWORKS or settings.PRODUCTION:
        return {}
    ports = sorted(demo_ports().values())
    return {
        "VERTEX_ALLOWED_NETWORKS": f"{LOOPBACK}/32",
        "VERTEX_ALLOWED_PORTS": f"{ports[0]}-{ports[-1]}",
    }


def web_server(listener: int) -> list[str]:
    n_processes = environment.integer("VERTEX_WEB_WORKERS", default=1, minimum=1)
    return [
        sys.executable,
        "-m",
        "gunicorn",
        "--config=python:vertex.running.gunicorn",
        "--no-control-socket",
        f"--bind=fd://{listener}",
        f"--workers={n_processes}",
        f"--threads={THREADS}",
        "--graceful-timeout=3",
        "--log-level=warning",
        "vertex.wsgi",
    ]


def address(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104 - shown
    return f"http://{shown}:{port}/"


def answers(family: int, host: str, port: int) -> bool:
    """Ask the web server whether it is up, by a name that it answers to."""
    request = f"GET /healthz HTTP/1.1\r\nHost: {own_name()}\r\nConnection: close\r\n\r\n"
    any_address = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared
    try:
        with socket.socket(family, socket.SOCK_STREAM) as web:
            web.settimeout(5)
            with sending_to_service():
                web.connect((any_address.get(host, host), port))
            web.sendall(request.encode())
            return b" 200 " in web.recv(100).partition(b"\r\n")[0]
    except OSError:
        return False
