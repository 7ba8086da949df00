"""Write, as text, a Scrapy project and web-poet pages that run a bundle with `vertex-rules`."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

_WORD = re.compile(r"[^A-Za-z0-9]+")
PAGE_MODULE: Final = "page"

_SPIDER: Final = '''\
"""Crawl {site} and yield its records; made from a bundle, to be changed at will.

Install what it needs: pip install -r requirements.txt
Run it with: scrapy runspider spider.py -o records.jsonl
In a project of your own: copy this file, bundle.json and all *.xsl into its folder of spiders.

What to know of Scrapy 2.19 before it crawls more than this site, or faster:
- of requests that wait while robots.txt is on its way it obeys the rules for the first only, and
  fetches the others though they are disallowed; one request at a time, as below, is safe;
- it keeps neither Crawl-delay nor Retry-After: set DOWNLOAD_DELAY to what the site asks for;
- a robots.txt that cannot be read allows everything, and certificates are not checked.
"""

from pathlib import Path

import scrapy
from scrapy.linkextractors import LinkExtractor
from vertex_rules import BundleRules


class {name}Spider(scrapy.Spider):
    name = {spider_name!r}
    allowed_domains = [{host!r}]
    start_urls = [{root_url!r}]
    custom_settings = {{
        "ROBOTSTXT_OBEY": True,
        "DOWNLOAD_DELAY": 1.0,
        "CONCURRENT_REQUESTS": 1,
        # Not 429: it would ask again at once.
        "RETRY_HTTP_CODES": [500, 502, 503, 504, 522, 524, 408],
        # Sends the pages to Vertex, too, where VERTEX_URL, VERTEX_SITE and VERTEX_TOKEN are set.
        "SPIDER_MIDDLEWARES": {{"vertex_rules.PushPages": 10}},
    }}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.rules = BundleRules(Path(__file__).resolve().parent)
        # A host may have a port here, which allowed_domains knows nothing of.
        self.links = LinkExtractor(allow_domains=[{netloc!r}])

    def parse(self, response):
        content_type = response.headers.get("Content-Type", b"").decode("latin-1")
        yield from self.rules.records_of(response.url, response.body, content_type)
        if isinstance(response, scrapy.http.TextResponse):
            for link in self.links.extract_links(response):
                yield response.follow(link, self.parse)
'''

_PAGE: Final = '''"""The pages of {site} for web-poet; made from a bundle, to be changed at will.

Install what it needs: pip install web-poet "pytest<9.1" -r requirements.txt
Test it with: python -m pytest fixtures

From pytest 9.1 on web-poet 0.24 says that a fixture differs by an internal error, without the
difference.
"""

from pathlib import Path

from vertex_rules import BundleRules
from web_poet import WebPage, field, handle_urls

RULES = BundleRules(Path(__file__).resolve().parent)


@handle_urls({host!r})
class {page_class}(WebPage):
    @field
    def records(self):
        content_type = self.response.headers.get("Content-Type", "")
        return RULES.lines_of(str(self.response.url), bytes(self.response.body), content_type)
'''

_SETTINGS: Final = """[settings]
default = settings
"""


def project_files(site: str, root_url: str, package: str) -> dict[str, str]:
    """Return the files of a project that runs the bundle in its folder; it requires `package`."""
    names = _names(site, root_url)
    return {
        "spider.py": _SPIDER.format(**names),
        f"{PAGE_MODULE}.py": _PAGE.format(**names),
        "settings.py": f'BOT_NAME = {names["site"]!r}\nSPIDER_MODULES = ["spider"]\n',
        "scrapy.cfg": _SETTINGS,
        "requirements.txt": f"scrapy\n{package}\n",
    }


def page_type(site: str, root_url: str) -> str:
    """Return the full name of the page class: the folder of its fixtures is called so.

    >>> page_type("shop", "http://s.example/")
    'page.ShopPage'
    """
    return f"{PAGE_MODULE}.{_names(site, root_url)['page_class']}"


def _names(site: str, root_url: str) -> dict[str, str]:
    words = _WORD.sub(" ", site).split()
    name = "".join(word[:1].upper() + word[1:] for word in words)
    if not name[:1].isalpha():
        name = f"Site{name}"
    root = urlsplit(root_url)
    return {
        "site": " ".join(words) or "the site",
        "spider_name": site,
        "name": name,
        "page_class": f"{name}Page",
        "host": root.hostname or "",
        "netloc": root.netloc,
        "root_url": root_url,
    }
