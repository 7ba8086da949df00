"""A real browser logs in with an app's code, with a code on paper, and with a passkey alone."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.stage import PASSWORD
from vertex.core.models import AuditEntry, User

pytestmark = pytest.mark.browser


@pytest.fixture
def on_localhost(live_server: Any) -> str:
    """Return the server's address by a name: passkeys belong to names."""
    return str(live_server.url).replace("127.0.0.1", "localhost")


def enter_password(page: Page, username: str = "editor") -> None:
    page.get_by_label("User name").fill(username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in", exact=True).click()


def confirm(page: Page) -> None:
    expect(page.get_by_role("heading", name="Is it you?")).to_be_visible()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Go on").click()


def log_out(page: Page, address: str) -> None:
    page.context.clear_cookies()
    page.goto(f"{address}/log-in/")


def add_authenticator(page: Page) -> None:
    """Give the browser a device that keeps passkeys and always says yes."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    devtools.send(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2",
                "transport": "internal",
                "hasResidentKey": True,
                "hasUserVerification": True,
                "isUserVerified": True,
                "automaticPresenceSimulation": True,
            }
        },
    )


def code_of(page: Page, secret: str) -> str:
    """Return the code of this half minute, early enough to be entered in it."""
    seconds = time.time() % 30
    if seconds > 15:
        page.wait_for_timeout(1000 * (30 - seconds))
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30)))


def test_an_app_is_added_and_asked_for_and_paper_stands_in(
    open_page: OpenPage, people: dict[str, User], on_localhost: str
) -> None:
    page = open_page(f"{on_localhost}/log-in/", who=None)
    enter_password(page)
    expect(page.get_by_role("heading", name="Sites", exact=True)).to_be_visible()
    page.goto(f"{on_localhost}/settings/account/")
    page.get_by_role("link", name="Add a second factor").click()
    page.get_by_role("link", name="Add app").click()
    confirm(page)
    expect(page.get_by_role("heading", name="Add app")).to_be_visible()
    secret = page.locator("code.secret").inner_text()
    expect(page.locator("img.code-picture")).to_have_js_property("complete", True)
    page.get_by_label("Code").fill(code_of(page, secret))
    page.get_by_role("button", name="Add app").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    codes = page.locator(".recovery-codes code").all_inner_texts()

    log_out(page, on_localhost)
    enter_password(page)
    expect(page.get_by_role("heading", name="Second step")).to_be_visible()
    page.get_by_label("Code").fill("not a code")
    page.get_by_role("button", name="Log in", exact=True).click()
    expect(page.get_by_text("This code is wrong")).to_be_visible()
    page.get_by_label("Code").fill(code_of(page, secret))
    page.get_by_role("button", name="Log in", exact=True).click()
    expect(page.get_by_role("heading", name="Sites", exact=True)).to_be_visible()

    log_out(page, on_localhost)
    enter_password(page)
    page.get_by_label("Code").fill(codes[0])
    page.get_by_role("button", name="Log in", exact=True).click()
    expect(page.get_by_role("heading", name="Sites", exact=True)).to_be_visible()
    assert 10 == len(codes)
    assert AuditEntry.objects.filter(action="second_factor.recovered").exists()


def test_a_passkey_is_added_and_logs_in_alone_and_as_the_second_step(
    open_page: OpenPage, people: dict[str, User], on_localhost: str
) -> None:
    page = open_page(f"{on_localhost}/log-in/", who=None)
    add_authenticator(page)
    enter_password(page)
    expect(page.get_by_role("heading", name="Sites", exact=True)).to_be_visible()
    page.goto(f"{on_localhost}/settings/second-factor/passkey/")
    confirm(page)
    page.get_by_label("Name").fill("This computer")
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()

    log_out(page, on_localhost)
    page.get_by_role("button", name="Log in with a passkey").click()
    expect(page.get_by_role("heading", name="Sites", exact=True)).to_be_visible()

    log_out(page, on_localhost)
    enter_password(page)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="Sites", exact=True)).to_be_visible()

    page.goto(f"{on_localhost}/settings/second-factor/")
    expect(page.get_by_role("cell", name="This computer", exact=True)).to_be_visible()
    page.get_by_role("link", name="Rename This computer").click()
    page.get_by_role("link", name=re.compile("passkey|security key")).click()
    page.get_by_role("button", name="Use a passkey").click()
    page.get_by_label("Name").fill("The old computer")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Remove The old computer").click()
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("link", name="Add passkey")).to_be_visible()
    expect(page.get_by_role("cell", name="The old computer", exact=True)).to_have_count(0)


def test_without_a_passkey_the_log_in_says_what_to_do(
    open_page: OpenPage, people: dict[str, User], on_localhost: str
) -> None:
    page = open_page(f"{on_localhost}/log-in/", who=None)
    add_authenticator(page)
    page.get_by_role("button", name="Log in with a passkey").click()

    expect(page.get_by_text("The passkey could not be used")).to_be_visible()
