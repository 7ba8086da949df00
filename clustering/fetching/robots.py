"""What a host's robots.txt lets this product fetch, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from protego import Protego

from clustering.fetching.client import Client
from clustering.fetching.refusals import FetchRefused

MAX_ROBOTS_BYTES: Final = 500 * 1024  # more is not read, as RFC 9309 says
MAX_CRAWL_DELAY: Final = 60.0  # seconds; a host that asks for more is fetched this slowly
TOO_MANY_REQUESTS, SERVER_ERROR = 429, 500


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
        self._agent = product_token(user_agent)
        self._rules = Protego.parse(text)

    def allows(self, url: str) -> bool:
        """Return whether the address may be fetched."""
        return bool(self._rules.can_fetch(url, self._agent))

    @property
    def crawl_delay(self) -> float:
        """Return the seconds to leave between two requests, as asked for."""
        rate = self._rules.request_rate(self._agent)
        delay = self._rules.crawl_delay(self._agent) or 0.0
        return max(float(delay), rate.seconds / rate.requests if rate else 0.0)


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
