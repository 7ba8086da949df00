"""What sites answer when they do not answer."""

from __future__ import annotations

import random
from typing import Final, NamedTuple


class Answer(NamedTuple):
    status: int
    body: str


def _page(title: str, text: str) -> str:
    return (
        "<!DOCTYPE "
        f"html><html><head><title>{title}</title></head><body><div>{text}</div></body></html>"
    )


LOGIN: Final = (
    '<form action="/login"><input name="user"><input type="password" name="p"><button>Log '
    "in</button></form>"
)
CAPTCHA: Final = (
    '<div class="g-recaptcha"></div><p>Please verify that you are a human to continue.</p>'
)
CONSENT: Final = (
    "<h1>Before you continue</h1><p>We and our partners use cookies.</p><button>Accept all</button>"
)
ANSWERS: Final[dict[str, Answer | None]] = {
    "server error": Answer(503, _page("503", "Service temporarily unavailable")),
    "bad gateway": Answer(502, ""),
    "forbidden": Answer(403, _page("Forbidden", "Access denied")),
    "too many": Answer(429, _page("Slow down", "Too many requests")),
    "captcha": Answer(200, _page("One moment", CAPTCHA)),
    "consent": Answer(200, _page("Consent", CONSENT)),
    "login": Answer(200, _page("Sign in", LOGIN)),
    "maintenance": Answer(
        200, _page("Back soon", "<h1>We are upgrading our shop</h1><p>Back in an hour.</p>")
    ),
    "soft 404": Answer(200, _page("Sorry", "<h2>We could not find what you were looking for</h2>")),
    "empty": Answer(200, ""),
    "home page": Answer(
        200, _page("Welcome", "<h1>Welcome</h1><p>News of the week</p><ul><li>a<li>b</ul>")
    ),
    "truncated": None,  # the page itself, cut
}


def draw_outage(chance: random.Random) -> tuple[str, float]:
    """Return the kind of an outage and the share of the pages that it meets."""
    return chance.choice(sorted(ANSWERS)), chance.choice([0.3, 0.6, 1.0])


def answer(kind: str, page: str) -> Answer:
    """Return what a page answers in an outage of a kind."""
    return ANSWERS[kind] or Answer(200, page[: len(page) // 3])
