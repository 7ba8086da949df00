"""Mail goes out by a child process: whatever a mail server answers, sending comes to its end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

import pytest
from django.conf import LazySettings
from django.utils import timezone

from clustering.fetching.client import Client, Fetcher
from clustering.fetching.guard import Guard
from clustering.services.outbox import Arrival, DeliveryFailure
from monitoring.models import Channel
from monitoring.services.notices import sending
from monitoring.services.notices.messages import Message, send_message
from tests.apps.clustering.fake_host import Answer, FakeHost
from tests.apps.monitoring.notices.test_notices import notice_of

Talk = Callable[["MailServer", Any], None]


class MailServer(ThreadingTCPServer):
    """A mail server that talks as a test wants it."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.talk: Talk = take_mail
        self.taken: list[bytes] = []
        self.is_over = threading.Event()


class _Connection(StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        with suppress(OSError):  # who sent is gone
            self.server.talk(self.server, self)


def take_mail(server: MailServer, connection: Any) -> None:
    connection.wfile.write(b"220 here\r\n")
    for line in connection.rfile:
        word = line[:4].upper()
        if word == b"DATA":
            connection.wfile.write(b"354 go on\r\n")
            server.taken.append(b"".join(iter(connection.rfile.readline, b".\r\n")))
        connection.wfile.write(b"250 yes\r\n")


def greet_for_ever(server: MailServer, connection: Any) -> None:
    while not server.is_over.is_set():
        connection.wfile.write(b"220-welcome\r\n" * 1000)


def drip(server: MailServer, connection: Any) -> None:
    while not server.is_over.wait(0.05):
        connection.wfile.write(b"2")


def ask_oddly(_server: MailServer, connection: Any) -> None:
    connection.wfile.write(b"220 here\r\n")
    for line in connection.rfile:
        is_greeting = line.upper().startswith(b"EHLO")
        connection.wfile.write(b"250 AUTH CRAM-MD5\r\n" if is_greeting else b"334 no base64!\r\n")


@pytest.fixture
def mail_server(settings: LazySettings) -> Iterator[MailServer]:
    settings.EMAIL_BACKEND = "monitoring.services.notices.sending.MailByChild"
    with MailServer() as server:
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.server_address[1]
        settings.EMAIL_USE_SSL = settings.EMAIL_USE_TLS = False
        settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "ada", "secret"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.is_over.set()
        server.shutdown()


def send(kind: Channel.Kind, target: str) -> Arrival | DeliveryFailure:
    channel = Channel(kind=kind, target=target)
    message = Message("1", [notice_of(channel)], timezone.now())
    return send_message(channel, message, Fetcher(Client("Vertex", Guard())))


def test_a_mail_arrives(mail_server: MailServer, settings: LazySettings) -> None:
    settings.EMAIL_HOST_USER = ""

    assert isinstance(send(Channel.Kind.EMAIL, "ada@people.example"), Arrival)
    (taken,) = mail_server.taken
    assert b"To: ada@people.example" in taken


@pytest.mark.parametrize("talk", [greet_for_ever, drip])
def test_a_mail_server_without_an_end_is_given_up(
    mail_server: MailServer, monkeypatch: pytest.MonkeyPatch, talk: Talk
) -> None:
    monkeypatch.setattr(sending, "WALL_SECONDS", 1.5)
    mail_server.talk = talk

    failed = send(Channel.Kind.EMAIL, "ada@people.example")

    assert isinstance(failed, DeliveryFailure)
    assert not failed.is_hopeless


def test_an_odd_answer_is_a_failure_and_tells_no_password(mail_server: MailServer) -> None:
    mail_server.talk = ask_oddly

    failed = send(Channel.Kind.EMAIL, "ada@people.example")

    assert isinstance(failed, DeliveryFailure)
    assert "secret" not in failed.error


def test_a_service_without_an_end_is_given_up(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "WALL_SECONDS", 1.5)

    def drip_body(connection: Any) -> None:
        connection.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not host.is_over.wait(0.05):
            connection.wfile.write(b"x")

    with FakeHost({"/x": Answer(raw=drip_body)}) as host:
        settings.APPRISE_SERVICES = [f"json://127.0.0.1:{host.server_port}"]
        failed = send(Channel.Kind.APPRISE, f"json://127.0.0.1:{host.server_port}/x")
        host.is_over.set()

    assert isinstance(failed, DeliveryFailure)
    assert "it was not sent within" in failed.error
