"""A page with a list, as it is before anybody has said anything about it."""

from __future__ import annotations

from clustering.models import Page
from rules.models import Rule
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import store
from vertex.core.models import Site

N_RECORDS = 8


def list_page(number: int = 0, *, n: int = N_RECORDS) -> bytes:
    """Return a page of a list; every third record has no price."""
    items = "".join(
        f"<li class=item><img src=/i/{k}.png><h3 class=name><a href=/p/{k}>The thing {k}</a></h3>"
        + (f"<span class=price>{k}.50 EUR</span>" if k % 3 else "")
        + f"<p class=about>What the thing number {k} is about, at some length.</p></li>"
        for k in range(number * n, (number + 1) * n)
    )
    onward = f"<a class=next href='/list?page={number + 2}'>Next</a>"
    return f"<html><body><a href=/help>Help</a><ul>{items}</ul>{onward}</body></html>".encode()


def stored_list(name: str = "shop") -> Page:
    """Return the only page of a site: a list."""
    site = site_of(name)
    store(site, [("list", list_page(), "text/html")])
    return latest(site, "list")


def latest(site: Site, path: str) -> Page:
    return Page.objects.select_related("site", "latest_snapshot").get(
        site=site, url=site.root_url + path
    )


def rule_of_list(site: Site) -> Rule:
    return Rule.objects.select_related("cluster__site", "vertical").get(cluster__site=site)
