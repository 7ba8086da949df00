"""No page is wider than its window, and no word of ours is broken inside, at any usual width."""

from __future__ import annotations

from datetime import time

import pytest
from django.utils import timezone
from playwright.sync_api import Page

from monitoring.models import KeptList
from monitoring.services.stream.kept_lists import add_list, drop_list
from rules.models import Record
from tests.apps.rules.record_cast import record_of, rule_of
from tests.browser.conftest import OpenPage
from tests.browser.test_accessibility import too_wide
from tests.browser.test_interface import paths_of
from vertex.core.models import Job, Site

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WIDTHS = (390, 768, 1024, 1280, 1440)
ATTRIBUTES = ("regularPrice", "availability", "reviewCount", "mainImage", "description")
# Words, not addresses, paths and values, that stand on more than one line.
BROKEN_WORDS = """() => {
  const broken = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const holder = walker.currentNode.parentElement;
    if (!holder.checkVisibility() || holder.closest("code, pre, script, style, .mono, .path, .url-cell")) continue;
    for (const word of walker.currentNode.data.matchAll(/[A-Z]?[a-z]{2,}|[A-Z]{3,}/g)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, word.index);
      range.setEnd(walker.currentNode, word.index + word[0].length);
      const tops = new Set([...range.getClientRects()].filter((r) => r.width).map((r) => Math.round(r.top)));
      if (tops.size > 1) broken.push(word[0]);
    }
  }
  return broken;
}"""

# Buttons and names that stand outside what frames them, where nobody sees them.
CUT_OFF = """() => [...document.querySelectorAll("main :is(button, a.button, .badge, .row-name)")]
  .filter((element) => element.checkVisibility() && !element.closest(".hidden-text, .copy, .ellipsis, .scroll"))
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
    """Return a list with a long name and address whose last visit failed, and none began after it."""
    kept_list = add_list(
        site=site,
        name="New arrivals of the spring collection, as the shop itself announces them",
        url=f"{site.root_url}feeds/announcements/spring-collection/arrivals-of-this-week.txt",
        window_end=time(6),
        time_zone="Europe/Vienna",
    )
    kept_list.last_job = Job.objects.create(
        task="t", queue="fetch", site=site, state="failed", error="the list answers 404"
    )
    kept_list.last_at = timezone.now()
    kept_list.left_out = "the disk of uploads has 12 MB left, 1,024 are kept free; make room"
    kept_list.save()
    drop_list(kept_list=add_list(site=site, name="Sale", url=f"{site.root_url}sale.txt"))
    return kept_list


def findings(page: Page, address: str) -> list[str]:
    """Return at which widths a page is too wide, which words it breaks, and what it cuts off."""
    results = []
    page.goto(address)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        if too_wide(page):
            results.append(f"{address} is too wide at {width}: {too_wide(page)}")
        results += [f"{address} breaks {word} at {width}" for word in page.evaluate(BROKEN_WORDS)]
        results += [f"{address} cuts off {text} at {width}" for text in page.evaluate(CUT_OFF)]
    return results


def test_pages_fit_their_window_and_break_no_word(open_page: OpenPage, shop: Site) -> None:
    record = record_with_long_names(shop)
    give_long_names(shop)
    kept_list = kept_list_with_troubles(shop)
    home = f"/sites/{shop.name}"
    page = open_page("/sites/")
    addresses = [
        *paths_of(shop),
        "/monitoring/",
        "/monitoring/site-changes/",
        "/annotate/",
        "/review/",
        "/settings/verticals/",
        f"{home}/annotate/",
        f"{home}/clusterings/",
        f"{home}/records/",
        f"{home}/records/{record.pk}/",
        f"{home}/rules/",
        f"{home}/rules/{record.cluster.name}/",
        f"{home}/monitoring/",
        f"{home}/monitoring/settings/",
        f"{home}/stream/",
        f"{home}/crawl-picture/",
        f"{home}/delete/",
        f"{home}/kept-lists/",
        f"{home}/kept-lists/{kept_list.pk}/",
    ]
    assert "" == "\n".join(finding for address in addresses for finding in findings(page, address))
