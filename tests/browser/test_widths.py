"""Every page fits its window at any usual width, breaks none of our words, and serves everybody.

Each page is loaded once, and looked at in all widths, by the rules of axe where it is wide, narrow
and in the dark.
"""

from __future__ import annotations

from datetime import time

import pytest
from django.utils import timezone
from playwright.sync_api import Page

from monitoring.models import KeptList
from monitoring.services.stream.kept_lists import add_list, drop_list
from rules.models import Record
from tests.apps.rules.record_cast import record_of, rule_of
from tests.browser.conftest import WIDE, OpenPage
from tests.browser.test_accessibility import findings_here, heading_gaps, too_wide
from tests.browser.test_interface import paths_of
from vertex.core.models import Job, Site

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NARROW = 390
WIDTHS = (NARROW, 768, 1024, 1440, WIDE)  # the last one is the one of the dark
N_PARTS = 3  # for several workers
ATTRIBUTES = ("regularPrice", "availability", "reviewCount", "mainImage", "description")
# Words, not addresses, paths and values, that stand on more than one line.
BROKEN_WORDS = """() => {
  const broken = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const holder = walker.currentNode.parentElement;
    const isOther = holder.closest("code, pre, script, style, .mono, .path, .url-cell");
    if (isOther || !holder.checkVisibility()) continue;
    for (const word of walker.currentNode.data.matchAll(/[A-Z]?[a-z]{2,}|[A-Z]{3,}/g)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, word.index);
      range.setEnd(walker.currentNode, word.index + word[0].length);
      const boxes = [...range.getClientRects()].filter((box) => box.width);
      const tops = new Set(boxes.map((box) => Math.round(box.top)));
      if (tops.size > 1) broken.push(word[0]);
    }
  }
  return broken;
}"""

# Buttons and names that stand outside what frames them, where nobody sees them.
CUT_OFF = """() => [...document.querySelectorAll("main :is(button, a.button, .badge, .row-name)")]
  .filter((element) => element.checkVisibility())
  .filter((element) => !element.closest(".hidden-text, .copy, .ellipsis, .scroll"))
  .filter((element) => {
    const frame = element.closest(".table-frame, .panel, .next-step, .pipeline");
    const [own, outer] = [element.getBoundingClientRect(), frame?.getBoundingClientRect()];
    return outer && own.width > 1 && own.right > outer.right + 1;
  })
  .map((element) => element.textContent.trim())"""


def record_with_long_names(site: Site) -> Record:
    rule = rule_of(site)
    rule.schema = [{"name": name, "type": "text"} for name in ATTRIBUTES]
    rule.save()
    page = site.pages.filter(latest_snapshot__isnull=False).order_by("pk").first()
    assert page is not None
    path = "/html/body/div[2]/main/section[3]/div/div[1]/span/text()"
    return record_of(
        rule,
        page,
        values=dict.fromkeys(ATTRIBUTES, "Edelrid Bergschrund rope, 60 m"),
        raw=dict.fromkeys(ATTRIBUTES, " Edelrid Bergschrund rope, 60 m "),
        nodes=dict.fromkeys(ATTRIBUTES, path),
        confidence=dict.fromkeys(ATTRIBUTES, 1.0),
    )


def give_long_names(site: Site) -> None:
    site.title = "The Courier of the Town and its Surroundings, Morning Edition with Classifieds"
    site.save()
    site.clusters.update(title="Recipes with Preparation Time and Nutritional Information")


def kept_list_with_troubles(site: Site) -> KeptList:
    """Return a list with a long name and address; its last visit failed and none began since."""
    kept_list = add_list(
        site=site,
        name="New arrivals of the spring collection, as the shop itself announces them",
        url=f"{site.root_url}feeds/announcements/spring-collection/arrivals-of-this-week.txt",
        window_end=time(6),
        time_zone="Europe/Vienna",
    )
    kept_list.last_job = Job.objects.create(
        task="t",
        title="Visit the addresses of New arrivals",
        queue="fetch",
        site=site,
        state="failed",
        error="the list answers 404",
    )
    kept_list.last_at = timezone.now()
    kept_list.left_out = "the disk of uploads has 12 MB left, 1,024 are kept free; make room"
    kept_list.save()
    drop_list(kept_list=add_list(site=site, name="Sale", url=f"{site.root_url}sale.txt"))
    return kept_list


def misfits(page: Page) -> list[str]:
    """Return that the page is too wide, if it is, which words it breaks and texts it cuts off."""
    return [
        *too_wide(page),
        *(f"breaks {word}" for word in page.evaluate(BROKEN_WORDS)),
        *(f"cuts off {text}" for text in page.evaluate(CUT_OFF)),
    ]


def findings(page: Page, address: str, *, by_axe: bool) -> list[str]:
    """Return a page's faults at all widths; `by_axe` adds what axe finds at two and in the dark."""
    page.emulate_media(color_scheme="light")
    page.goto(address)
    results = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        results += [f"{address} at {width}: {misfit}" for misfit in misfits(page)]
        if by_axe and width in {NARROW, WIDE}:
            results += [f"at {width}: {finding}" for finding in findings_here(page, address)]
    if by_axe:
        results += [f"{address} {gap}" for gap in heading_gaps(page)]
        page.emulate_media(color_scheme="dark")
        in_the_dark = findings_here(page, address, "color-contrast")
        results += [f"in the dark: {finding}" for finding in in_the_dark]
    return results


@pytest.mark.parametrize("part", range(N_PARTS))
def test_every_page_fits_its_window_and_can_be_used_by_everybody(
    open_page: OpenPage, shop: Site, part: int
) -> None:
    looked_at_by_axe = set(paths_of(shop))
    record = record_with_long_names(shop)
    give_long_names(shop)
    kept_list = kept_list_with_troubles(shop)
    home = f"/sites/{shop.name}"
    page = open_page("/sites/")
    addresses = [
        *paths_of(shop),
        "/monitoring/",
        "/monitoring/site-changes/",
        "/review/",
        "/settings/verticals/",
        f"{home}/clusterings/",
        f"{home}/records/",
        f"{home}/records/{record.pk}/",
        f"{home}/rules/",
        f"{home}/rules/{record.cluster.name}/",
        f"{home}/monitoring/",
        f"{home}/monitoring/settings/",
        f"{home}/stream/",
        f"{home}/crawl-picture/",
        f"{home}/kept-lists/",
        f"{home}/kept-lists/{kept_list.pk}/",
    ]
    assert "" == "\n".join(
        finding
        for address in addresses[part::N_PARTS]
        for finding in findings(page, address, by_axe=address in looked_at_by_axe)
    )
