"""Write a Scrapy spider and a web-poet page that run a bundle, as text."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

_WORD = re.compile(r"[^A-Za-z0-9]+")

_SPIDER: Final = '''"""Crawl {site} and yield its records; made from a bundle, to be changed at will.

Run it with: scrapy runspider spider.py -o records.jsonl
"""

from pathlib import Path

import scrapy
from scrapy.linkextractors import LinkExtractor

from clustering.algorithms.grouping import RawPage
from rules.algorithms.running.record_lines import line_json
from rules.bundle.bundle import read_bundle
from rules.bundle.extraction import lines_of


class {name}Spider(scrapy.Spider):
    name = {site!r}
    allowed_domains = [{host!r}]
    start_urls = [{root_url!r}]
    custom_settings = {{"ROBOTSTXT_OBEY": True, "DOWNLOAD_DELAY": 1.0}}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.rules = read_bundle(Path(__file__).parent).rules
        self.links = LinkExtractor(allow_domains=self.allowed_domains)

    def parse(self, response):
        content_type = response.headers.get("Content-Type", b"").decode("latin-1")
        for line in lines_of(RawPage(response.url, response.body, content_type), self.rules):
            if line.rule is not None:
                yield line_json(line)
        for link in self.links.extract_links(response):
            yield response.follow(link, self.parse)
'''

_PAGE: Final = '''"""The pages of {site} for web-poet; made from a bundle, to be changed at will."""

from pathlib import Path

from web_poet import WebPage, field, handle_urls

from clustering.algorithms.grouping import RawPage
from rules.algorithms.running.record_lines import line_json
from rules.bundle.bundle import read_bundle
from rules.bundle.extraction import lines_of

RULES = read_bundle(Path(__file__).parent).rules


@handle_urls({host!r})
class {name}Page(WebPage):
    @field
    def records(self):
        content_type = self.response.headers.get("Content-Type", "")
        page = RawPage(str(self.response.url), self.response.body, content_type)
        return [line_json(line) for line in lines_of(page, RULES)]
'''


def spider_text(site: str, root_url: str) -> str:
    """Return the module of a Scrapy spider that runs the bundle in its own folder."""
    return _SPIDER.format(**_names(site, root_url))


def page_text(site: str, root_url: str) -> str:
    """Return the module of a web-poet page that runs the bundle in its own folder."""
    return _PAGE.format(**_names(site, root_url))


def _names(site: str, root_url: str) -> dict[str, str]:
    words = _WORD.sub(" ", site).split()
    name = "".join(word[:1].upper() + word[1:] for word in words)
    readable = " ".join(words) or "the site"
    host = urlsplit(root_url).hostname or ""
    return {
        "site": readable,
        "name": f"Site{name}" if not name[:1].isalpha() else name,
        "host": host,
        "root_url": root_url,
    }
