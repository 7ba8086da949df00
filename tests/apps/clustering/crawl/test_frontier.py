"""The pages that a crawl still has to visit."""

from __future__ import annotations

import pytest

from clustering.services.crawl import frontier
from clustering.services.crawl.frontier import MetAddresses


class TestMetAddresses:
    def test_an_address_is_new_to_each_crawl_once(self) -> None:
        met = MetAddresses()
        assert [met.is_new(url, 1) for url in ("/a", "/b", "/a")] == [True, True, False]
        assert met.is_new("/a", 2)

    def test_all_crawls_share_the_room(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(frontier, "MAX_REMEMBERED", 4)
        met = MetAddresses()
        assert all(met.is_new("/menu", crawl) for crawl in range(5))
        assert not met.is_new("/menu", 4)
        assert met.is_new("/menu", 0)  # it had to make room

    def test_a_crawl_that_is_over_gives_its_room_back(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(frontier, "MAX_REMEMBERED", 3)
        met = MetAddresses()
        assert met.is_new("/a", 1)
        assert met.is_new("/b", 1)
        assert met.is_new("/a", 2)
        met.forget(1)
        assert met.is_new("/c", 2)
        assert not met.is_new("/a", 2)
        assert met.is_new("/a", 1)
