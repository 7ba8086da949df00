"""Measure how long people wait while 200 clients hang, with nginx as documented and without it."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.report import markdown_table
from tests.installation import new_installation, wait_until
from tests.servers import free_port

TITLE = "Slow clients"
N_SLOW: Final = 200
N_ASKED: Final = 30
PATIENCE: Final = 30  # seconds
STEP: Final = 0.2  # seconds between two requests of a person
OPERATIONS: Final = Path(__file__).resolve().parents[2] / "docs" / "operations.md"
HEAD: Final = b"POST /log-in/ HTTP/1.1\r\nHost: localhost\r\n"
FORM: Final = (
    HEAD + b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\n"
)
FILE: Final = (
    HEAD + b"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 10000000\r\n\r\n"
)
PAGE: Final = b"GET /static/core/css/vertex.css HTTP/1.1\r\nHost: localhost\r\n\r\n"
TLS: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
TLS.check_hostname = False
TLS.verify_mode = ssl.CERT_NONE  # the certificate is made by this run
BEGUN: Final[Mapping[str, bytes]] = {
    "say nothing": b"",
    "send half a head": HEAD[:-10],
    "send a form, a byte a second": FORM + b"username=",
    "send a file, a byte a second": FILE + b"--x\r\n",
    "ask 20 times at once and do not read": PAGE * 20,
}


def run(_data: Path | None) -> str:
    """Return the body of the page."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        port = stack.enter_context(gunicorn(Path(folder, "web")))
        doors = [Door("without nginx", port)]
        if shutil.which("nginx") and shutil.which("openssl"):
            behind = stack.enter_context(nginx(Path(folder, "nginx"), port))
            doors.append(Door("behind nginx", behind, has_tls=True))
        for door in doors:
            rows.append([f"{door.name}, nobody slow", *figures(waits_at(door))])
            for kind, begun in BEGUN.items():
                with slow_clients(door, begun):
                    rows.append([f"{door.name}, {N_SLOW} {kind}", *figures(waits_at(door))])
    table = markdown_table(["clients", "median", "longest", "not answered"], rows)
    return (
        "A gunicorn of two processes with four threads each. "
        f"A person asks {N_ASKED} times for the page"
        f" of the log-in while {N_SLOW} connections hang; seconds. nginx runs with the settings of"
        f" [operations](../operations.md#proxy), over TLS.\n\n{table}"
    )


@dataclass(frozen=True)
class Door:
    """Where one asks for pages."""

    name: str
    port: int
    has_tls: bool = False

    def connect(self) -> socket.socket:
        client = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        return TLS.wrap_socket(client, server_hostname="localhost") if self.has_tls else client


@contextmanager
def gunicorn(folder: Path) -> Iterator[int]:
    """Serve a new installation and yield its port."""
    port = free_port()
    with new_installation(folder) as installation:
        installation.more = {"VERTEX_BIND": f"127.0.0.1:{port}", "VERTEX_WEB_WORKERS": "2"}
        arguments = ["-m", "gunicorn", "--config=python:vertex.running.gunicorn"]
        installation.start(*arguments, "--no-control-socket", "vertex.wsgi", log="web")
        wait_until(lambda: _wait_at(Door("", port)) is not None, "an answer of gunicorn")
        yield port


@contextmanager
def nginx(folder: Path, gunicorn_port: int) -> Iterator[int]:
    """Run nginx as the documents say, with a certificate of its own, and yield its port."""
    folder.mkdir()
    port = free_port()
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subject = ["-subj", "/CN=localhost", "-days", "1", "-newkey", "rsa:2048", "-nodes"]
    subprocess.run(
        ["openssl", "req", "-x509", *subject, "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
    )
    documented = re.search(r"```nginx\n(.*?)```", OPERATIONS.read_text(), re.DOTALL)
    if documented is None:
        raise ValueError(f"{OPERATIONS} has no settings of nginx")
    server = documented[1].replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl")
    server = server.replace("vertex.example.org;", "localhost;", 1)
    server = server.replace("127.0.0.1:8000", f"127.0.0.1:{gunicorn_port}")
    server = re.sub(r"ssl_certificate [^;]+;", f"ssl_certificate {certificate};", server)
    server = re.sub(r"ssl_certificate_key [^;]+;", f"ssl_certificate_key {key};", server)
    settings = folder / "nginx.conf"
    settings.write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/errors;"
        f" events {{ worker_connections 768; }}\n"
        f"http {{ access_log off; client_body_temp_path {folder}/bodies;"
        f" proxy_temp_path {folder}/answers; fastcgi_temp_path {folder}/a; "
        f"uwsgi_temp_path {folder}/b;"
        f" scgi_temp_path {folder}/c;\n{server}\n}}\n"
    )
    process = subprocess.Popen(["nginx", "-c", str(settings)])
    try:
        door = Door("", port, has_tls=True)
        wait_until(lambda: _wait_at(door) is not None, "an answer of nginx")
        yield port
    finally:
        process.terminate()
        process.wait()


@contextmanager
def slow_clients(door: Door, begun: bytes) -> Iterator[None]:
    """Let clients begin something, and go on with it by a byte a second."""
    with ExitStack() as stack:
        clients = [stack.enter_context(door.connect()) for _ in range(N_SLOW)]
        for client in clients:
            client.settimeout(1)
            with suppress(OSError):
                client.sendall(begun)
        is_over = threading.Event()
        trickle = threading.Thread(
            target=_send_bytes, args=(clients if begun else [], is_over), daemon=True
        )
        trickle.start()
        yield
        is_over.set()
        trickle.join()


def waits_at(door: Door, n_asked: int = N_ASKED) -> list[float | None]:
    """Return how long a person waits for each of many pages; None where none came."""
    waits = []
    for _ in range(n_asked):
        waits.append(_wait_at(door))
        time.sleep(STEP)
    return waits


def _wait_at(door: Door) -> float | None:
    """Ask for the page of the log-in over a new connection."""
    began = time.monotonic()
    try:
        with door.connect() as client:
            client.sendall(b"GET /log-in/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            answer = b"".join(iter(lambda: client.recv(65536), b""))
    except OSError:
        return None
    return time.monotonic() - began if answer.startswith(b"HTTP/1.1 200") else None


def _send_bytes(clients: Sequence[socket.socket], is_over: threading.Event) -> None:
    while not is_over.wait(1):
        for client in clients:
            with suppress(OSError):  # the server has had enough of it
                client.send(b"x")


def figures(waits: Sequence[float | None]) -> list[str]:
    """Return the median and the longest of the waits, and how many had no answer."""
    answered = sorted(wait for wait in waits if wait is not None)
    if not answered:
        return ["–", "–", str(len(waits))]
    median = answered[len(answered) // 2]
    return [f"{median:.3f}", f"{answered[-1]:.3f}", str(len(waits) - len(answered))]
