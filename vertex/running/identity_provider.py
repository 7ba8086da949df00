"""How the identity provider is asked: by the guarded client, in a few seconds and a megabyte.

django-allauth asks by a session of `requests`, whose limits count for each read: a provider that
drips its answer would keep a thread, and one without an end all memory.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlencode

import orjson
from django.conf import settings

from clustering.fetching.client import Client, Fetched, Fetcher
from clustering.fetching.guard import Guard, networks, read_url
from clustering.fetching.refusals import FetchRefused
from vertex.core.views.people.adapters import SingleSignOnAdapter
from vertex.running.known_services import provider_services

ANSWER_SECONDS: Final = 5.0
MAX_ANSWER_BYTES: Final = 1024**2
# The operator names the hosts of the provider, which may stand within the own network.
ANYWHERE: Final = networks(["0.0.0.0/0", "::/0"])


class ProviderFailed(OSError):
    """The provider does not answer, or not as it should."""


class GuardedSingleSignOn(SingleSignOnAdapter):
    """Single sign-on that asks the provider in bounds."""

    def get_requests_session(self) -> ProviderSession:
        return ProviderSession()


class ProviderSession:
    """What the library takes for a session of `requests`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pass

    def get(self, url: str, *, headers: Mapping[str, str] | None = None) -> ProviderAnswer:
        return self.request("GET", url, headers=headers)

    def request(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        data: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        auth: Any = None,  # of requests: a name and a password
    ) -> ProviderAnswer:
        """Return the provider's answer; no redirect is followed. Raises ProviderFailed."""
        if params:
            raise ProviderFailed(f"{method} {url} asks for parameters in an address: not sent")
        sent = dict(headers or {})
        if auth is not None:
            names = f"{auth.username}:{auth.password}".encode()
            sent["Authorization"] = f"Basic {base64.b64encode(names).decode()}"
        if data:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        fetcher = Fetcher(Client(settings.USER_AGENT, Guard(ANYWHERE)))
        try:
            address = read_url(url)
            if (address.host, address.port) not in provider_services():
                raise ProviderFailed(
                    f"{address.host}:{address.port} is not asked: "
                    "VERTEX_OIDC_HOSTS names no such host"
                )
            with fetcher:
                return ProviderAnswer(
                    fetcher.fetch(
                        url,
                        method=method,
                        headers=sent,
                        content=urlencode(data or {}).encode(),
                        max_redirects=0,
                        max_bytes=MAX_ANSWER_BYTES,
                        seconds=ANSWER_SECONDS,
                    )
                )
        except FetchRefused as error:
            raise ProviderFailed(str(error)) from None


@dataclass(frozen=True, slots=True)
class ProviderAnswer:
    """What the library takes for an answer of `requests`."""

    fetched: Fetched

    @property
    def status_code(self) -> int:
        return self.fetched.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self.fetched.headers

    @property
    def content(self) -> bytes:
        return self.fetched.body

    @property
    def text(self) -> str:
        return self.fetched.body.decode("utf-8", "replace")

    def raise_for_status(self) -> None:
        """Raise ProviderFailed unless the status says that this is an answer."""
        if not 200 <= self.fetched.status < 300:
            raise ProviderFailed(f"{self.fetched.url[:200]} answers {self.fetched.status}")

    def json(self) -> Any:
        """Return the value of the JSON. Raises ProviderFailed where it is none."""
        try:
            return orjson.loads(self.fetched.body)
        except ValueError as error:
            raise ProviderFailed(f"{self.fetched.url[:200]}: {error}") from None
