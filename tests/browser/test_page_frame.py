"""A stored page in its frame: as it looks, elements numbered, with marks that change nothing."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Frame, Page, expect
from pytest_django import Settings

from clustering.models import Snapshot
from tests.algorithms.clustering.dom.frame.test_rendering import rendered, stored_map
from tests.algorithms.mis_nested import mis_nested
from tests.browser import frame_stage
from tests.browser.conftest import OpenPage, wait_on

pytestmark = pytest.mark.browser
HTML = """<!doctype html><html><head><title>Shop</title></head><body style="margin:0;font:16px/20px monospace">
<p id=a>one &#128512; two<!-- between -->three <b>four</b> five</p>
<table><tr><td>cell</td></tr></table>
<form id=f><input type=hidden name=parentNode></form><form><input id=i value=x><button disabled id=b>Buy</button><select><option>One</select></form>
<div style="height:3000px"></div><p id=z>last</p></body></html>"""


DENSE = """<!doctype html><html><body style="margin:0;font:14px/15px monospace">
<div>Started by the people of the board, who are many</div>
<div><span id=a>Bodo</span> is a member since then, and wrote much</div>
<div>Board <span id=b>Engines</span> and gears, with all that turns</div>
<div>On <span id=c>1 May</span> it was said that nothing more would come</div>
<div>Views</div><div style="margin:40px"><span id=d>12</span></div></body></html>"""
# What is drawn above a page stands in a closed shadow: this keeps a hand on it.
OPEN_MARKS = """
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    return (window.marks = attach.call(this, options));
  };
"""
BOXES = "() => window.marks?.querySelectorAll('.box').length"
LABELS = """() => {
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    if (walker.currentNode.data.trim()) texts.push(...range.getClientRects());
  }
  const covers = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom - 1 && b.top + 1 < a.bottom;
  return [...window.marks.querySelectorAll(".label")].map((label) => {
    const rect = label.getBoundingClientRect();
    return { text: label.textContent, covered: texts.some((text) => covers(rect, text)) };
  });
}"""


@pytest.fixture
def small(people: object) -> Snapshot:
    site = frame_stage.site_of("shop")
    return frame_stage.snapshot_of(site, "https://shop.example/small", HTML.encode())


@pytest.fixture
def opened(open_page: OpenPage, small: Snapshot) -> tuple[Page, Frame]:
    page = open_page(frame_stage.look_address(small))
    frame = frame_stage.inside(page)
    return page, frame


def told(page: Page, kind: str, n: int = 1) -> Any:
    """Wait for so many messages of a kind and return the last."""
    return frame_stage.wait_for(page, kind, n)[-1]


def number_of(frame: Frame, selector: str) -> int:
    return int(frame.evaluate(f"document.querySelector({selector!r}).getAttribute('data-n')"))


@pytest.mark.parametrize("name", ["alpine-shop", "town-guide", "the-courier", "tinker-board"])
def test_a_click_takes_the_node_that_is_pointed_at(
    open_page: OpenPage, people: object, settings: Settings, name: str
) -> None:
    [snapshot] = frame_stage.demo_snapshots(name, "1", 1, settings)
    page = open_page(frame_stage.look_address(snapshot))
    frame = frame_stage.inside(page)
    frame_stage.fill_window(page)
    places = frame_stage.places_of_elements(frame)

    assert frame_stage.stored_tree(snapshot) == frame_stage.shown_tree(frame)
    assert len(places) > 60
    assert [] == frame_stage.wrong_clicks(page, places)


def test_browsers_build_the_tree_that_was_stored_however_badly_it_is_nested(
    open_page: OpenPage,
) -> None:
    documents = [mis_nested(seed, 60) for seed in range(150)]
    bodies = [rendered(html) for html in documents]
    page = open_page("/favicon.ico", who=None)
    shown = page.evaluate(frame_stage.TREES, bodies)

    assert [] == [
        html for html, tree in zip(documents, shown, strict=True) if stored_map(html) != tree
    ]


class TestText:
    def drag(self, page: Page, frame: Frame, script: str) -> Any:
        """Drag the pointer over what a range of the frame holds."""
        box = frame.evaluate(
            f"() => {{ {script}; const r = range.getClientRects(); return [r[0].left, "
            "r[0].top + 8, r[r.length - 1].right, r[r.length - 1].top + 8] }"
        )
        view = page.locator("[data-page-frame] iframe").bounding_box()
        assert view is not None
        border = 1
        page.mouse.move(view["x"] + border + box[0] + 0.5, view["y"] + border + box[1])
        page.mouse.down()
        page.mouse.move(view["x"] + border + box[2], view["y"] + border + box[3], steps=3)
        page.mouse.up()
        return told(page, "take")

    def test_a_dragged_part_of_a_text_counts_characters_of_the_stored_text(
        self, opened: tuple[Page, Frame]
    ) -> None:
        page, frame = opened
        script = (
            "const t = document.querySelector('#a').firstChild, range = new Range(); "
            "range.setStart(t, 7); range.setEnd(t, 10)"
        )
        gesture = self.drag(page, frame, script)

        number = number_of(frame, "#a")
        assert {
            "number": number,
            "textNode": 0,
            "start": 6,  # the face counts once
            "end": 9,
            "endNumber": number,
            "endTextNode": 0,
            "quote": "two",
        } == gesture["text"]

    def test_a_text_behind_a_comment_is_another_one(self, opened: tuple[Page, Frame]) -> None:
        page, frame = opened
        script = (
            "const t = [...document.querySelector('#a').childNodes].filter((n) "
            "=> n.nodeType === 3)[1], range = new Range(); range.setStart(t, 0); range.setEnd(t, 5)"
        )

        text = self.drag(page, frame, script)["text"]
        assert (1, "three") == (text["textNode"], text["quote"])

    def test_a_text_may_run_over_several_nodes(self, opened: tuple[Page, Frame]) -> None:
        page, frame = opened
        script = (
            "const p = document.querySelector('#a'), range = new Range(); "
            "range.setStart(p.querySelector('b').firstChild, 0); range.setEnd(p.lastChild, 5)"
        )
        gesture = self.drag(page, frame, script)

        assert number_of(frame, "#a") == gesture["number"]
        assert (number_of(frame, "b"), number_of(frame, "#a"), 2, 5) == tuple(
            gesture["text"][name] for name in ("number", "endNumber", "endTextNode", "end")
        )
        assert "four five" == gesture["text"]["quote"]

    def test_the_text_around_rows_that_browsers_group_is_that_of_the_table(
        self, opened: tuple[Page, Frame], small: Snapshot
    ) -> None:
        assert frame_stage.stored_tree(small) == frame_stage.shown_tree(opened[1])
        assert 1 == opened[1].evaluate("document.querySelectorAll('tbody:not([data-n])').length")


class TestGestures:
    def test_what_is_switched_off_on_the_page_can_be_taken(
        self, opened: tuple[Page, Frame]
    ) -> None:
        page, frame = opened
        frame.locator("#b").click(force=True)

        assert number_of(frame, "#b") == told(page, "take")["number"]

    def test_shift_is_told(self, opened: tuple[Page, Frame]) -> None:
        page, frame = opened
        frame.locator("td").click(modifiers=["Shift"])

        assert (number_of(frame, "td"), True, None) == tuple(told(page, "take").values())

    def test_the_pointer_tells_the_node_and_its_path(self, opened: tuple[Page, Frame]) -> None:
        page, frame = opened
        frame.locator("td").hover()
        hover = told(page, "hover")

        assert ["html", "body", "table", "tr", "td"] == [step["name"] for step in hover["path"]]
        assert "cell" == hover["quote"]
        expect(page.locator("[data-frame-path]")).to_have_text("html › body › table › tr › td")

    def test_keys_are_passed_on_and_do_nothing_inside(self, opened: tuple[Page, Frame]) -> None:
        page, frame = opened
        frame.locator("#i").click()
        wait_on(page, lambda: frame.evaluate("document.hasFocus()"), "the frame has the focus")
        page.keyboard.press("n")

        assert {"key": "n", "shift": False, "ctrl": False, "alt": False, "meta": False} == told(
            page, "key"
        )
        assert "x" == frame.evaluate("document.querySelector('#i').value")

    def test_nodes_are_chosen_by_keyboard_alone(self, opened: tuple[Page, Frame]) -> None:
        page, frame = opened
        for direction in ("next", "child", "next", "parent"):
            page.evaluate(f"frame.step({direction!r})")

        selection = [step["number"] for step in frame_stage.wait_for(page, "hover", 4)]
        names = ["body", "#a", "b", "table"]
        body, paragraph, bold, _ = (number_of(frame, name) for name in names)
        assert [body, paragraph, bold, paragraph] == selection

    def test_links_and_forms_of_the_page_lead_nowhere(
        self, opened: tuple[Page, Frame], expected_complaints: list[str]
    ) -> None:
        expected_complaints.append("Blocked form submission")
        frame = opened[1]
        before = frame.url
        frame.locator("#b").click(force=True)
        frame.evaluate("document.forms[0].requestSubmit()")

        assert before == frame.url


class TestMarks:
    MARKS = """([a, z]) => frame.mark([
      { id: 1, kind: "value", number: a, text: [0, 6, 9], label: "name" },
      { id: 2, kind: "record", number: a, endNumber: z },
      { id: 3, kind: "lost", number: 99999 },
    ])"""

    def test_drawing_changes_nothing_of_the_page(self, opened: tuple[Page, Frame]) -> None:
        page, frame = opened
        state = (
            "() => [document.body.outerHTML, document.documentElement.scrollHeight, "
            "document.documentElement.childElementCount]"
        )
        view = page.locator("[data-page-frame] iframe")
        bare = view.screenshot()
        before = frame.evaluate(state)  # a picture hides the caret, which leaves an empty `style`
        page.evaluate(self.MARKS, [number_of(frame, "#a"), number_of(frame, "table")])
        page.evaluate("frame.outline(4), frame.select(5)")
        wait_on(page, lambda: bare != view.screenshot(), "the marks are drawn")

        assert before == frame.evaluate(state)

    def test_a_mark_is_seen_where_its_text_is(self, opened: tuple[Page, Frame]) -> None:
        page, frame = opened
        view = page.locator("[data-page-frame] iframe")
        bare = view.screenshot()
        page.evaluate(self.MARKS, [number_of(frame, "#a"), number_of(frame, "table")])
        wait_on(page, lambda: bare != view.screenshot(), "the marks are seen")
        page.evaluate("frame.mark([])")
        wait_on(page, lambda: bare == view.screenshot(), "nothing is left of the marks")

    def test_no_label_covers_a_text_and_one_with_room_is_whole(
        self, open_page: OpenPage, people: object
    ) -> None:
        snapshot = frame_stage.snapshot_of(
            frame_stage.site_of("board"), "https://board.example/dense", DENSE.encode()
        )
        page = open_page(frame_stage.look_address(snapshot))
        page.add_init_script(OPEN_MARKS)
        page.reload()
        frame = frame_stage.inside(page)
        numbers = [number_of(frame, f"#{name}") for name in "abcd"]
        page.evaluate(
            """numbers => frame.mark(numbers.map((number, n) => ({ id: n, kind: "value", number,
              text: [0, 0, null], label: ["author", "board", "started", "views"][n] })))""",
            numbers,
        )
        wait_on(page, lambda: 4 == frame.evaluate(BOXES), "all boxes are drawn")
        labels = frame.evaluate(LABELS)

        assert [] == [label["text"] for label in labels if label["covered"]]
        assert "views" in {label["text"] for label in labels}

    def test_the_frame_scrolls_to_a_node(self, opened: tuple[Page, Frame]) -> None:
        page, frame = opened
        page.evaluate(f"frame.show({number_of(frame, '#z')})")

        scrolled = told(page, "scroll")
        assert (scrolled["top"] > 1000, scrolled["isOrdered"]) == (True, True)

    def test_it_tells_the_reader_s_scrolling_from_its_own(self, opened: tuple[Page, Frame]) -> None:
        page, frame = opened
        page.evaluate(f"frame.show({number_of(frame, '#z')})")
        told(page, "scroll")
        page.evaluate("told.scroll.length = 0")
        frame.evaluate("window.scrollTo(0, 500)")

        scrolled = told(page, "scroll")
        assert (scrolled["top"], scrolled["isOrdered"]) == (500, False)

    def test_marks_survive_loading_anew(self, opened: tuple[Page, Frame]) -> None:
        page, frame = opened
        page.evaluate(f"frame.select({number_of(frame, '#z')})")
        told(page, "scroll")
        page.evaluate("told.scroll.length = 0, frame.reload()")

        told(page, "ready", 2)
        assert told(page, "scroll")["top"] > 1000


def test_only_the_frame_itself_is_listened_to(opened: tuple[Page, Frame]) -> None:
    page, frame = opened
    token = page.locator("[data-page-frame] iframe").get_attribute("data-token")
    page.evaluate(
        "token => window.postMessage({ vertex: token, type: 'take', number: 3, text: null }, '*')",
        token,
    )
    frame.evaluate(
        "window.parent.postMessage({ vertex: 'guessed', type: 'take', number: 3, text: null }, '*')"
    )
    frame.evaluate(
        "t => window.parent.postMessage({ vertex: t, type: 'take', number: 99999, text: "
        "null }, '*')",
        token,
    )
    frame.evaluate(
        "t => window.parent.postMessage({ vertex: t, type: 'take', number: 5, text: null }, '*')",
        token,
    )

    assert 5 == told(page, "take")["number"]
    assert 1 == page.evaluate("told.take.length")
