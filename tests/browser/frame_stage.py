"""Stored pages with what they are drawn with, and a look into their frames."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils import timezone
from lxml import etree
from playwright.sync_api import Frame, Page
from pytest_django import Settings

from clustering.dom.frame import markup
from clustering.dom.frame.rendering import number_elements
from clustering.dom.page import parse_page
from clustering.fetching.guard import networks
from clustering.models import Snapshot
from clustering.services.looks import assets
from tests.browser.conftest import PATIENCE
from tests.browser.stage import add_page
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs
from vertex.core.storage import page_store
from vertex.demo import sites
from vertex.demo.sites.server import DemoServer


def demo_snapshots(name: str, edition: str, n: int, settings: Settings) -> list[Snapshot]:
    """Store pages of a demo site, one of each kind first, with the assets that its server gives."""
    demo = sites.load(name, edition)
    by_type: dict[str, list[str]] = {}
    for path, page in demo.pages.items():
        by_type.setdefault(page.type, []).append(path)
    ranked = sorted(
        (rank, kind, path) for kind, paths in by_type.items() for rank, path in enumerate(paths)
    )
    with DemoServer(demo) as server:
        site = Site.objects.create(name=name, root_url=f"{server.url}/", crawl_delay=0.0)
        settings.ALLOWED_NETWORKS = networks(["127.0.0.0/8"])
        snapshots = [
            snapshot_of(
                site, f"{server.url}{path}", demo.pages[path].body, demo.pages[path].content_type
            )
            for _, _, path in ranked[:n]
        ]
        fetch(snapshots)
    return snapshots


def site_of(name: str) -> Site:
    return Site.objects.create(name=name, root_url=f"https://{name}.example/", crawl_delay=0.0)


def snapshot_of(
    site: Site, url: str, body: bytes, content_type: str = "text/html; charset=utf-8"
) -> Snapshot:
    page = add_page(site, url, now=timezone.now(), bodies=(body,), state="stored", status=200)
    assert page.latest_snapshot is not None
    rows = Snapshot.objects.filter(pk=page.latest_snapshot.pk)
    rows.update(fetched_at=timezone.now(), content_type=content_type, encoding="")
    return Snapshot.objects.select_related("page__site").get(pk=page.latest_snapshot.pk)


def fetch(snapshots: Iterable[Snapshot], **options: Any) -> Job:
    """Fetch what the snapshots are drawn with, in this process."""
    job = assets.start_fetching_assets(snapshots=snapshots, **options)
    assert job is not None
    done = jobs.run_job(job.pk, assets.fetch_assets)
    assert Job.State.DONE == done.state, done.error
    return done


def look_address(snapshot: Snapshot) -> str:
    return (
        f"/sites/{snapshot.page.site.name}/pages/{snapshot.page_id}/snapshots/{snapshot.pk}/look/"
    )


def inside(page: Page) -> Frame:
    """Return the frame once its script is ready, and let the page keep what it tells in `told`."""
    page.evaluate(LISTEN)
    wait_for(page, "ready", 1)
    return page.frames[1]


def wait_for(page: Page, kind: str, n: int) -> list[Any]:
    """Return the messages of a kind from the frame, once there are n.

    The page's policy forbids other ways to wait.
    """
    result: list[Any] = page.evaluate(WAIT, [kind, n, PATIENCE])
    return result


WAIT = """async ([kind, n, patience]) => {
  const end = Date.now() + patience;
  while (told[kind].length < n) {
    if (Date.now() > end) throw new Error(`${told[kind].length} messages ${kind}, not ${n}`);
    await new Promise((done) => setTimeout(done, 5));
  }
  return told[kind];
}"""


LISTEN = """async () => {
  const { PageFrame } = await import("/static/clustering/js/page_frame.js");
  window.told = { ready: [], hover: [], take: [], key: [], scroll: [] };
  window.frame = new PageFrame(document.querySelector("[data-page-frame] iframe"));
  for (const type of Object.keys(told)) {
    frame.addEventListener(type, ({ detail }) => told[type].push(detail));
  }
}"""


def shown_tree(frame: Frame) -> list[list[Any]]:
    """Return name, parent's number and texts of each element of the frame, by number."""
    shown: list[list[Any]] = frame.evaluate(TREE)
    return shown


TREE = """() => {
  const elements = [], numberOf = new Map();
  for (const one of document.querySelectorAll("[data-n]")) {
    elements[one.getAttribute("data-n")] = one;
    numberOf.set(one, Number(one.getAttribute("data-n")));
  }
  // A form may have a field of that name.
  const { get } = Object.getOwnPropertyDescriptor(Node.prototype, "parentNode");
  const up = (one) => {
    do { one = get.call(one) } while (one && one.nodeType === 1 && !numberOf.has(one));
    return one;
  };
  const isAdded = (one) =>
    one.nodeType === 1 && one.localName === "tbody" && !numberOf.has(one);
  const texts = (one) => [...one.childNodes].flatMap((child) =>
    child.nodeType === 3 ? [child.data] : isAdded(child) ? texts(child) : []);
  const hasNone = (one) => /^(vertex-)?(style|script|template)$/.test(one.localName);
  return elements.map((one) =>
    [one.localName, numberOf.get(up(one)) ?? null, hasNone(one) ? [] : texts(one)]);
}"""


# The same for documents that are not shown, but read as the frame is; without names.
TREES = (
    """(documents) => documents.map((written) => {
  const document = new DOMParser().parseFromString(written, "application/xhtml+xml");
  return ("""
    + TREE
    + """)().map(([name, parent, texts]) => [parent, texts]);
})"""
)


def stored_tree(snapshot: Snapshot) -> list[list[Any]]:
    """Return the same of the stored page, as the parser reads it."""
    tree = parse_page(page_store().read(snapshot.body), snapshot.content_type).tree
    assert tree is not None
    return tree_of(tree)


def tree_of(tree: etree._Element) -> list[list[Any]]:
    """Return name, parent's number and texts of each element of a parsed page."""
    elements = number_elements(tree)
    numbers: dict[Any, int] = {element: number for number, element in enumerate(elements)}
    return [
        [shown_name(one), numbers.get(one.getparent()), [] if is_textless(one) else texts_of(one)]
        for one in elements
    ]


def is_textless(element: etree._Element) -> bool:
    return element.tag in {"script", "style", "template"}


def texts_of(element: etree._Element) -> list[str]:
    return [text for text in (element.text, *(child.tail for child in element)) if text]


def shown_name(element: etree._Element) -> str:
    """Return the name that an element of plain HTML gets in the frame."""
    if element.tag == "link":
        return "style" if "stylesheet" in element.get("rel", "") else "vertex-link"
    return markup.element_name(str(element.tag), is_empty=not len(element) and not element.text)


def fill_window(page: Page, width: int = 1280) -> None:
    """Let the frame fill the window and the window hold the whole page, so that nothing scrolls."""
    page.evaluate(FILL)
    page.frames[1].evaluate(SETTLED)  # a page that grows later would scroll under the clicks
    height = page.frames[1].evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": width, "height": min(max(int(height), 600), 12_000)})


FILL = """() => {
  const view = document.querySelector("[data-page-frame] iframe");
  view.style.cssText = "position:fixed;inset:0;width:100vw;height:100vh;" +
    "border:0;border-radius:0;z-index:1000";
}"""


def places_of_elements(frame: Frame) -> list[list[float]]:
    """Return number, x and y of a point of each element at which the browser finds it."""
    frame.evaluate(SETTLED)
    places: list[list[float]] = frame.evaluate(PLACES)
    return places


# Styles, fonts and pictures that come late move what stands below them.
SETTLED = """async () => {
  if (document.readyState !== "complete") {
    await new Promise((done) => addEventListener("load", done, {once: true}));
  }
  await document.fonts.ready;
  await Promise.allSettled([...document.images].map((image) => image.decode()));
  const frame = () => new Promise(requestAnimationFrame);
  for (let same = 0, was = -1; same < 3; await frame()) {
    const now = document.documentElement.scrollHeight;
    same = now === was ? same + 1 : 0;
    was = now;
  }
}"""


PLACES = """() => {
  const steps = [.5, .1, .9, .3, .7, .02, .98], found = [];
  const pointOf = (one) => {
    for (const rect of one.getClientRects())
      for (const dx of steps) for (const dy of steps) {
        const x = rect.left + rect.width * dx, y = rect.top + rect.height * dy;
        if (document.elementFromPoint(x, y) === one) return [x, y];
      }
    return null;
  };
  for (const one of document.querySelectorAll("[data-n]")) {
    const point = pointOf(one);
    if (point) found.push([Number(one.getAttribute("data-n")), ...point]);
  }
  return found;
}"""


def wrong_clicks(page: Page, places: list[list[float]]) -> list[tuple[int, Any]]:
    """Click at each place and return the numbers for which another node, or none, was taken."""
    page.evaluate("told.take.length = 0")
    devtools = page.context.new_cdp_session(page)
    for _, x, y in places:
        button = {"x": x, "y": y, "button": "left", "clickCount": 1}
        devtools.send("Input.dispatchMouseEvent", {"type": "mousePressed", **button})
        devtools.send("Input.dispatchMouseEvent", {"type": "mouseReleased", **button})
    numbers = [take["number"] for take in wait_for(page, "take", len(places))]
    wanted = [int(number) for number, _, _ in places]
    return [
        (number, other) for number, other in zip(wanted, numbers, strict=True) if number != other
    ]
