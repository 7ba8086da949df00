"""A headless Chromium, started for one page, spoken to through a pipe, killed afterwards."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Final, Self

from clustering.fetching.deadlines import Deadline
from clustering.fetching.refusals import FetchRefused

# The browser reads requests from its descriptor 3 and answers on 4; no port is open to anybody.
# Each of its processes may use two minutes of processor time, write files of 200 MB and have 2 GB
# of memory: a page could take all that the machine has.
MAX_DATA: Final = 2_000_000  # KiB
START: Final = (
    f"ulimit -t 120; ulimit -f 400000; ulimit -d {MAX_DATA}; "
    'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1'
)
MAX_MESSAGE: Final = 64 * 1024 * 1024
PIECE_BYTES: Final = 1024 * 1024
KILL_SECONDS: Final = 5.0
FLAGS: Final = (
    "--headless=new",
    "--remote-debugging-pipe",
    # One way out: everything, loopback included, goes to the proxy, and no name is looked up.
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    # Nothing of its own accord.
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication",
    "--disable-sync",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--password-store=basic",
    "--use-mock-keychain",
    "--metrics-recording-only",
    "--mute-audio",
    # Small, and without what a machine may lack.
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--hide-scrollbars",
    "--js-flags=--max-old-space-size=512",
    "--window-size=1280,1024",
)


class BrowserMissing(FetchRefused):
    """There is no Chromium on this machine, or it does not start."""

    code = "no_browser"


class BrowserFailed(FetchRefused):
    """The browser ended or did not understand in the middle of a page."""

    code = "rendering"
    is_transient = True


@dataclass(slots=True)
class Chromium:
    """A running browser, spoken to by the DevTools protocol."""

    binary: str
    user_agent: str
    proxy_port: int
    deadline: Deadline
    events: deque[dict[str, Any]] = field(default_factory=deque)
    _process: subprocess.Popen[bytes] = field(init=False)
    _profile: Path = field(init=False)
    _seen: bytearray = field(default_factory=bytearray)
    _n_asked: int = 0

    def __enter__(self) -> Self:
        if not Path(self.binary).exists():
            raise BrowserMissing(
                f"{self.binary} does not exist; install Chromium or set VERTEX_CHROMIUM"
            )
        self._profile = Path(tempfile.mkdtemp(prefix="vertex-chromium-"))
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # root has no other choice
        flags = [
            *FLAGS,
            *sandbox,
            f"--user-data-dir={self._profile}",
            f"--proxy-server=http://127.0.0.1:{self.proxy_port}",
            f"--user-agent={self.user_agent}",
        ]
        self._process = subprocess.Popen(  # noqa: S603 (the operator's own setting)
            ["/bin/sh", "-c", START, self.binary, *flags, "about:blank"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PATH": os.defpath, "HOME": str(self._profile), "LANG": "C.UTF-8"},
            start_new_session=True,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(KILL_SECONDS)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        shutil.rmtree(self._profile, ignore_errors=True)

    def ask(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        """Call a method and return its result; events that come meanwhile are kept."""
        number = self.tell(method, session, **params)
        while True:
            message = self._receive(self.deadline.remaining())
            if message is not None and message.get("id") == number:
                if "error" in message:
                    raise BrowserFailed(f"{method}: {message['error'].get('message', '')}")
                result: dict[str, Any] = message["result"]
                return result
            if message is not None and "method" in message:
                self.events.append(message)

    def tell(self, method: str, session: str = "", **params: Any) -> int:
        """Call a method without waiting for its result."""
        self._n_asked += 1
        message = {"id": self._n_asked, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        if self._process.stdin is None:
            raise self._ended()
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\0")
            self._process.stdin.flush()
        except OSError:
            raise self._ended() from None
        return self._n_asked

    def next_event(self, seconds: float) -> dict[str, Any] | None:
        """Return the next event, or None if there is none for so long."""
        if self.events:
            return self.events.popleft()
        ends_at = monotonic() + self.deadline.share(seconds)
        while (left := ends_at - monotonic()) > 0:
            message = self._receive(left)
            if message is not None and "method" in message:
                return message
        return None

    def _receive(self, seconds: float) -> dict[str, Any] | None:
        """Return the next message, or None if none is complete in time."""
        ends_at = monotonic() + seconds
        searched = 0
        while (end := self._seen.find(b"\0", searched)) < 0:
            searched = len(self._seen)
            if searched > MAX_MESSAGE:
                raise BrowserFailed("the page is too large for the browser to hand over")
            if not self._read_more() and monotonic() >= ends_at:
                return None
        message: dict[str, Any] = json.loads(self._seen[:end])
        del self._seen[: end + 1]
        return message

    def _read_more(self) -> bool:
        if self._process.stdout is None:
            raise self._ended()
        pipe = self._process.stdout.fileno()
        arriving = select.poll()  # `select` knows no numbers beyond 1,023
        arriving.register(pipe, select.POLLIN)
        if not arriving.poll(self.deadline.slice() * 1000):
            return False
        piece = os.read(pipe, PIECE_BYTES)
        if not piece:
            raise self._ended()
        self._seen += piece
        return True

    def _ended(self) -> BrowserMissing | BrowserFailed:
        if self._seen or self._n_asked > 1:
            return BrowserFailed("the browser ended in the middle of the page")
        return BrowserMissing(f"{self.binary} does not start; run it by hand to see why")
