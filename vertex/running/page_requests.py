"""Requests whose views read strangers' pages are answered in limited processes, others here.

A page process is the application once more (`page_process`). It answers whole requests one by one,
with its own connection to the database, and keeps the sample pages of clusters that are being
annotated. A page that goes too far ends it and none of the web server's threads: its transaction is
rolled back, the pages that it had read are weighed one by one, and one that ends two children by
itself is marked as too heavy.

That no other view reads a page is seen to by `RefusePages`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from typing import IO, Any, Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment
from zlib import crc32

import structlog
from django.core.exceptions import RequestDataTooBig
from django.core.handlers.wsgi import get_path_info
from django.db import DatabaseError, connection
from django.http import FileResponse, HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import Resolver404, ResolverMatch, resolve

from clustering.dom.page import why_no_page_is_read
from clustering.services.children.limits import (
    ROOT,
    CallFailed,
    CallStopped,
    ChildrenBusy,
    LimitedChild,
    separated,
)
from rules.services.learning.heavy_pages import mark_heavy
from vertex import environment
from vertex.core.exceptions import TooBusy
from vertex.core.storage import StoreAway
from vertex.core.views.page_reading import is_reading, is_waiting_for_others, keeps_threads
from vertex.running.health import own_name
from vertex.running.metrics import COUNTS_OF
from vertex.running.page_answers import Head, answer_request
from vertex.running.patient_worker import MAX_BODY

CPU_SECONDS: Final = 10  # of one request, which may read all samples of a cluster
WALL_SECONDS: Final = 60.0
MEMORY: Final = 1280 * 1024**2  # of addresses, of which a fifth are programs
PATIENCE_FOR_PROCESS: Final = 10.0  # seconds of waiting for a free process
STOPPED: Final = "vertex.stopped"  # in a request: why no page process answered it

GetResponse = Callable[[HttpRequest], HttpResponseBase]

log = structlog.get_logger(__name__)


class ReadingStopped(TooBusy):
    """A page process came to its limits in the middle of a request.

    Whether it had committed what was to be changed is not known.
    """

    def __init__(self, why: str, *, may_be_saved: bool) -> None:
        self.may_be_saved = may_be_saved
        look = (
            ". It may have been saved all the same: load the page anew to see"
            if may_be_saved
            else ""
        )
        super().__init__(why + look)


class PageProcess(LimitedChild):
    """A process that answers requests, and writes down which pages it reads."""

    def __init__(self, number: int) -> None:
        super().__init__(cpu_seconds=CPU_SECONDS, wall_seconds=WALL_SECONDS, memory=MEMORY)
        self._counts_of = f"{os.getpid()}-{number}"  # its successors add theirs
        self._notes: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process

    def bodies_read(self) -> list[str]:
        """Return the names of the bodies that the process read since its start, the last first."""
        self._notes.seek(0)
        names = self._notes.read().decode("ascii", "replace").split()
        return list(dict.fromkeys(reversed(names)))

    def _start_process(self) -> subprocess.Popen[bytes]:
        self._notes.seek(0)
        self._notes.truncate()
        notes = self._notes.fileno()
        module = "vertex.running.page_process"
        return subprocess.Popen(  # noqa: S603 - nothing that anyone typed is among the arguments
            [sys.executable, "-m", module, *map(str, self.limits), str(notes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[notes],
            cwd=ROOT,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", COUNTS_OF: self._counts_of},
        )


class PageProcesses:
    """The page processes of a web process; a free one serves the same site again and again."""

    def __init__(self, n_processes: int) -> None:
        self._all = [PageProcess(number) for number in range(n_processes)]
        self._free = list(self._all)
        self._changed = threading.Condition()
        self._n_long = 0  # of those that are lent

    @contextmanager
    def lent(self, key: str, *, is_long: bool = False) -> Iterator[PageProcess]:
        """Lend a process while the context lasts. Raises ChildrenBusy.

        What may take long, such as a change of large clusters, has all of them but one.
        """
        most_long = max(1, len(self._all) - 1)

        def is_any_free() -> bool:
            return bool(self._free) and not (is_long and self._n_long >= most_long)

        with self._changed:
            if not self._changed.wait_for(is_any_free, timeout=PATIENCE_FOR_PROCESS):
                raise ChildrenBusy
            self._n_long += is_long
            favourite = self._all[crc32(key.encode()) % len(self._all)]
            process = favourite if favourite in self._free else self._free[0]
            self._free.remove(process)
        try:
            yield process
        finally:
            with self._changed:
                self._n_long -= is_long
                self._free.append(process)
                self._changed.notify_all()

    def start(self) -> None:
        """Start the processes ahead of need; each loads the application, which takes seconds."""
        fields = health_request()
        for process in self._all:
            with suppress(CallFailed, CallStopped, ChildrenBusy):
                process.call(answer_request, fields, b"")

    def close(self) -> None:
        """End the processes."""
        for process in self._all:
            process.close()


def health_request() -> dict[str, str]:
    """Return the fields of a request that the application answers, whatever it is reached as."""
    return {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": "/healthz",
        "SERVER_NAME": own_name(),
        "SERVER_PORT": "80",
        "wsgi.url_scheme": "http",
    }


class PageRequests:
    """The application of a web process: what reads pages is handed to page processes."""

    def __init__(self, application: WSGIApplication) -> None:
        self._application = application
        self._processes = PageProcesses(
            environment.integer("VERTEX_PAGE_PROCESSES", default=2, minimum=1)
        )
        self._weighing = threading.Lock()

    def start(self) -> None:
        """Start the page processes in the background."""
        threading.Thread(target=self._processes.start, daemon=True).start()

    def close(self) -> None:
        """End the page processes."""
        self._processes.close()

    def keeps_threads(self, path: str) -> bool:
        """Return whether a thread waits for long while the view of a path is answered."""
        try:
            return keeps_threads(resolve(path).func)
        except Resolver404:
            return False

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        match = _match_of(environ)
        if match is None or not is_reading(match.func):
            return self._application(environ, start_response)
        n_bytes = _length_of(environ)
        if n_bytes > MAX_BODY:
            environ[STOPPED] = RequestDataTooBig(f"at most {MAX_BODY:,} bytes are taken here")
            return self._application(environ, start_response)
        body = environ["wsgi.input"].read(n_bytes)
        fields = {name: value for name, value in environ.items() if isinstance(value, str)}
        try:
            (status, headers), answer = self._answer(match, fields, body)
        except (TooBusy, CallFailed) as error:
            environ["wsgi.input"] = BytesIO(body)
            environ[STOPPED] = error
            return self._application(environ, start_response)
        start_response(status, [(name, value) for name, value in headers])
        return [answer]

    def _answer(
        self, match: ResolverMatch, fields: dict[str, str], body: bytes
    ) -> tuple[Head, bytes]:
        """Return the answer of a page process. Raises ReadingStopped, ChildrenBusy, CallFailed."""
        site, is_long = match.kwargs.get("name", ""), is_waiting_for_others(match.func)
        with self._processes.lent(site, is_long=is_long) as process:
            try:
                head, rest = separated(process.call(answer_request, fields, body))
                return head, rest.read()
            except CallStopped as error:
                stopped = error
                bodies = process.bodies_read()
        # Others have the process while the pages are weighed, which takes seconds for each.
        log.warning("page_process_stopped", path=fields.get("PATH_INFO"), why=str(stopped))
        with self._weighing:
            n_heavy = mark_those_too_heavy(bodies)
        left_out = ". The page that is too heavy is left out from now on" if n_heavy else ""
        may_be_saved = fields["REQUEST_METHOD"] not in {"GET", "HEAD"}
        raise ReadingStopped(f"this was stopped: {stopped}{left_out}", may_be_saved=may_be_saved)


def mark_those_too_heavy(bodies: Sequence[str]) -> int:
    """Weigh the pages that a process had read; return how many were marked, 0 if unknown now."""
    try:
        return mark_heavy(bodies)
    except (StoreAway, DatabaseError) as error:
        log.warning("pages_not_weighed", why=str(error))
        return 0
    finally:
        connection.close()  # this thread's own


class RefusePages:
    """Refuse pages to all views but those that are answered by page processes."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        token = why_no_page_is_read.set("")
        try:
            response = self.get_response(request)
            why_not = why_no_page_is_read.get()
        finally:
            why_no_page_is_read.reset(token)
        if isinstance(response, StreamingHttpResponse) and not isinstance(response, FileResponse):
            response.streaming_content = _without_pages(response.streaming_content, why_not)
        return response

    def process_view(
        self, request: HttpRequest, view: object, _args: object, _kwargs: object
    ) -> None:
        if STOPPED in request.META:
            raise request.META[STOPPED]
        if not is_reading(view):
            why_no_page_is_read.set(f"{request.path} is answered by a web thread; flag its view")


def _without_pages(parts: Any, why_not: str) -> Iterator[bytes]:
    """Yield the parts of an answer that is made while it is sent; pages are refused to it, too."""
    remaining = iter(parts)
    while True:
        token = why_no_page_is_read.set(why_not)
        try:
            part = next(remaining, None)
        finally:
            why_no_page_is_read.reset(token)
        if part is None:
            return
        yield part


def _match_of(environ: WSGIEnvironment) -> ResolverMatch | None:
    try:
        return resolve(get_path_info(environ))
    except Resolver404:
        return None


def _length_of(environ: WSGIEnvironment) -> int:
    try:
        return int(environ.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0
