"""What robots.txt forbids is not asked for; what cannot be read forbids everything."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from clustering.fetching.client import Client, Fetcher
from clustering.fetching.guard import Guard, networks
from clustering.fetching.loop import wait_for
from clustering.fetching.robots import (
    MAX_ROBOTS_BYTES,
    MAX_RULES,
    MAX_WILDCARDS,
    Robots,
    RobotsUnavailable,
    product_token,
    read_robots,
)
from tests.apps.clustering.fake_host import Answer, FakeHost, moved

AGENT = "Vertex/0.1 (+https://example.org/bot)"


@pytest.fixture
def fetcher() -> Iterator[Fetcher]:
    with Fetcher(Client(AGENT, Guard(networks(["127.0.0.0/8"])))) as one:
        yield one


def robots_of(text: str) -> Robots:
    return Robots(text, AGENT)


@pytest.mark.parametrize(
    ("text", "path", "is_allowed"),
    [
        ("", "/a", True),
        ("User-agent: *\nDisallow:", "/a", True),
        ("User-agent: *\nDisallow: /", "/a", False),
        ("User-agent: *\nDisallow: /a", "/b", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nDisallow: /*.pdf$", "/a.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/a.pdf?x", True),
        ("User-agent: vertex\nDisallow: /a\nUser-agent: *\nDisallow: /", "/b", True),
        ("User-agent: Vertex\nDisallow: /a", "/a", False),
        ("User-agent: other\nDisallow: /", "/a", True),
        ("\ufeffUser-agent: *\nDisallow: /a", "/a", False),
        ("User-agent: *\r\nDisallow: /caf%C3%A9", "/café", False),
        ("<html>not found</html>", "/a", True),
        ("User-agent: *\nAllow: /\nUser-agent: ver*\nDisallow: /a", "/a", False),
        (
            "User-agent: x\nUser-agent\nuser agent vertex # us\nSitemap: /s\nDisallow /a",
            "/a",
            False,
        ),
        ("User-agent: vertex\nA word.\nUser-agent: x\nDisallow: /a", "/a", False),
        ("User-agent: vertex\nNoindex: /b\nUser-agent: x\nDisallow: /a", "/a", True),
        ("User-agent: *\nDisallow: /a\nUser-agent: subvertex\nAllow: /", "/a", False),
        ("User-agent: vertex\nUser-agent: *\nDisallow: /a", "/a", False),
    ],
)
def test_rules_are_read_as_search_engines_do(text: str, path: str, *, is_allowed: bool) -> None:
    assert robots_of(text.removeprefix("\ufeff")).allows(f"https://shop.test{path}") == is_allowed


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("User-agent: *\nDisallow: /a", 0),
        ("User-agent: *\nCrawl-delay: 2.5", 2.5),
        ("User-agent: *\nRequest-rate: 1/10", 10),
        ("User-agent: vertex\nCrawl-delay: 3\nUser-agent: *\nCrawl-delay: 9", 3),
        ("User-agent: *\nCrawl-delay: soon", 0),
        ("User-agent: *\nCrawl-delay: inf", 0),
        ("User-agent: *\nCrawl-delay: -1", 0),
        (f"User-agent: *\nRequest-rate: 1/{'9' * 400}", math.inf),
    ],
)
def test_the_pause_that_a_host_asks_for_is_known(text: str, seconds: float) -> None:
    assert robots_of(text).crawl_delay == seconds


def test_hostile_patterns_cost_no_time() -> None:
    text = "User-agent: *\n" + "\n".join(f"Disallow: /{'*a' * 30}{n}" for n in range(300))
    begun = time.process_time()
    robots_of(text).allows("https://shop.test/" + "a" * 2000)

    assert time.process_time() - begun < 5


LINES = [
    *(f"User-agent: {name}" for name in ("*", "vertex", "Ver", "vert*", "other", "x-vertex", "")),
    *(f"Disallow: {path}" for path in ("/", "/a", "/*.pdf$", "/a*b", "/a$", "", "/index.html")),
    *(f"Allow:{path}" for path in ("/", "/a/b", "*", "/caf%C3%A9", "/a/index.html")),
    *("useragent vertex # us", "User agent *", "disalow /b", "  allow: /a/c  ", "Noindex: /a"),
    *("Sitemap: https://x.test/s", "Host: x", "# a remark", "", "a word", "Crawl-delay: 2"),
]


@given(st.lists(st.sampled_from(LINES), max_size=14))
def test_the_group_alone_says_what_the_whole_file_says(lines: list[str]) -> None:
    text = "\n".join(lines)
    whole, ours = Protego.parse(text), robots_of(text)
    urls = [f"https://shop.test/{path}" for path in ("", "a", "a/b", "a/c.pdf", "axb", "b", "café")]

    assert [ours.allows(url) for url in urls] == [whole.can_fetch(url, "Vertex") for url in urls]
    assert ours.crawl_delay == (whole.crawl_delay("Vertex") or 0)


MANY_NAMES = "".join(f"User-agent: {n}\n" for n in range(12_000))


@pytest.mark.parametrize(
    "names", [MANY_NAMES, "".join(f"User-agent: v{'*' * n}\n" for n in range(600))]
)
def test_a_group_of_many_agents_costs_no_time(names: str) -> None:
    begun = time.process_time()
    robots = robots_of(
        names + "Disallow: /a\n" * 9_000
    )  # each name with each rule took minutes and gigabytes

    assert robots.allows("https://shop.test/a") == (names is MANY_NAMES)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("rules", "is_too_large"),
    [
        ([f"/{n}" for n in range(MAX_RULES)], False),
        ([f"/{n}" for n in range(MAX_RULES + 1)], True),
        ([f"/{n}*a*b" for n in range(MAX_WILDCARDS // 2)], False),
        ([f"/{n}*a*b" for n in range(MAX_WILDCARDS // 2 + 1)], True),
    ],
)
def test_a_file_that_would_cost_much_forbids_everything(
    rules: list[str], *, is_too_large: bool
) -> None:
    theirs = "User-agent: other\n" + "Disallow: /*\n" * 2 * MAX_WILDCARDS
    ours = "User-agent: *\n" + "".join(f"Disallow: {rule}\n" for rule in rules)
    robots = robots_of(theirs + ours)

    assert robots.is_too_large == is_too_large
    assert robots.allows("https://shop.test/welcome") != is_too_large


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_a_file_that_is_not_there_allows_everything(fetcher: Fetcher, status: int) -> None:
    with FakeHost({"/robots.txt": Answer(b"User-agent: *\nDisallow: /", status)}) as host:
        file = wait_for(read_robots(fetcher.client, host.url))

    assert (file.status, file.text) == (status, "")


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_host_in_trouble_allows_nothing_for_now(fetcher: Fetcher, status: int) -> None:
    with (
        FakeHost({"/robots.txt": Answer(b"", status)}) as host,
        pytest.raises(RobotsUnavailable) as refused,
    ):
        wait_for(read_robots(fetcher.client, host.url))

    assert refused.value.is_transient


def test_a_redirected_file_is_followed(fetcher: Fetcher) -> None:
    with FakeHost(
        {"/robots.txt": moved("/r"), "/r": Answer(b"User-agent: *\nDisallow: /a")}
    ) as host:
        assert "Disallow: /a" in wait_for(read_robots(fetcher.client, host.url)).text


def test_only_the_start_of_a_huge_file_is_read(fetcher: Fetcher) -> None:
    text = b"User-agent: *\nDisallow: /a\n" + b"#" * 2 * MAX_ROBOTS_BYTES
    with FakeHost({"/robots.txt": Answer(text)}) as host:
        file = wait_for(read_robots(fetcher.client, host.url))

    assert len(file.text) == MAX_ROBOTS_BYTES
    assert not robots_of(file.text).allows(f"{host.url}/a")


def test_bytes_of_any_kind_become_text_that_a_database_takes(fetcher: Fetcher) -> None:
    with FakeHost(
        {"/robots.txt": Answer(b"\xef\xbb\xbfUser-agent: *\nDisallow: /a\x00\xff")}
    ) as host:
        text = wait_for(read_robots(fetcher.client, host.url)).text

    assert text.startswith("User-agent")
    assert "\x00" not in text


def test_the_product_is_known_by_the_first_word_of_its_user_agent() -> None:
    assert product_token("Shop-bot (x)") == "Shop-bot"
