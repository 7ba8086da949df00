"""What one site is asked with beyond what all are: headers, cookies, a name of its own, an account.

Only the site's own hosts get any of it, and none of them gets it unencrypted where the site is
encrypted: each request asks here anew, each step of a redirect too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from email.message import Message
from http.cookiejar import Cookie, CookieJar, DefaultCookiePolicy
from typing import Any, Final
from urllib.request import Request

from clustering.dom.addresses import Address, belongs_to_site
from clustering.fetching.proxies import ProxyServer
from clustering.fetching.refusals import FetchRefused

MAX_COOKIES: Final = 200  # that a site may set in a session
MAX_COOKIES_OF_ANSWER: Final = 50
MAX_COOKIE_BYTES: Final = 4096
# What a kept cookie is made from again.
COOKIE_FIELDS: Final = (
    "name",
    "value",
    "domain",
    "domain_specified",
    "domain_initial_dot",
    "path",
    "path_specified",
    "secure",
    "expires",
    "discard",
)


class LoggedOut(FetchRefused):
    """The page is what somebody sees who is not logged in."""

    code = "logged_out"
    is_transient = True


class WayOut(FetchRefused):
    """The address would end the session: it is not asked for."""

    code = "log_out"


@dataclass(frozen=True, slots=True)
class SiteLogIn:
    """How one logs in at a site, and what tells that one is."""

    url: str  # of the page with the form
    fields: Mapping[str, str] = field(repr=False)  # what is entered, by the names of the form
    sign: str  # a text, #id or .class that only those see who are logged in


@dataclass(slots=True, eq=False)
class SiteSession:
    """The way in which one site is fetched; its cookies change while it is."""

    root_url: str
    extra_hosts: Sequence[str] = ()
    user_agent: str = ""  # blank: the installation's
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    cookies: Mapping[str, str] = field(default_factory=dict, repr=False)
    proxy: ProxyServer | None = None
    log_in: SiteLogIn | None = None
    is_logged_in: bool = False  # as far as is known
    _jar: CookieJar = field(
        default_factory=lambda: CookieJar(DefaultCookiePolicy(strict_domain=True)), repr=False
    )

    def is_own(self, target: Address) -> bool:
        """Return whether an address may be told what only the site shall know."""
        is_downgraded = target.scheme == "http" and self.root_url.startswith("https:")
        return not is_downgraded and belongs_to_site(str(target), self.root_url, self.extra_hosts)

    def headers_for(self, target: Address) -> dict[str, str]:
        """Return the headers of a request to an address: none but the name for a foreign one."""
        own = {"User-Agent": self.user_agent} if self.user_agent else {}
        if not self.is_own(target):
            return own
        cookies = self.cookies_for(target)
        if cookies:
            own["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
        return {**self.headers, **own}

    def cookies_for(self, target: Address) -> dict[str, str]:
        """Return the cookies an address of the site is sent: those given, and those set since."""
        return {**self.cookies, **self._kept_cookies(target)} if self.is_own(target) else {}

    def keep_cookies(self, target: Address, set_cookies: Iterable[str]) -> None:
        """Keep what an answer of the site sets, where cookies matter there at all."""
        if not (self.cookies or self.log_in) or not self.is_own(target):
            return
        written = [each for each in set_cookies if len(each) <= MAX_COOKIE_BYTES]
        if written and len(self._jar) < MAX_COOKIES:
            answer = _Answer(written[:MAX_COOKIES_OF_ANSWER])
            self._jar.extract_cookies(answer, _request(target))  # type: ignore[arg-type]  # it has what is asked for

    def forget_cookies(self) -> None:
        """Forget what the site has set: whoever was logged in is not any more."""
        self._jar.clear()
        self.is_logged_in = False

    def kept_cookies(self) -> list[dict[str, Any]]:
        """Return what the site has set, as JSON, to go on with it later."""
        return [{name: getattr(cookie, name) for name in COOKIE_FIELDS} for cookie in self._jar]

    def restore_cookies(self, stored: Iterable[Mapping[str, Any]]) -> None:
        """Go on with what the site has set before."""
        for fields in stored:
            self._jar.set_cookie(_cookie(fields))

    def _kept_cookies(self, target: Address) -> dict[str, str]:
        request = _request(target)
        self._jar.add_cookie_header(request)
        written = request.get_header("Cookie") or ""
        pairs = (pair.partition("=") for pair in written.split("; ") if pair)
        return {name: value for name, _, value in pairs}


class _Answer:
    """The headers of an answer as a cookie jar wants them."""

    def __init__(self, set_cookies: Iterable[str]) -> None:
        self._headers = Message()
        for written in set_cookies:
            self._headers["Set-Cookie"] = written

    def info(self) -> Message:
        return self._headers


def _request(target: Address) -> Request:
    """Return what a cookie jar asks of a request; nothing is opened by it."""
    return Request(str(target))  # noqa: S310 - an address is of http or https


def _cookie(fields: Mapping[str, Any]) -> Cookie:
    return Cookie(
        version=0,
        port=None,
        port_specified=False,
        comment=None,
        comment_url=None,
        rest={},
        **{name: fields[name] for name in COOKIE_FIELDS},
    )
