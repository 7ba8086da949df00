"""Sitemaps are read whatever their form, and hostile ones cost no more than others."""

from __future__ import annotations

import time
import tracemalloc
from datetime import UTC, datetime

import pytest

from clustering.dom import sitemaps
from clustering.dom.sitemaps import (
    MAX_ENTRIES,
    MAX_ENTRY_BYTES,
    SitemapEntry,
    read_sitemap,
    read_time,
    sitemaps_of_robots,
)

URLSET = b"""<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
 <url><loc> http://a.example/1?b=1&amp;c=2 </loc><lastmod>2024-05-06</lastmod></url>
 <url><lastmod>2024-05-06T10:00:00Z</lastmod><loc><![CDATA[http://a.example/2]]></loc></url>
 <url><priority>1</priority></url>
</urlset>"""


def test_a_list_of_addresses_has_times() -> None:
    assert list(read_sitemap(URLSET)) == [
        SitemapEntry("http://a.example/1?b=1&c=2", last_modified=datetime(2024, 5, 7, tzinfo=UTC)),
        SitemapEntry("http://a.example/2", last_modified=datetime(2024, 5, 6, 10, tzinfo=UTC)),
    ]


def test_an_index_lists_further_sitemaps() -> None:
    index = b"<s:sitemapindex><s:sitemap><s:loc>http://a.example/b.xml</s:loc></s:sitemap>"

    assert list(read_sitemap(index)) == [SitemapEntry("http://a.example/b.xml", is_sitemap=True)]


def test_lines_of_text_are_addresses() -> None:
    entries = list(read_sitemap(b"http://a.example/1\r\n\r\nhttp://a.example/2\r\n"))

    assert [entry.url for entry in entries] == ["http://a.example/1", "http://a.example/2"]


def test_an_entry_may_stand_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list(read_sitemap(URLSET))
    for n_bytes in range(1, 60):
        monkeypatch.setattr(sitemaps, "SLICE", n_bytes)
        assert whole == list(read_sitemap(URLSET))


def test_lines_without_an_address_take_no_memory() -> None:
    blank = b"\n" * 5_000_000
    tracemalloc.start()
    try:
        assert [] == list(read_sitemap(blank))
        assert tracemalloc.get_traced_memory()[1] < len(blank)
    finally:
        tracemalloc.stop()


def test_an_address_of_megabytes_is_cut() -> None:
    (entry,) = read_sitemap(b"http://a.example/" + b"a" * 1_000_000)

    assert len(entry.url) == MAX_ENTRY_BYTES


@pytest.mark.parametrize("body", [b"", b"<", b"\xff\xfe<url>", b"<url><loc>", b"<html><p>404</p>"])
def test_what_is_no_sitemap_has_no_entries(body: bytes) -> None:
    assert list(read_sitemap(body)) == []


@pytest.mark.parametrize(
    "body",
    [
        b"<url>" * 2_000_000,
        b"<url><loc>" + b" " * 5_000_000,
        b"<url " + b"a" * 5_000_000,
        b"<url><loc>x</loc></url>" * 200_000,
        b"<![CDATA[" * 500_000,
        b"http://a.example/1\n" * 200_000,
    ],
)
def test_hostile_files_are_read_within_bounds(body: bytes) -> None:
    begun = time.process_time()

    assert len(list(read_sitemap(body))) <= MAX_ENTRIES
    assert time.process_time() - begun < 20


def test_robots_txt_names_sitemaps() -> None:
    text = (
        "User-agent: *\nsitemap: http://a.example/1\n SITEMAP :http://a.example/2 # x\nSitemap:\n"
    )

    assert sitemaps_of_robots(text) == ["http://a.example/1", "http://a.example/2"]


@pytest.mark.parametrize("written", ["", "yesterday", "2024-13-01", "9999-12-31"])
def test_what_is_no_time_is_none(written: str) -> None:
    assert read_time(written) is None
