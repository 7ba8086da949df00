"""What axe, headings and colours require; `test_widths` looks at every page in this way."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Page

from tests.browser.conftest import OpenPage

AXE = Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js"
TOKENS = settings.BASE_DIR / "vertex/core/static/core/css/tokens.css"
SERIOUS = {"serious", "critical"}


def findings(page: Page, path: str, rule: str = "") -> list[str]:
    """Return what axe finds serious on a page, each with the element."""
    page.goto(path)
    return findings_here(page, path, rule)


def findings_in_both_schemes(page: Page, path: str) -> list[str]:
    """Return what axe finds serious on a page in light, and of what can be read in the dark."""
    page.emulate_media(color_scheme="light")
    light = findings(page, path)
    page.emulate_media(color_scheme="dark")
    return light + [f"in the dark: {each}" for each in findings_here(page, path, "color-contrast")]


def findings_here(page: Page, path: str, rule: str = "") -> list[str]:
    """Return what axe finds serious on the page that is open."""
    page.locator(".skeleton").first.wait_for(state="detached")
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    options = {"resultTypes": ["violations"]} | ({"runOnly": [rule]} if rule else {})
    result: Any = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{path} {violation['id']}: {violation['help']}: {violation['nodes'][0]['html'][:150]}"
        for violation in result["violations"]
        if violation["impact"] in SERIOUS
    ]


def heading_gaps(page: Page) -> list[str]:
    """Return where the headings leave out a level, or are not below one first."""
    script = (
        "[...document.querySelectorAll('h1, h2, h3')].filter(h => h.checkVisibility()).map(h "
        "=> +h.tagName[1])"
    )
    levels: list[int] = page.evaluate(script)
    gaps = [f"h{above} before h{below}" for above, below in pairwise(levels) if below > above + 1]
    return gaps if levels.count(1) == 1 else [*gaps, f"{levels.count(1)} first headings"]


def too_wide(page: Page) -> list[str]:
    """Return a complaint if the page, once all late parts are there, is wider than the window."""
    for _ in range(100):
        if fits(page):
            return []
        page.wait_for_timeout(100)
    return ["wider than the window"]


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_log_in_too(open_page: OpenPage, people: object) -> None:
    page = open_page("/log-in/", who=None)
    assert [] == findings(page, "/log-in/") + findings(page, "/nothing/")


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_axe_would_find_something(open_page: OpenPage, people: object) -> None:
    page = open_page("/log-in/", who=None)
    page.evaluate("document.querySelector('label').remove()")
    page.evaluate(AXE.read_text())
    result: Any = page.evaluate("axe.run()")
    assert "label" in {violation["id"] for violation in result["violations"]}


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_gap_and_a_page_that_is_too_wide_would_be_found(
    open_page: OpenPage, people: object
) -> None:
    page = open_page("/log-in/", who=None)
    assert ([], []) == (heading_gaps(page), too_wide(page))
    page.evaluate("document.body.innerHTML = '<h2>a</h2><h1>b</h1><h3>c</h3><h1>d</h1>'")
    page.evaluate("document.body.style.width = '3000px'")
    assert ["h1 before h3", "2 first headings"] == heading_gaps(page)
    assert not fits(page)


class TestTokens:
    """The colours of the tokens: text on its grounds reaches 4.5 : 1, lines that matter 3 : 1."""

    PAIRS = [
        *(
            (text, ground)
            for text in ("grey-7", "grey-8", "grey-9", "accent")
            for ground in ("grey-1", "grey-2", "grey-3")
        ),
        *(
            (state, ground)
            for state in ("good", "warning", "bad", "unknown")
            for ground in (f"{state}-soft", "grey-1", "grey-3")
        ),
        ("accent", "accent-soft"),
        ("grey-9", "bad-soft"),
        ("grey-9", "warning-soft"),
        ("on-accent", "accent-fill"),
        ("on-accent", "accent-fill-hover"),
        ("on-accent", "bad-fill"),
        ("on-accent", "bad-fill-hover"),
    ]

    def colours(self) -> dict[str, tuple[str, str]]:
        matches = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", TOKENS.read_text())
        return {name: (light, dark) for name, light, dark in matches} | {
            "on-accent": ("#ffffff", "#ffffff")
        }

    @pytest.mark.parametrize(("text", "ground"), PAIRS)
    def test_text_can_be_read(self, text: str, ground: str) -> None:
        for first, other in zip(self.colours()[text], self.colours()[ground], strict=True):
            assert contrast(first, other) >= 4.5

    @pytest.mark.parametrize("ground", ["grey-1", "grey-2"])
    def test_the_edge_of_a_field_can_be_seen(self, ground: str) -> None:
        for first, other in zip(self.colours()["grey-6"], self.colours()[ground], strict=True):
            assert contrast(first, other) >= 3

    def test_black_on_white_is_known(self) -> None:
        assert 21 == pytest.approx(contrast("#000000", "#ffffff"))


def contrast(first: str, other: str) -> float:
    darker, lighter = sorted((luminance(first), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
