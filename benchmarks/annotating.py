"""How fast and with how few keys clusters are annotated, measured in a real browser.

The editor is a script that knows the truth, confirms what is right, corrects what is not by keyboard alone
and stops where the product says that no further page is needed.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.report import markdown_table

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TITLE = "Annotating"
ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = os.environ.get("VERTEX_CHROMIUM", "/usr/bin/chromium")
TYPES = {
    "alpine-shop": "product",
    "town-guide": "listing",
    "the-courier": "article",
    "tinker-board": "thread",
}
N_ACCEPTED = 24
PAUSE = 1_000  # milliseconds that a person looks at a page at least
FILLING = (
    "<p>" + "Spare parts for ten years, a repair table in every shop, and a map of the way. " * 12 + "</p>"
)
N_FILLINGS = 80  # about 80 KB beside the page itself
# From the key to the frame in which the next sample is painted.
CLOCK = """
window.accepted = [];
// A sample that is ready is shown before this listener is asked, so the one before is remembered.
let before = document.querySelector(".sample:not(.is-waiting)");
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  const began = event.timeStamp;
  const look = () => {
    const shown = document.querySelector(".sample:not(.is-waiting)");
    if (shown === before) return requestAnimationFrame(look);
    before = shown;
    requestAnimationFrame(() => setTimeout(() => window.accepted.push(performance.now() - began)));
  };
  requestAnimationFrame(look);
}, { capture: true });
"""


def run(data: Path | None) -> str:  # noqa: ARG001 - this one makes its own pages
    """Annotate the demo sites and return the figures."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("VERTEX_")}
        environ |= {"VERTEX_VAR": folder, "DJANGO_ALLOW_ASYNC_UNSAFE": "1"}
        child = [sys.executable, "-m", "benchmarks.annotating"]
        told = subprocess.run(child, env=environ, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    figures = json.loads(told.stdout.splitlines()[-1])
    waits = [["with a look of a second at each page", *_spread(figures["paced"])]]
    waits += [["as fast as the keys go", *_spread(figures["hurried"])]]
    rows = [
        [
            name,
            one["attributes"],
            one["samples"],
            one["pages"],
            one["keys"],
            ", ".join(one["corrected"]) or "none",
        ]
        for name, one in figures["clusters"].items()
    ]
    pages = statistics.mean(one["pages"] for one in figures["clusters"].values())
    return (
        f"From the key that accepts a page to the next page on the screen, {N_ACCEPTED} samples of about "
        f"100 KB:\n\n{markdown_table(['accept and next', 'median ms', 'p95 ms', 'most ms'], waits)}\n\n"
        "Wanted: 95 % below 100 ms.\n\n"
        "From nothing to the stop sign, with the keyboard alone and with suggestions; every typed character "
        "counts as a key:\n\n"
        + markdown_table(["site", "attributes", "samples", "pages", "keys", "corrected"], rows)
        + f"\n\n{pages:.2f} pages a cluster (wanted: 1.4 at most)."
    )


def _spread(times: list[float]) -> list[str]:
    ordered = sorted(times)
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return [f"{figure:.0f}" for figure in (statistics.median(ordered), p95, ordered[-1])]


def measure() -> None:
    """Serve an installation of its own and annotate it in a browser."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vertex.settings")
    django.setup()
    from django.contrib.staticfiles.handlers import StaticFilesHandler
    from django.core.management import call_command
    from django.test.testcases import LiveServerThread
    from playwright.sync_api import sync_playwright

    call_command("migrate", verbosity=0)
    server = LiveServerThread("localhost", StaticFilesHandler)
    server.daemon = True
    server.start()
    server.is_ready.wait()
    address = f"http://localhost:{server.port}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        figures = {"clusters": annotate_sites(browser, address), **accept_pages(browser, address)}
        browser.close()
    server.terminate()
    sys.stdout.write(f"\n{json.dumps(figures)}\n")


def annotate_sites(browser: Browser, address: str) -> dict[str, Any]:
    """Annotate the largest type of each demo site until the stop sign."""
    from tests.browser.annotating_stage import set_annotating_stage
    from tests.browser.scripted_editor import ScriptedEditor

    found = {}
    for site_name, type_name in TYPES.items():
        stage = set_annotating_stage(type_name, site_name=site_name, n_pages=40, n_samples=20, attributes=99)
        page = _open(browser, address, f"/sites/{stage.site.name}/clusters/{type_name}/samples/1/")
        editor = ScriptedEditor(page, stage)
        editor.annotate_until_enough()
        found[site_name] = {
            "attributes": len(editor.names()),
            "samples": 20,
            "pages": editor.n_pages,
            "keys": editor.n_keys,
            "corrected": editor.corrected,
        }
        page.context.close()
    return found


def accept_pages(browser: Browser, address: str) -> dict[str, list[float]]:
    """Accept page after page, and return how long each took."""
    from tests.browser.annotating_stage import set_annotating_stage

    found = {}
    for n, (name, pause) in enumerate([("paced", PAUSE), ("hurried", 0)]):
        stage = set_annotating_stage(
            n_pages=N_ACCEPTED + 2,
            n_samples=N_ACCEPTED + 2,
            filling=FILLING * N_FILLINGS,
            name=f"large-{n}",
        )
        page = _open(browser, address, f"/sites/{stage.site.name}/clusters/product/samples/1/")
        page.evaluate(CLOCK)
        page.wait_for_timeout(3 * PAUSE)
        for done in range(1, N_ACCEPTED + 1):
            page.keyboard.press("Enter")
            while page.evaluate("window.accepted.length") < done:
                page.wait_for_timeout(20)
            page.wait_for_timeout(pause)
        found[name] = page.evaluate("window.accepted")
        page.context.close()
    return found


def _open(browser: Browser, address: str, path: str) -> Page:
    """Open a page as somebody who may publish."""
    from django.test import Client

    from clustering.models import Membership, Role, User

    reviewer, is_new = User.objects.get_or_create(username="reviewer")
    if is_new:
        Membership.objects.create(user=reviewer, role=Role.REVIEWER)
    client = Client()
    client.force_login(reviewer)
    context = browser.new_context(viewport={"width": 1280, "height": 900}, base_url=address)
    cookie = client.cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": cookie, "url": address}])
    page = context.new_page()
    page.goto(path)
    return page


if __name__ == "__main__":
    measure()
