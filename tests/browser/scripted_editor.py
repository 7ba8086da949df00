"""An editor who knows the truth and only uses keys: confirms what is right, corrects the rest.

Every key counts, each character that is typed into the search as well. The editor stops where the
product says that no further page is needed.
"""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, Response, expect

from tests.browser.annotating_stage import Stage

MOST_PAGES = 8
MOST_PLACES = 5
SHORTEST, LONGEST = 3, 12  # characters that are typed to find a text


class ScriptedEditor:
    """Annotates the samples of a cluster until the stop sign, then publishes its rule."""

    def __init__(self, page: Page, stage: Stage) -> None:
        self.page, self.stage = page, stage
        self.n_keys = self.n_pages = 0
        self.corrected: list[str] = []

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.n_keys += 1

    def annotate_until_enough(self) -> None:
        """Go from sample to sample until no further page is needed."""
        while self.n_pages < MOST_PAGES:
            self.wait_for_proposals()
            self.correct_page()
            with self.page.expect_response(_is_learnt):
                self.press("Enter")
            self.n_pages += 1
            if self.is_enough():
                return
            self.go_where_most_is_learnt()

    def is_enough(self) -> bool:
        sign = self.page.locator("#rule-panel .stop-sign")
        expect(sign).to_be_visible()
        expect(self.page.locator("[aria-busy], .htmx-request, .htmx-settling")).to_have_count(0)
        return "is-good" in (sign.get_attribute("class") or "")

    def go_where_most_is_learnt(self) -> None:
        """Go to the sample that the panel names, unless that is the one that is shown."""
        link = self.page.locator("#rule-panel .stop-next:not(.is-here)")
        if link.count():
            wanted = (link.get_attribute("href") or "").partition("?")[0]
            self.press("!")
            expect(self.page.locator(".sample:not(.is-waiting)")).to_have_attribute(
                "data-href", wanted
            )

    def publish(self) -> None:
        self.press("$")
        self.page.wait_for_url("**/rules/**")

    def wait_for_proposals(self) -> None:
        """Wait until the page shows its proposals: nothing was typed, so a person sees the same."""
        expect(self.page.locator(".sample:not(.is-waiting)[data-prepared]")).to_be_visible()
        self.wait_until_saved()

    def wait_until_saved(self) -> None:
        expect(self.page.locator("[data-saving]")).to_have_text("Saved")

    def row(self, name: str) -> Any:
        return self.page.locator(f'.sample:not(.is-waiting) [data-attribute="{name}"]')

    def correct_page(self) -> None:
        sample: Any = self.page.locator(".sample:not(.is-waiting)")
        truth = self.stage.truth[int(sample.get_attribute("data-page"))]
        open_and_absent = []
        for name in self.names():
            wanted = _as_texts(truth.get(name))
            if self.shown(name) == wanted:
                continue
            if not wanted and not self.shown(name):
                open_and_absent.append(name)
                continue
            self.correct(name, _as_values(truth.get(name)))
        if open_and_absent:
            self.press("X")  # all that is still open

    def names(self) -> list[str]:
        names: list[str] = self.page.eval_on_selector_all(
            ".sample:not(.is-waiting) [data-attribute]",
            "rows => rows.map(row => row.dataset.attribute)",
        )
        return [name for name in names if name]

    def shown(self, name: str) -> list[str]:
        """Return what would be written down: what is said already, or a proposal if sure enough."""
        row = self.row(name)
        if "is-open" not in (row.get_attribute("class") or ""):
            values = row.locator(".annotated-value .annotated-text").all_text_contents()
            return [", ".join(values)] if values else []
        if "is-proposed" not in (row.get_attribute("class") or ""):
            return []
        text: str = row.locator(".proposal .annotated-text").first.text_content() or ""
        return [] if text == "not on this page" else [text]

    def correct(self, name: str, wanted: list[str]) -> None:
        self.corrected.append(name)
        self.press(self.row(name).locator("kbd").first.inner_text())
        if not wanted:
            self.press("x")
            return
        offered = self.row(name).locator(".proposal .annotated-text").all_text_contents()
        if ", ".join(wanted) in offered:
            self.press(str(offered.index(", ".join(wanted)) + 1))
            return
        for value in wanted:
            self.find(value)
            self.press("Escape", "Space")
        self.wait_until_saved()

    def find(self, value: str) -> None:
        """Search a text and go on from place to place until the outlined node shows the value."""
        self.press("/")
        for character in value[: max(SHORTEST, min(LONGEST, len(value)))]:
            self.page.keyboard.type(character)
            self.n_keys += 1
        for _ in range(MOST_PLACES):
            quote = self.page.locator(".sample:not(.is-waiting) .path-quote")
            if quote.count() and value.startswith((quote.inner_text() or "\0").rstrip("…")):
                return
            self.press("Enter")


def _as_texts(value: object) -> list[str]:
    """Return a true value as it is shown: several ones as one line."""
    values = _as_values(value)
    return [", ".join(values)] if values else []


def _as_values(value: object) -> list[str]:
    if isinstance(value, list):
        return [str(each) for each in value]
    return [] if value is None else [str(value)]


def _is_learnt(response: Response) -> bool:
    return response.request.method == "POST" and response.url.endswith("/rule/")
