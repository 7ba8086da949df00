"""Hostile pages in the frame: nothing of them runs, nothing calls home, wherever one clicks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from clustering.models import Snapshot
from clustering.services.looks.frames import make_token
from tests.apps.clustering.fake_host import Answer, FakeHost
from tests.browser import frame_stage
from tests.browser.conftest import PATIENCE, OpenPage, wait_on
from tests.browser.payloads import payloads

pytestmark = pytest.mark.browser
MANY = 30
COLUMNS, WIDE, HIGH = 20, 64, 48
# All frames at once, in a grid: each holds one payload.
GRID = f"""([addresses, sandbox, patience]) => Promise.all(addresses.map((address, n) => new Promise((done) => {{
  const frame = document.createElement("iframe");
  if (sandbox) frame.setAttribute("sandbox", sandbox);
  frame.style.cssText = `position:absolute;border:0;z-index:99;width:{WIDE}px;height:{HIGH}px;` +
    `left:${{n % {COLUMNS} * {WIDE}}}px;top:${{Math.floor(n / {COLUMNS}) * {HIGH}}}px`;
  frame.onload = done;
  setTimeout(done, patience);
  frame.src = address;
  document.body.append(frame);
}})))"""


@pytest.fixture
def home() -> Iterator[FakeHost]:
    with FakeHost({}) as host:
        for n, payload in enumerate(payloads(host.url)):
            host.routes[f"/raw/{n}"] = Answer(
                payload.encode(), headers={"Content-Type": "text/html"}
            )
        host.routes["/"] = Answer(b"<!doctype html><body>", headers={"Content-Type": "text/html"})
        yield host


def called(home: FakeHost) -> set[int]:
    """Return the numbers of the payloads that called home."""
    parts = [request.path.split("/")[1] for request in home.asked]
    return {int(part) for part in parts if part.isdigit()}


def listen(page: Page) -> set[int]:
    """Return what fills with the numbers of the payloads whose scripts run."""
    ran: set[int] = set()
    page.context.expose_function("ran", lambda n: ran.add(int(n)))
    return ran


def show_all(page: Page, addresses: list[str], sandbox: str, patience: int = PATIENCE) -> None:
    """Show all pages at once, and press the mouse in each whose payload waits for it.

    Some pages never finish loading where they may do what they want: `patience` is how
    long they have.
    """
    page.set_viewport_size(
        {"width": COLUMNS * WIDE, "height": (len(addresses) // COLUMNS + 1) * HIGH}
    )
    page.evaluate(GRID, [addresses, sandbox, patience])
    for n, payload in enumerate(payloads("")):
        if "position:fixed" in payload:
            page.mouse.click(n % COLUMNS * WIDE + WIDE / 2, n // COLUMNS * HIGH + HIGH / 2)
    page.wait_for_timeout(150)


def snapshots_of(home: FakeHost) -> list[Snapshot]:
    site = frame_stage.site_of("hostile")
    return [
        frame_stage.snapshot_of(site, f"{home.url}/page/{n}", payload.encode())
        for n, payload in enumerate(payloads(home.url))
    ]


def frame_address(snapshot: Snapshot) -> str:
    token = make_token(snapshot)
    return f"/sites/hostile/frames/{snapshot.pk}/?token={token}"


def test_nothing_runs_and_nothing_calls_home(
    open_page: OpenPage, people: object, home: FakeHost
) -> None:
    snapshots = snapshots_of(home)
    page = open_page("/favicon.ico")
    page.goto("/sites/")
    ran, opened = listen(page), []
    page.context.on("page", lambda popup: opened.append(popup.url))
    show_all(page, [frame_address(snapshot) for snapshot in snapshots], "allow-scripts")

    assert len(snapshots) == len([frame for frame in page.frames if "/frames/" in frame.url])
    assert (set(), [], []) == (ran, home.asked, opened)
    assert page.url.endswith("/sites/")


def test_without_protection_many_run_and_call_home(chromium: Browser, home: FakeHost) -> None:
    context = chromium.new_context()
    page = context.new_page()
    ran = listen(page)
    page.goto(home.url)
    show_all(
        page,
        [f"{home.url}/raw/{n}" for n in range(len(payloads("")))],
        "allow-scripts allow-same-origin allow-forms allow-popups",
        patience=500,
    )
    wait_on(page, lambda: len(ran) >= MANY and len(called(home)) >= MANY, "many run and call home")
    context.close()


def test_a_frame_opened_by_itself_runs_nothing_at_all(
    open_page: OpenPage, people: object, home: FakeHost, live_server: LiveServer
) -> None:
    everything = "\n".join(payload for payload in payloads(home.url) if "<plaintext" not in payload)
    snapshot = frame_stage.snapshot_of(
        frame_stage.site_of("hostile"), f"{home.url}/all", everything.encode()
    )
    page = open_page("/sites/")
    ran = listen(page)
    page.goto(frame_address(snapshot))
    page.mouse.click(300, 300)

    assert (set(), [], 0) == (ran, home.asked, page.evaluate("document.scripts.length"))
    assert "/frames/" in page.url
    assert page.locator("[data-n]").count() > 300
