"""Requests that read pages are answered in page processes: none of those takes others with it."""

from __future__ import annotations

import fcntl
import json
import shutil
import signal
import sqlite3
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import psutil
import pytest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import Client
from django.urls import path
from pytest_django import Settings

from clustering.dom.page import NotReadHere, parse_page
from clustering.models import Snapshot
from clustering.services.children.limits import ChildrenBusy
from tests.apps.clustering.api_cast import page_of, site_of
from tests.installation import Installation, new_installation, wait_until
from tests.servers import free_port
from vertex.core.views.page_reading import reads_pages
from vertex.running import page_answers, page_requests
from vertex.running.page_answers import answer_request
from vertex.running.page_requests import (
    WALL_SECONDS,
    ReadingStopped,
    health_request,
    mark_those_too_heavy,
)

PAGE = "<html><body><h1>Lamp</h1><p>12 EUR</p></body></html>"
HEAVY_URL = "https://shop.example/heavy.html"
TEXTS = "SELECT text FROM annotation_comment"
TOO_HEAVY = """SELECT DISTINCT page.url FROM clustering_snapshot AS snapshot
    JOIN clustering_page AS page ON page.id = snapshot.page_id
    WHERE snapshot.problem = 'too_heavy'"""
HEAVY = "<html><body>" + "<p>1<i>2</i>" * 800_000 + "</body></html>"


class Web:
    """A web server of one process, and what is asked of it."""

    def __init__(self, installation: Installation, port: int, token: str, session: str) -> None:
        self.installation, self._port = installation, port
        self._token, self._session = token, session

    def comment(
        self, page: str, text: str, xpath: str = "/html/body/*[1]"
    ) -> tuple[int, dict[str, Any]]:
        """Comment on a node of a page by the API; the page must be read for that."""
        body = {"url": f"https://shop.example/{page}.html", "text": text, "xpath": xpath}
        return self._ask("/api/v1/sites/shop/comments/", body)

    def annotate(self, page: str) -> tuple[int, str]:
        """Open a page to be annotated, as an editor who is logged in."""
        url = f"https://shop.example/{page}.html"
        ((pk,),) = self.installation.query(f"SELECT id FROM clustering_page WHERE url = '{url}'")
        request = Request(
            f"http://127.0.0.1:{self._port}/sites/shop/pages/{pk}/annotate/",
            headers={"Cookie": f"sessionid={self._session}"},
        )
        try:
            with urlopen(request, timeout=180) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as error:
            return error.code, error.read().decode()

    def is_alive(self, within: float = 60) -> bool:
        try:
            with urlopen(f"http://127.0.0.1:{self._port}/healthz", timeout=within) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def page_processes(self) -> list[psutil.Process]:
        gunicorn = psutil.Process(self.installation.processes[0].pid)
        return [
            process
            for process in gunicorn.children(recursive=True)
            if "vertex.running.page_process" in process.cmdline()
        ]

    def _ask(self, address: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        request = Request(
            f"http://127.0.0.1:{self._port}{address}",
            json.dumps(body).encode(),
            {"Authorization": f"Token {self._token}", "Content-Type": "application/json"},
        )
        try:
            with urlopen(request, timeout=180) as answer:
                return answer.status, json.load(answer)
        except HTTPError as error:
            return error.code, json.load(error)


def n_bytes_waiting(process: psutil.Process) -> int:
    """Return how many bytes of a request a stopped process has not read yet."""
    with Path(f"/proc/{process.pid}/fd/0").open("rb", buffering=0) as pipe:
        answer = fcntl.ioctl(pipe, termios.FIONREAD, bytes(4))
    return int.from_bytes(answer, sys.byteorder)


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    port = free_port()
    with new_installation(tmp_path_factory.mktemp("web")) as installation:
        installation.more = {
            "VERTEX_BIND": f"127.0.0.1:{port}",
            "VERTEX_WEB_WORKERS": "1",
            "VERTEX_PAGE_PROCESSES": "1",
        }
        folder = installation.var / "source"
        folder.mkdir()
        for name, html in (("lamp", PAGE), ("heavy", HEAVY)):
            (folder / f"{name}.html").write_text(html)
        installation.manage("add_site", "shop", "--url", "https://shop.example/")
        installation.manage("import_pages", "shop", str(folder))
        installation.manage("create_user", "eddy", "--role", "editor")
        with closing(sqlite3.connect(installation.var / "vertex.sqlite3")) as database, database:
            database.execute("UPDATE core_user SET must_change_password = 0")
        token = installation.manage("create_token", "eddy", "--scope", "verticals:write")
        session = installation.new_session("eddy")
        arguments = ["-m", "gunicorn", "--config=python:vertex.running.gunicorn", "--threads=4"]
        installation.start(*arguments, "--no-control-socket", "vertex.wsgi", log="web")
        server = Web(installation, port, token, session)
        wait_until(server.is_alive, "an answer")
        wait_until(server.page_processes, "a page process")
        assert 201 == server.comment("lamp", "after what it is warmed by")[0]
        yield server


def test_a_page_is_read_in_a_page_process(web: Web) -> None:
    (process,) = web.page_processes()
    status, answer = web.comment("lamp", "a lamp")

    assert 201 == status, answer
    assert "/html/body/h1" == answer["xpath"]
    assert [process] == web.page_processes(), "it is kept for the next request"


def test_a_page_process_that_dies_takes_no_other_request_with_it(web: Web) -> None:
    (process,) = web.page_processes()
    counts = set((web.installation.var / "metrics").iterdir())
    process.send_signal(signal.SIGSTOP)
    answers: list[tuple[int, dict[str, Any]]] = []
    waits = threading.Thread(target=lambda: answers.append(web.comment("lamp", "lost")))
    waits.start()
    wait_until(lambda: n_bytes_waiting(process), "a request that waits for the process")

    assert web.is_alive(within=WALL_SECONDS / 2), "it does not wait for that process"
    process.kill()
    waits.join()
    ((status, answer),) = answers
    assert 503 == status
    assert "may have been saved" in str(answer), "nobody knows whether it had committed"
    assert 201 == web.comment("lamp", "the next one")[0]
    assert counts == set((web.installation.var / "metrics").iterdir()), "its counts go on"
    assert "lost" not in [text for (text,) in web.installation.query(TEXTS)]
    assert web.installation.query(TOO_HEAVY) == [], "a page that is read in no time is not to blame"


def test_a_page_that_goes_too_far_is_marked_and_left_out(web: Web) -> None:
    status, page = web.annotate("heavy")

    assert 503 == status
    assert "left out from now on" in page
    assert "nothing was changed" in page, "it was looked at"
    assert [(HEAVY_URL,)] == web.installation.query(TOO_HEAVY)
    status, page = web.annotate("heavy")
    assert 200 == status
    assert "too heavy" in page
    assert 201 == web.comment("lamp", "still there")[0]


def read_unflagged(_request: HttpRequest) -> HttpResponse:
    return HttpResponse(str(parse_page(b"<p>x").tree is not None))


@reads_pages
def read_flagged(request: HttpRequest) -> HttpResponse:
    return read_unflagged(request)


def read_while_sent(request: HttpRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse(read_unflagged(request).content for _ in range(2))


@reads_pages
def read_flagged_while_sent(request: HttpRequest) -> StreamingHttpResponse:
    return read_while_sent(request)


def be_stopped(request: HttpRequest) -> HttpResponse:
    raise ReadingStopped("this was stopped", may_be_saved=request.method == "POST")


def be_confused(_request: HttpRequest) -> HttpResponse:
    raise TypeError("'frame' object is not callable")


handler500 = "vertex.views.failures.server_error"
urlpatterns = [
    path("stopped/", be_stopped),
    path("confused/", be_confused),
    path("unflagged/", read_unflagged),
    path("flagged/", read_flagged),
    path("streamed/", read_while_sent),
    path("streamed/flagged/", read_flagged_while_sent),
]


@pytest.mark.urls("tests.apps.vertex.running.test_page_requests")
@pytest.mark.django_db
def test_a_view_that_is_not_flagged_reads_no_page() -> None:
    with pytest.raises(NotReadHere, match="/unflagged/"):
        Client().get("/unflagged/")

    assert b"True" == Client().get("/flagged/").content, "the control"
    with pytest.raises(NotReadHere, match="/streamed/"):
        b"".join(Client().get("/streamed/").streaming_content)  # type: ignore[attr-defined]  # it has

    streamed = Client().get("/streamed/flagged/")
    assert b"TrueTrue" == b"".join(streamed.streaming_content)  # type: ignore[attr-defined]  # it has
    assert parse_page(b"<p>x").tree is not None, "outside of requests nothing is refused"


@pytest.mark.urls("tests.apps.vertex.running.test_page_requests")
@pytest.mark.django_db
def test_a_change_that_was_stopped_is_not_called_undone() -> None:
    client = Client(raise_request_exception=False)
    looked, changed = client.get("/stopped/"), client.post("/stopped/")

    assert [503, 503] == [looked.status_code, changed.status_code]
    assert b"nothing was changed: this was stopped." in looked.content
    assert b"This was stopped. It may have been saved" in changed.content


def test_changes_of_clusters_leave_a_process_to_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_requests, "PATIENCE_FOR_PROCESS", 0.05)
    monkeypatch.setattr(page_requests, "PageProcess", str)  # none is needed here
    processes = page_requests.PageProcesses(2)

    with processes.lent("shop", is_long=True):
        with pytest.raises(ChildrenBusy), processes.lent("other", is_long=True):
            pass
        with processes.lent("shop"), pytest.raises(ChildrenBusy), processes.lent("shop"):
            pass
    with processes.lent("other", is_long=True), processes.lent("other") as second:
        assert str(second) in {"0", "1"}


@pytest.mark.django_db(transaction=True)
def test_where_the_store_is_away_no_page_is_called_too_heavy(settings: Settings) -> None:
    page_of(site_of())
    body = Snapshot.objects.get().body
    shutil.rmtree(settings.PAGE_STORE_DIR)

    assert 0 == mark_those_too_heavy([body])
    assert not Snapshot.objects.exclude(problem="").exists()


@pytest.mark.urls("tests.apps.vertex.running.test_page_requests")
@pytest.mark.django_db
def test_an_error_where_memory_was_short_is_no_fault_of_the_view(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fields = health_request() | {"PATH_INFO": "/confused/"}

    assert b"500 Internal Server Error" in answer_request(fields, b"")
    monkeypatch.setattr(page_answers, "was_short_of_memory", lambda: True)
    with pytest.raises(MemoryError):
        answer_request(fields, b"")
