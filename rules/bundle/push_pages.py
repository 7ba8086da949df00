"""Send a Scrapy spider's pages to a site of Vertex. Needs only Scrapy and the standard library.

A line in the settings of a project is enough:

    SPIDER_MIDDLEWARES = {"vertex_rules.PushPages": 10}

VERTEX_URL, VERTEX_SITE and VERTEX_TOKEN say where to, as settings or in the environment; without
VERTEX_URL nothing is sent. Each page is written to a folder first, VERTEX_FOLDER, and removed when
Vertex has it: a spider that is killed, or ends while Vertex is away, loses none, and its next run
sends them first.
"""

from __future__ import annotations

import base64
import gzip
import importlib
import itertools
import json
import logging
import os
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol, Self
from urllib.parse import quote

MAX_BATCH_PAGES: Final = 50
MAX_BATCH_BYTES: Final = 8 * 1024 * 1024  # of one page, more
LINGER_SECONDS: Final = 1.0  # that a page waits for others
FIRST_PAUSE: Final = 1.0  # seconds after a push that failed, doubled each time
LONGEST_PAUSE: Final = 60.0
ANSWER_SECONDS: Final = 120.0
DEFAULT_PATIENCE: Final = 120.0  # seconds that a spider waits at its end until all pages are sent
HTML_TYPES: Final = ("text/html", "application/xhtml+xml", "")
KEPT_HEADERS: Final = ("Content-Type", "ETag", "Last-Modified")
BATCH_REFUSALS: Final = frozenset({400, 413})  # of what is in it
HOPELESS: Final = frozenset({301, 302, 307, 308, 401, 403, 404, 405})  # of the settings

log = logging.getLogger(__name__)


class PushFailed(Exception):
    """Vertex did not take a batch."""

    def __init__(self, reason: str, status: int = 0, retry_after: float = 0.0) -> None:
        super().__init__(reason)
        self.status = status
        self.retry_after = retry_after


class ScrapyCrawler(Protocol):
    """What is used of Scrapy's crawler."""

    settings: Any
    signals: Any
    stats: Any


class PushPages:
    """A spider middleware: it keeps each page that the spider gets, and changes nothing."""

    def __init__(self, pusher: Pusher | None, stats: Any, patience: float) -> None:
        self.pusher = pusher
        self.stats = stats
        self.patience = patience
        self._n_other = 0

    @classmethod
    def from_crawler(cls, crawler: ScrapyCrawler) -> Self:
        """Return the middleware of a spider; one that does nothing where VERTEX_URL is not set."""
        settings = crawler.settings

        def value(name: str) -> str:
            return str(settings.get(name) or os.environ.get(name) or "")

        if not value("VERTEX_URL"):
            log.info("Pages are not sent to Vertex: VERTEX_URL is not set.")
            return cls(None, crawler.stats, 0.0)
        missing = [name for name in ("VERTEX_SITE", "VERTEX_TOKEN") if not value(name)]
        if missing:
            raise ValueError(f"set {' and '.join(missing)}, too, to send pages to Vertex")
        site = value("VERTEX_SITE")
        folder = Path(value("VERTEX_FOLDER") or Path(".scrapy", f"vertex-{site}"))
        url = f"{value('VERTEX_URL').rstrip('/')}/api/v1/sites/{quote(site)}/pushed_pages/"
        pusher = Pusher(url, value("VERTEX_TOKEN"), folder)
        patience = float(value("VERTEX_PATIENCE") or DEFAULT_PATIENCE)
        middleware = cls(pusher, crawler.stats, patience)
        signals = importlib.import_module("scrapy.signals")
        crawler.signals.connect(middleware.spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(middleware.spider_closed, signal=signals.spider_closed)
        return middleware

    def spider_opened(self) -> None:
        """Begin to send, with what an earlier run left."""
        if self.pusher is not None:
            self.pusher.start()

    def process_spider_input(self, response: Any, spider: Any = None) -> None:  # noqa: ARG002 - Scrapy's signature
        """Keep a page; what is no HTML is counted only."""
        if self.pusher is None:
            return
        content_type = _header(response, "Content-Type").partition(";")[0].strip().lower()
        if content_type in HTML_TYPES:
            self.pusher.keep(entry_of(response))
        else:
            self._n_other += 1

    def spider_closed(self) -> None:
        """Wait until all pages are sent; those that cannot be stay in the folder and are named."""
        if self.pusher is None:
            return
        n_left = self.pusher.finish(self.patience)
        counts = {**self.pusher.counts, "not_html": self._n_other, "left": n_left}
        for name, n_pages in counts.items():
            self.stats.set_value(f"vertex/{name}", n_pages)
        if n_left:
            log.error(
                "%d pages were not sent and wait in %s: %s. The next run sends them first.",
                n_left,
                self.pusher.folder,
                self.pusher.problem or "there was no time left",
            )


def entry_of(response: Any) -> dict[str, Any]:
    """Return what Vertex is told of a response."""
    meta = response.request.meta if response.request is not None else {}
    asked_for = (meta.get("redirect_urls") or [response.url])[0]
    headers = {name: _header(response, name) for name in KEPT_HEADERS}
    entry = {
        "url": asked_for,
        "status": response.status,
        "headers": {name: value for name, value in headers.items() if value},
        "fetched_at": datetime.now(UTC).isoformat(),
        "depth": meta.get("depth", 0),
        "body": base64.b64encode(response.body).decode(),
    }
    if response.url != asked_for:
        entry["final_url"] = response.url
    return entry


def _header(response: Any, name: str) -> str:
    return bytes(response.headers.get(name) or b"").decode("latin-1")


@dataclass(slots=True)
class Pusher:
    """Send the pages of a folder from its own thread, oldest first, until Vertex has them."""

    url: str
    token: str
    folder: Path
    counts: Counter[str] = field(default_factory=Counter)  # of pages: new, unchanged, failed
    problem: str = ""  # why the last batch was not taken
    _numbers: Any = field(default_factory=itertools.count)
    _thread: threading.Thread | None = None
    _comes: threading.Event = field(default_factory=threading.Event)
    _ends: threading.Event = field(default_factory=threading.Event)
    _gives_up: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Begin to send what is in the folder and what will come."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._thread = threading.Thread(target=self._run, name="push pages", daemon=True)
        self._thread.start()

    def keep(self, entry: dict[str, Any]) -> None:
        """Write a page into the folder."""
        name = f"{time.time_ns():020}-{os.getpid()}-{next(self._numbers)}.json"
        partial = self.folder / f"{name}.partial"
        partial.write_text(json.dumps(entry), encoding="utf-8")
        partial.replace(self.folder / name)
        self._comes.set()

    def finish(self, seconds: float) -> int:
        """Wait until all pages are sent, for as long as that may help; return how many are left."""
        self._ends.set()
        self._comes.set()
        if self._thread is not None:
            self._thread.join(seconds)
            self._gives_up.set()
            self._thread.join(ANSWER_SECONDS)
        return len(self._waiting())

    def _run(self) -> None:
        n_failures = 0
        while not self._gives_up.is_set():
            is_ending = self._ends.is_set()
            batch = self._next_batch()
            if not batch:
                if is_ending:
                    return
                self._wait_for_pages()
                continue
            try:
                self._send(batch)
            except PushFailed as error:
                n_failures += 1
                self.problem = str(error)
                log.warning("Pages wait for Vertex: %s", error)
                if is_ending and error.status in HOPELESS:
                    return
                pause = max(error.retry_after, FIRST_PAUSE * 2 ** min(n_failures - 1, 10))
                # The end of the spider ends the first pause that it meets.
                interruption = self._gives_up if is_ending else self._ends
                interruption.wait(min(pause, LONGEST_PAUSE))
            else:
                n_failures = 0
                self.problem = ""

    def _wait_for_pages(self) -> None:
        self._comes.wait()
        self._comes.clear()
        self._ends.wait(LINGER_SECONDS)  # others may follow

    def _waiting(self) -> list[Path]:
        return sorted(self.folder.glob("*.json"))

    def _next_batch(self) -> list[Path]:
        batch: list[Path] = []
        n_bytes = 0
        for path in self._waiting()[:MAX_BATCH_PAGES]:
            try:
                n_bytes += path.stat().st_size
            except FileNotFoundError:  # another spider of this folder sent it
                continue
            if batch and n_bytes > MAX_BATCH_BYTES:
                break
            batch.append(path)
        return batch

    def _send(self, batch: Sequence[Path]) -> None:
        """Send some pages, in halves where they are refused together. Raises PushFailed."""
        pages = []
        for path in batch:
            try:
                pages.append(path.read_text(encoding="utf-8"))
            except FileNotFoundError:
                continue
        try:
            answer = self._post(f'{{"pages": [{", ".join(pages)}]}}'.encode()) if pages else {}
        except PushFailed as error:
            if error.status not in BATCH_REFUSALS:
                raise
            if len(batch) > 1:
                self._send(batch[: len(batch) // 2])
                self._send(batch[len(batch) // 2 :])
                return
            log.error("A page cannot be sent: %s: %s", json.loads(pages[0])["url"], error)  # noqa: TRY400 - no mistake of the program
            answer = {"failed": 1}
        for word in ("new", "unchanged", "failed"):
            self.counts[word] += answer.get(word, 0)
        for line in answer.get("results", []):
            if line["snapshot"] == "failed":
                log.warning("Vertex does not take %s: %s", line["url"], line.get("reason"))
        for path in batch:
            path.unlink(missing_ok=True)

    def _post(self, body: bytes) -> dict[str, Any]:
        request = urllib.request.Request(  # noqa: S310 - the address is that of the settings
            self.url,
            gzip.compress(body, 6),
            {
                "Authorization": f"Token {self.token}",
                "Content-Type": "application/json",
                "Content-Encoding": "gzip",
                "User-Agent": "vertex-push",
            },
        )
        try:
            with _opener().open(request, timeout=ANSWER_SECONDS) as answer:
                read: dict[str, Any] = json.load(answer)
                return read
        except urllib.error.HTTPError as error:
            with error:
                text = error.read(2_000).decode("utf-8", "replace")
            pause = error.headers.get("Retry-After") or ""
            seconds = float(pause) if pause.isdigit() else 0.0
            reason = f"{self.url} answers {error.code}: {text}"
            raise PushFailed(reason, error.code, seconds) from None
        except (OSError, ValueError) as error:
            raise PushFailed(f"{self.url}: {type(error).__name__}: {error}") from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Make a redirect an error: the token goes to the address of the settings, and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_NoRedirects)
