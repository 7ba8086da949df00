"""The limits of a crawl are the same, whoever gives them."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from clustering.services.crawl.limits import MAX_DELAY, MAX_PAGES, CrawlLimits, entry_at
from clustering.services.crawl.list_crawling import list_crawl_request
from vertex.core.models import Site

SHOP = Site(name="shop", root_url="https://shop.example/")


@pytest.mark.parametrize(
    "limits", [{}, {"max_pages": 1, "delay": 0}, {"max_pages": MAX_PAGES, "delay": MAX_DELAY}]
)
def test_what_is_within_the_bounds_is_taken(limits: dict[str, Any]) -> None:
    assert CrawlLimits(**limits) == CrawlLimits(limits.get("max_pages"), limits.get("delay"))


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"max_pages": 0}, "at least 1 and at most 10,000,000, not 0"),
        ({"max_pages": MAX_PAGES + 1}, "not 10000001"),
        ({"delay": -0.1}, "between 0 and 3600 seconds, not -0.1"),
        ({"delay": MAX_DELAY + 1}, "not 3601"),
        ({"delay": float("inf")}, "not inf"),
        ({"delay": float("nan")}, "not nan"),
    ],
)
def test_what_is_beyond_them_is_refused_with_the_bound(
    limits: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        CrawlLimits(**limits)


@pytest.mark.parametrize("limits", [{"max_pages": 0}, {"delay": -1}])
def test_the_crawl_of_a_list_has_the_same_bounds(limits: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="must be"):
        list_crawl_request(site=SHOP, url=SHOP.root_url, **limits)


def test_a_crawl_begins_at_its_site() -> None:
    assert entry_at(SHOP, "https://SHOP.example/a#top") == "https://shop.example/a"
    with pytest.raises(ValidationError, match="does not belong to the site shop"):
        entry_at(SHOP, "https://other.example/")
    with pytest.raises(ValidationError, match="not an absolute address"):
        entry_at(SHOP, "nonsense")
