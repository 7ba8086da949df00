"""How exactly clicks in the frame name nodes of stored pages, and what it costs to render them."""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from lxml.etree import _Element
from playwright.sync_api import Browser, Error, Page, Route, sync_playwright

from benchmarks.report import markdown_table
from clustering.dom.frame.rendering import FrameFiles, FrameScript, number_elements, render_page
from clustering.dom.frame.stylesheets import clean_stylesheet
from clustering.dom.page import MAX_BYTES, parse_page
from tests.browser import frame_stage
from vertex.demo import sites
from vertex.demo.sites import DemoSite

TITLE = "Clicks in the frame"
HOST = "http://frames.example"
N_DEMO = 20
IS_FULL = bool(os.environ.get("VERTEX_FULL"))
PAGES_EACH = 20 if IS_FULL else 3  # of a folder of real pages
MOST_CLICKS = 2_000 if IS_FULL else 150  # on a page
CHROMIUM = "/usr/bin/chromium"
SCRIPTS = Path(__file__).resolve().parent.parent / "clustering" / "static" / "clustering" / "js"
TOKEN = "benchmark"
POLICY = (
    "default-src 'none'; script-src 'nonce-once'; style-src 'unsafe-inline'; "
    "img-src http://frames.example/files/ "
    "data:; base-uri 'none'; form-action 'none'; sandbox allow-scripts"
)
AROUND = (
    f'<!doctype html><div data-page-frame><iframe src="/frame" data-token="{TOKEN}" '
    'sandbox="allow-scripts">'
    "</iframe></div>"
)


class Case(NamedTuple):
    """A page to be shown."""

    group: str
    name: str
    body: bytes
    content_type: str
    site: DemoSite | None = None


class Figures(NamedTuple):
    """What came of a page."""

    group: str
    n_elements: int
    is_exact: bool  # the browser's tree is the stored one
    n_clicks: int
    n_wrong: int
    seconds: float
    n_bytes: int


def run(data: Path | None) -> str:
    """Show pages, click at each element that can be pointed at, and compare."""
    cases = [*demo_cases(), *(real_cases(data) if data else [])]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        measured = [measure(browser, case) for case in cases]
        browser.close()
    return section([figures for figures in measured if figures is not None])


def demo_cases() -> Iterator[Case]:
    for name in sites.NAMES:
        demo = sites.load(name)
        kinds: dict[str, str] = {}
        for path, page in demo.pages.items():
            kinds.setdefault(page.type, path)
        for path in list(kinds.values())[: N_DEMO // len(sites.NAMES)]:
            page = demo.pages[path]
            yield Case("demo sites", path, page.body, page.content_type, demo)


def real_cases(data: Path) -> Iterator[Case]:
    for folder in sorted(path for path in data.iterdir() if path.is_dir()):
        files = sorted(
            path for path in folder.rglob("*.htm*") if path.stat().st_size < MAX_BYTES // 10
        )
        for path in random.Random(7).sample(files, min(PAGES_EACH, len(files))):
            yield Case(folder.name, str(path.relative_to(data)), path.read_bytes(), "text/html")


def measure(browser: Browser, case: Case) -> Figures | None:
    tree = parse_page(case.body, case.content_type).tree
    if tree is None:
        return None
    started = time.perf_counter()
    script = FrameScript("/js/frame_inside.js", "once", TOKEN, HOST)
    shown = render_page(tree, base_url=f"{HOST}/files/", files=files_of(case), script=script)
    seconds = time.perf_counter() - started
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        page = context.new_page()
        page.route("**/*", lambda route: answer(route, shown, case))
        page.goto(HOST)
        is_exact, n_clicks, n_wrong = click(page, case, tree)
    except Error as error:
        print(f"{case.name}: {error}", flush=True)
        is_exact, n_clicks, n_wrong = False, 1, 1
    context.close()
    return Figures(
        case.group, len(number_elements(tree)), is_exact, n_clicks, n_wrong, seconds, len(shown)
    )


def click(page: Page, case: Case, tree: _Element) -> tuple[bool, int, int]:
    page.evaluate(frame_stage.LISTEN.replace("/static/clustering/js/", "/js/"))
    frame_stage.wait_for(page, "ready", 1)
    frame = page.frames[1]
    frame_stage.fill_window(page)
    stored = [[parent, texts] for _, parent, texts in frame_stage.tree_of(tree)]
    is_exact = stored == [[parent, texts] for _, parent, texts in frame_stage.shown_tree(frame)]
    places = frame_stage.places_of_elements(frame)
    some = sorted(random.Random(7).sample(places, min(MOST_CLICKS, len(places))))
    wrong = frame_stage.wrong_clicks(page, some)
    for number, other in wrong[:3]:
        print(f"{case.name}: element {number} was pointed at, {other} taken", flush=True)
    return is_exact, len(some), len(wrong)


def files_of(case: Case) -> FrameFiles:
    """Return the files of a demo site as if they were fetched; real pages have none."""
    if case.site is None:
        return FrameFiles(lambda _url, _kind: None, lambda _url: None)
    assets = {path.rpartition("/")[2]: asset for path, asset in case.site.assets.items()}

    def sheet_of(url: str) -> str | None:
        asset = assets.get(url.rpartition("/")[2])
        return (
            clean_stylesheet(asset.body.decode(), lambda written: f"{HOST}/{written.lstrip('/')}")
            if asset
            else None
        )

    def address_of(url: str, _kind: str) -> str | None:
        return f"/files/{url.rpartition('/')[2]}" if url.rpartition("/")[2] in assets else None

    return FrameFiles(address_of, sheet_of)


def answer(route: Route, shown: bytes, case: Case) -> None:
    path = urlsplit(route.request.url).path
    name = path.rpartition("/")[2]
    if path == "/":
        route.fulfill(body=AROUND, content_type="text/html")
    elif path == "/frame":
        headers = {
            "Content-Type": "application/xhtml+xml; charset=utf-8",
            "Content-Security-Policy": POLICY,
        }
        route.fulfill(body=shown, headers=headers)
    elif path.startswith("/js/"):
        route.fulfill(body=(SCRIPTS / name).read_bytes(), content_type="text/javascript")
    else:
        results = [
            one
            for at, one in (case.site.assets if case.site else {}).items()
            if at.endswith(f"/{name}")
        ]
        if results:
            route.fulfill(body=results[0].body, content_type=results[0].content_type)
        else:
            route.abort()


def section(figures: list[Figures]) -> str:
    groups = ["demo sites", *sorted({row.group for row in figures} - {"demo sites"})]
    rows = [row_of(group, [row for row in figures if row.group == group]) for group in groups]
    real = [row for row in figures if row.group != "demo sites"]
    if real:
        rows.append(row_of("all real pages", real))
    table = markdown_table(
        [
            "pages",
            "pages",
            "elements",
            "exact trees",
            "clicks",
            "right",
            "rendering, median ms",
            "KB",
        ],
        rows,
    )
    return (
        "For each element that the browser finds at some point of its boxes, "
        "the mouse is pressed at such a "
        "point: right is the share of clicks that take exactly that element. "
        "A tree is exact where the "
        "browser's elements, parents and texts are those of the stored page. At most "
        f"{MOST_CLICKS} elements of a page; real pages are shown without their style "
        f"sheets.\n\n{table}"
    )


def row_of(group: str, figures: list[Figures]) -> list[object]:
    n_clicks = sum(row.n_clicks for row in figures)
    n_right = n_clicks - sum(row.n_wrong for row in figures)
    return [
        group,
        len(figures),
        f"{sum(row.n_elements for row in figures):,}",
        f"{sum(row.is_exact for row in figures)} of {len(figures)}",
        f"{n_clicks:,}",
        f"{100 * n_right / max(1, n_clicks):.2f} %",
        f"{1000 * statistics.median(row.seconds for row in figures):.0f}",
        f"{statistics.median(row.n_bytes for row in figures) / 1000:.0f}",
    ]
