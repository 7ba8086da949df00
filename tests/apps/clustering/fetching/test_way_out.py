"""A program connects to what the guard has checked and to known services, and to nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from pytest_django import Settings

from tests.apps.clustering.fake_host import FakeHost, canary, page
from vertex.running.known_services import is_known_service, known_services

# Each way to reach a port of this machine without the guard.
WAYS_PAST = """
import http.client, smtplib, urllib.request
ways = {
    "socket": lambda: socket.create_connection(("127.0.0.1", port), 5).close(),
    "connect_ex": lambda: socket.socket().connect_ex(("127.0.0.1", port)),
    "ipv6": lambda: socket.socket(socket.AF_INET6).connect(("::ffff:127.0.0.1", port)),
    "name": lambda: socket.create_connection(("localhost", port), 5).close(),
    "urllib": lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/").read(),
    "http": lambda: http.client.HTTPConnection("127.0.0.1", port).request("GET", "/"),
    "mail": lambda: smtplib.SMTP("127.0.0.1", port, timeout=5),
    "datagram": lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port)),
    "asyncio": lambda: asyncio.run(asyncio.open_connection("127.0.0.1", port)),
    "thread": lambda: thread(lambda: socket.create_connection(("127.0.0.1", port), 5)),
}
"""
PROGRAM = """
import asyncio, socket, sys, threading
port, served, is_watched = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "watched"
from clustering.fetching import way_out
from clustering.fetching.client import Client, Fetcher
from clustering.fetching.guard import Guard, networks

def thread(work):
    errors = []
    def run():
        try:
            work()
        except OSError as error:
            errors.append(error)
    one = threading.Thread(target=run)
    one.start()
    one.join()
    if errors:
        raise errors[0]

if is_watched:
    way_out.refuse_other_connections(lambda host, p: (host, p) == ("127.0.0.1", served))
{ways}
refused = []
for name, way in ways.items():
    try:
        way()
    except OSError as error:
        if isinstance(getattr(error, "reason", error), way_out.ConnectionPastGuard):
            refused.append(name)
print("refused", *refused)
socket.create_connection(("127.0.0.1", served), 5).close()
fetcher = Fetcher(Client("V", Guard(networks(["127.0.0.0/8"]))))
print("fetched", fetcher.fetch(f"http://127.0.0.1:{{served}}/").status)
with way_out.sending_to_service():
    socket.create_connection(("127.0.0.1", port), 5).close()
print("sent")
"""
ALL_WAYS = "socket connect_ex ipv6 name urllib http mail datagram asyncio thread"


def run_program(port: int, served: int, how: str) -> list[str]:
    code = PROGRAM.replace("{ways}", WAYS_PAST).replace("{{", "{").replace("}}", "}")
    ran = subprocess.run(
        [sys.executable, "-c", code, str(port), str(served), how],
        cwd=django_settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return ran.stdout.splitlines()


def test_what_goes_past_the_guard_is_refused_and_known_services_work() -> None:
    with canary("127.0.0.1") as bird, FakeHost({"/": page()}) as host:
        output = run_program(bird.port, host.server_port, "watched")
        n_hits = bird.n_connections

    assert output == [f"refused {ALL_WAYS}", "fetched 200", "sent"]
    assert n_hits == 1, "the one that sends what an operator's service is told"


def test_without_it_the_same_ways_arrive() -> None:
    with canary("127.0.0.1") as bird, FakeHost({"/": page()}) as host:
        output = run_program(bird.port, host.server_port, "free")
        n_hits = bird.n_connections

    assert output == ["refused", "fetched 200", "sent"]
    assert n_hits >= len(ALL_WAYS.split()) - 1, "all but the datagram"


@pytest.mark.parametrize(
    "program",
    ["manage.py", "vertex/__main__.py", "vertex/wsgi.py", "vertex/celery.py"],
)
def test_each_program_that_reads_pages_is_watched(program: str) -> None:
    text = (Path(django_settings.BASE_DIR) / program).read_text()
    assert "connect_to_known_services_only()" in text


def test_the_services_of_the_settings_are_known(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CELERY_BROKER_URL = "amqp://user:password@localhost//;redis://127.0.0.9:6380/0"
    settings.CACHE_URL = "redis://127.0.0.8"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.7", 587
    monkeypatch.setitem(settings.DATABASES["default"], "HOST", "127.0.0.6")
    monkeypatch.setitem(settings.DATABASES["default"], "PORT", "5433")

    assert list(known_services()) == [
        ("127.0.0.6", 5433),
        ("localhost", 5672),
        ("127.0.0.9", 6380),
        ("127.0.0.8", 6379),
        ("127.0.0.7", 587),
    ]
    assert is_known_service("127.0.0.1", 5672)
    assert is_known_service("127.0.0.9", 6380)
    assert not is_known_service("127.0.0.9", 6379)
    assert not is_known_service("127.0.0.1", 80)


def test_an_installation_of_files_knows_no_service(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CELERY_BROKER_URL, settings.CACHE_URL, settings.EMAIL_HOST = "filesystem://", "", ""
    monkeypatch.setitem(settings.DATABASES["default"], "HOST", "")

    assert list(known_services()) == []
