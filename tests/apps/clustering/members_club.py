"""A host for members: its pages are shown to those who logged in by its form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import parse_qs

from tests.apps.clustering.fake_host import Answer, Asked, FakeHost, moved, page

PASSWORD = "correct horse battery"
HTML = {"Content-Type": "text/html"}
FORM = Answer(
    b"<form action='/enter' method=post><input type=hidden name=token value=t1><input name=user>"
    b"<input type=password name=password><button name=go value=in>Log in</button></form>",
    headers=HTML,
)


class Club(FakeHost):
    """A host whose pages are for members: those whose session it knows."""

    def __init__(self, *paths: str) -> None:
        super().__init__({"/login": FORM, "/enter": self.enter})
        self.sessions: set[str] = set()
        self.n_logins = 0
        self.stays_open_for = 10_000  # pages of a session
        self.closes_for_good = False
        links = [f"/{path}" for path in paths]
        self.routes["/"] = self.for_members(page(*links, "/logout", text="Welcome. Log out"))
        for path in paths:
            self.routes[f"/{path}"] = self.for_members(page("/", text=f"{path} Log out"))

    def enter(self, request: Asked) -> Answer:
        entered = parse_qs(request.body.decode())
        right = {"token": ["t1"], "user": ["ada"], "password": [PASSWORD], "go": ["in"]}
        if entered != right or self.closes_for_good:
            return Answer(b"<p>Wrong. Log in</p>", headers=HTML)
        self.n_logins += 1
        number = str(self.n_logins)
        self.sessions = {number}
        self.n_left = self.stays_open_for
        answer = moved("/")
        return Answer(
            status=302, headers={**answer.headers, "Set-Cookie": f"session={number}; Path=/"}
        )

    def for_members(self, inside: Answer) -> Callable[[Asked], Answer]:
        def reply(request: Asked) -> Answer:
            is_known = request.headers.get("Cookie", "").removeprefix("session=") in self.sessions
            if is_known and self.n_left > 0:
                self.n_left -= 1
                return inside
            return page("/login", text="Members only. Log in")

        return reply


LOG_IN: Final[dict[str, Any]] = {
    "log_in_fields": {"user": "ada", "password": PASSWORD},
    "log_in_sign": "Log out",
}
