"""The child process that talks to mail servers and services: whatever they answer, it ends.

It reads no pages and knows no Django. The libraries count their time for each read and keep what is
answered: a server that drips, or that never ends, would hold the worker that sends.
"""

from __future__ import annotations

import smtplib
import ssl
import sys
from typing import Any, Final

import apprise

from clustering.services.children.child import serve

SECONDS_OF_READ: Final = 20


def send_mail(message: bytes, server: dict[str, Any], sender: str, recipients: list[str]) -> None:
    """Hand a message to a mail server. Raises whatever the library raises."""
    context = ssl.create_default_context()
    where = (server["host"], server["port"])
    connection = (
        smtplib.SMTP_SSL(*where, timeout=SECONDS_OF_READ, context=context)
        if server["use_ssl"]
        else smtplib.SMTP(*where, timeout=SECONDS_OF_READ)
    )
    if server["use_tls"]:
        connection.starttls(context=context)
    if server["user"] and server["password"]:
        connection.login(server["user"], server["password"])
    connection.sendmail(sender, recipients, message)
    connection.putcmd("quit")  # the mail is taken, whatever the server answers to that
    connection.close()


def notify_service(target: str, title: str, text: str) -> bool:
    """Return whether the service at an address, which was checked, took a message."""
    service = apprise.Apprise.instantiate(target)
    if not isinstance(service, apprise.NotifyBase):
        return False
    return bool(apprise.Apprise(service).notify(title=title, body=text))


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]), sys.stdout.buffer)
