"""What a host's robots.txt lets this product fetch, and how often."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

from protego import Protego

from clustering.fetching.client import Client
from clustering.fetching.refusals import FetchRefused

MAX_ROBOTS_BYTES: Final = 500 * 1024  # more is not read, as RFC 9309 says
MAX_CRAWL_DELAY: Final = 60.0  # seconds; a host that asks for more is fetched this slowly
TOO_MANY_REQUESTS, SERVER_ERROR = 429, 500
# Each costs up to some microseconds for each address. A file with more of them is made to
# cost much.
MAX_RULES: Final = 10_000
MAX_WILDCARDS: Final = 2_000
FORBIDS_ALL: Final = ("Disallow: /",)

# As tolerant as the parser is: a colon may be missing.
_AGENT_LINE: Final = re.compile(r"user(?:-|\s*)agent(?:\s*:|\s|$)\s*(.*)", re.IGNORECASE)
_SITE_WIDE_LINE: Final = re.compile(r"(?:site-?maps?|host)\b", re.IGNORECASE)  # of no group
_RULE_LINE: Final = re.compile(r"[^:]*:|allow|di[as]|crawl|request|visit", re.IGNORECASE)


class RobotsDisallow(FetchRefused):
    """The host's robots.txt forbids the address."""

    code = "robots"


class RobotsUnavailable(FetchRefused):
    """The host's robots.txt cannot be read for now, so nothing of the host may be fetched."""

    code = "robots_unavailable"
    is_transient = True

    def __init__(self, message: str, retry_after: str = "") -> None:
        super().__init__(message)
        self.retry_after = retry_after  # as the host wrote it


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """A robots.txt as it was answered."""

    status: int
    text: str


class Robots:
    r"""The rules for this product's user agent.

    >>> Robots("User-agent: *\nDisallow: /private", "Vertex/1").allows("https://example.org/private/a")
    False
    """

    def __init__(self, text: str, user_agent: str) -> None:
        rules = rules_for(product_token(user_agent), text)
        n_wildcards = sum(rule.count("*") for rule in rules)
        self.is_too_large = len(rules) > MAX_RULES or n_wildcards > MAX_WILDCARDS
        read_rules = FORBIDS_ALL if self.is_too_large else rules
        self._rules = Protego.parse("\n".join(["User-agent: *", *read_rules]))
        self.crawl_delay = self._crawl_delay()

    def allows(self, url: str) -> bool:
        """Return whether the address may be fetched."""
        return bool(self._rules.can_fetch(url, "*"))

    def _crawl_delay(self) -> float:
        """Return the seconds to leave between two requests, as asked for."""
        delay = float(self._rules.crawl_delay("*") or 0.0)
        rate = self._rules.request_rate("*")
        if rate is None:
            return delay
        try:
            return max(delay, rate.seconds / rate.requests)
        except OverflowError:  # a number of hundreds of digits
            return math.inf


def rules_for(agent: str, text: str) -> list[str]:
    r"""Return the lines of the groups that are for an agent: by its name, else by `*`.

    Only they are parsed: each rule of a group counts for each agent that the group names, and a
    file of 500 KB can name thousands of them.

    >>> rules_for("Vertex", "User-agent: *\nDisallow: /\n\nUser-agent: vertex\nAllow: /a # it may")
    ['Allow: /a']
    """
    # What it may be called: all of its name, or the beginning of a word in it.
    names = [agent[word.start() :].lower() for word in re.finditer(r"(?<![\w-])\S", agent)]
    rules_by_name: dict[str, list[str]] = {}
    group: set[str] = set()  # the names of the agent at its head
    is_head = False  # more names may follow
    for written in text.splitlines():
        line = written.partition("#")[0].strip()
        named = _AGENT_LINE.match(line)
        if named:
            group = group if is_head else set()
            is_head = True
            name = "*" if named[1] == "*" else named[1].lower().replace("*", "")
            if name == "*" or (name and any(each.startswith(name) for each in names)):
                rules_by_name.setdefault(name, [])
                group.add(name)
        elif _RULE_LINE.match(line) and not _SITE_WIDE_LINE.match(line):
            is_head = False
            for name in group:
                rules_by_name[name].append(line)
    return rules_by_name[max(rules_by_name, key=len)] if rules_by_name else []


async def read_robots(client: Client, origin: str) -> RobotsFile:
    """Fetch an origin's robots.txt; a file that does not exist allows everything.

    Raises RobotsUnavailable where the host is in trouble, and what the client raises.
    """
    answer = await client.fetch(f"{origin}/robots.txt", max_bytes=MAX_ROBOTS_BYTES, is_cut=True)
    if answer.status >= SERVER_ERROR or answer.status == TOO_MANY_REQUESTS:
        reason = f"{origin}/robots.txt answers {answer.status}: nothing is fetched for now"
        raise RobotsUnavailable(reason, answer.headers.get("retry-after", ""))
    if answer.status != 200:
        return RobotsFile(answer.status, "")
    text = answer.body.decode("utf-8-sig", errors="replace")
    return RobotsFile(answer.status, text.replace("\x00", ""))


def product_token(user_agent: str) -> str:
    """Return the name that robots.txt files know this product by.

    >>> product_token("Vertex/0.1 (+https://example.org/bot)")
    'Vertex'
    """
    return user_agent.partition("/")[0].split(" ")[0]
