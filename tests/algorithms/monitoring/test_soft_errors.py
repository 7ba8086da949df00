"""Errors, walls and empty answers that look like pages."""

from __future__ import annotations

import pytest

from clustering.dom.page import parse_page
from monitoring.algorithms.soft_errors import Answer, share_shown, triage

TEXT = "A rope for steep walls, made to last. " * 60
KNOWN = ["Grimpeur 60", "AS-10200"]


def answer(html: str, status: int = 200) -> Answer:
    page = parse_page(html.encode(), "text/html; charset=utf-8")
    return Answer(status, html.encode(), page.tree, page.problem)


def page(title: str, text: str = "", more: str = "") -> str:
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{more}<p>{text}</p></body></html>"


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        (page("Page not found", "Try the search."), "soft_404"),
        (page("Seite nicht gefunden", "Diese Seite gibt es nicht mehr bei uns."), "soft_404"),
        (page("Shop", "This product is no longer available. See our other products."), "soft_404"),
        (
            page("Just a moment...", "Checking your browser before you go on to the shop."),
            "captcha",
        ),
        (
            page("Shop", "Please solve this.", '<div class="g-recaptcha"></div>' + "x" * 60),
            "captcha",
        ),
        (page("Sign in", "Enter your name.", '<input type="password">'), "login_wall"),
        (
            page("Hello", "Before you continue to the shop, accept all cookies please."),
            "consent_wall",
        ),
        (page("We will be back soon", "The shop is under maintenance right now."), "maintenance"),
        ("<html><body></body></html>", "empty"),
        ("", "empty"),
    ],
)
def test_what_is_no_page_is_named(html: str, reason: str) -> None:
    assert reason == triage(answer(html), KNOWN)


@pytest.mark.parametrize(
    ("status", "reason"),
    [(404, "not_found"), (418, "error_status"), (429, "too_many_requests"), (503, "server_error")],
)
def test_a_status_of_an_error_is_one_whatever_the_page_says(status: int, reason: str) -> None:
    assert reason == triage(answer(page("Grimpeur 60", "AS-10200"), status), KNOWN)


def test_a_forbidden_page_with_a_captcha_is_a_captcha() -> None:
    assert "captcha" == triage(answer(page("No", more='<div class="h-captcha"></div>'), 403), KNOWN)


class TestPagesThatAreThere:
    def test_a_redesign_is_no_error(self) -> None:
        html = page("Grimpeur 60", TEXT, "<table><tr><th>Code<td>AS-10200</table>")

        assert "" == triage(answer(html), KNOWN)

    def test_words_of_errors_on_a_page_with_its_values_mean_nothing(self) -> None:
        html = page(
            "Grimpeur 60: 404 metres of rope, sign in to buy", "AS-10200. Not found in shops."
        )

        assert "" == triage(answer(html), KNOWN)

    def test_words_of_walls_in_the_footer_of_a_long_page_mean_nothing(self) -> None:
        html = page(
            "Another thing", TEXT, "<a href='/login'>Log in</a> Cookie settings. Page not found?"
        )

        assert "" == triage(answer(html), KNOWN)


class TestTruncated:
    def test_an_answer_that_breaks_off_before_its_values_is_truncated(self) -> None:
        cut = "<html><head><title>Grimpeur 60</title></head><body><h1>Grimpeur 60</h1><p>A rope for"

        assert "truncated" == triage(answer(cut), KNOWN, old_length=2000)

    def test_a_site_that_never_ends_its_pages_is_not(self) -> None:
        whole = f"<html><body><h1>Grimpeur 60</h1><p>AS-10200 {TEXT}"

        assert "" == triage(answer(whole), KNOWN, old_length=2000, old_was_ended=False)


def test_the_share_of_known_values_is_unknown_where_none_is_known() -> None:
    assert [None, 0.5] == [share_shown("Rope", []), share_shown("a Rope", ["rope", "axe"])]
