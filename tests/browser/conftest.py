"""A real Chromium before a real server."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Route, expect, sync_playwright

from tests.browser.stage import add_people, set_stage
from vertex.core.models import Installation, Site, User

CHROMIUM = os.environ.get("VERTEX_CHROMIUM", "/usr/bin/chromium")
CHROMIUM_OPTIONS = ["--no-sandbox", "--disable-dev-shm-usage"]
# Of two lists of features Chromium reads the second, so Playwright's stands here once more. The
# last two load pages for the address bar, which nobody sees, with each window: a quarter of what
# opening it costs.
CHROMIUM_OPTIONS.append(
    "--disable-features=AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,"
    "HttpsFirstBalancedModeAutoEnable,LensOverlay,MediaRouter,PaintHolding,ThirdPartyStoragePartitioning,"
    "OptimizationHints,NetworkTimeServiceQuerying,AimEnabled,PreconnectToSearch,"
    "WebUIOmniboxPopup,WebUIOmniboxAimPopup"
)
WIDE, NARROW = 1280, 400
PATIENCE = 60_000  # milliseconds for whatever a test waits for: a busy machine is slow, not wrong

OpenPage = Callable[..., Page]

expect.set_options(timeout=PATIENCE)


def wait_on(page: Page, is_so: Callable[[], object], what: str) -> None:
    """Ask again and again while the page goes on, for what `expect` cannot see."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not is_so():
        assert time.monotonic() < deadline, f"not within {PATIENCE // 1000} s: {what}"
        page.wait_for_timeout(20)


def hold(page: Page, address: str) -> list[Route]:
    """Return what fills with the requests to an address, none of which is answered."""
    held: list[Route] = []

    def keep(route: Route) -> None:
        held.append(route)

    page.route(address, keep)
    return held


def let_go(page: Page, held: list[Route]) -> None:
    """Answer what was held, one after the other, and whatever comes later."""
    for route in held.copy():
        with suppress(Error):  # a request that was given up
            route.continue_()
            route.request.response()
    page.unroute_all()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if shutil.which(CHROMIUM) is None:
        pytest.skip(f"BROWSER NOT FOUND. There is no {CHROMIUM}: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_OPTIONS)
        yield browser
        browser.close()


@pytest.fixture
def people(transactional_db: None) -> dict[str, User]:
    # A request of the test before may have ended after its tables were emptied, and named that
    # one's store.
    Installation.objects.all().delete()
    return add_people()


@pytest.fixture
def shop(people: dict[str, User]) -> Site:
    return set_stage(n_pages=60)


@pytest.fixture
def expected_complaints() -> list[str]:
    """Return parts of complaints that the browser may make; a test of an error adds its own."""
    return []


@pytest.fixture
def open_page(
    chromium: Browser,
    live_server: Any,
    people: dict[str, User],
    expected_complaints: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[OpenPage]:
    """Open a page as somebody; the test fails where the browser complained of anything."""
    contexts, complaints = [], []

    def open_it(
        path: str, *, who: str | None = "administrator", width: int = WIDE, **options: Any
    ) -> Page:
        # Nothing moves, unless a test is about that: what moves is neither where nor what it
        # will be.
        options.setdefault("reduced_motion", "reduce")
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, base_url=live_server.url, **options
        )
        contexts.append(context)
        if who:
            client = Client()
            client.force_login(people[who])
            cookie = client.cookies["sessionid"].value
            context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        monkeypatch.setattr(page.keyboard, "press", _press_when_ready(page))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda each: complaints.extend(_told(each)))
        page.goto(path)
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert [] == [
        complaint
        for complaint in complaints
        if not any(part in complaint for part in expected_complaints)
    ]


def _press_when_ready(page: Page) -> Callable[..., None]:
    """Return a key press that waits for the page's scripts: a page may show before it listens."""
    press = page.keyboard.press

    def wait_and_press(key: str, **options: Any) -> None:
        page.wait_for_load_state("domcontentloaded")
        press(key, **options)

    return wait_and_press


def _told(message: ConsoleMessage) -> list[str]:
    """Return an error on the console.

    Two are none: a refusal of the server, which is what many tests are about, and a request that
    htmx gave up for a newer one of the same element. (htmx writes two lines then; of any other
    failure it writes a third.)
    """
    address = message.location.get("url", "")
    is_refusal = "responded with a status of 4" in message.text and "/static/" not in address
    is_given_up = message.text.startswith(("htmx:afterRequest", "htmx:sendAbort"))
    return (
        [f"{message.text} ({address})"]
        if message.type == "error" and not (is_refusal or is_given_up)
        else []
    )
