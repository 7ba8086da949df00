"""Who calls the API in the tests, and what they find there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.test import Client
from django.utils import timezone

from clustering.dom.addresses import url_hash
from clustering.models import Link, Page, Snapshot
from vertex.core.models import Membership, Role, Scope, Site, User
from vertex.core.services.people import tokens
from vertex.core.storage import page_store

API = "/api/v1"


class Caller:
    """Somebody with a token."""

    def __init__(self, user: User, key: str) -> None:
        self.user = user
        self.key = key
        self._client = Client(raise_request_exception=False)

    def __getattr__(self, method: str) -> Any:
        """Return the client's method, with the token in the header."""

        def call(path: str, data: Any = None, **options: Any) -> Any:
            headers = {"Authorization": f"Token {self.key}"} | options.pop("headers", {})
            if method != "get":
                options.setdefault("content_type", "application/json")
                data = b"" if data is None else data
            return getattr(self._client, method)(
                path if path.startswith(("/", "http")) else f"{API}/{path}",
                data,
                headers=headers,
                **options,
            )

        return call

    def upload(self, path: str, data: dict[str, Any]) -> Any:
        headers = {"Authorization": f"Token {self.key}"}
        return self._client.post(f"{API}/{path}", data, headers=headers)


def caller(
    name: str,
    role: Role | None = None,
    *,
    site: Site | None = None,
    scopes: Iterable[str] = Scope.values,
) -> Caller:
    """Return a user of this name, with a role at the site or everywhere, and a token."""
    user, _ = User.objects.get_or_create(username=name)
    if role is not None:
        Membership.objects.create(user=user, site=site, role=role)
    _, key = tokens.create_token(user=user, name="tests", scopes=scopes, actor=None)
    return Caller(user, key)


def site_of(name: str = "alpine-shop", **settings: Any) -> Site:
    return Site.objects.create(name=name, root_url=f"https://{name}.example/", **settings)


def page_of(site: Site, path: str = "", body: bytes = b"<html>old</html>", **fields: Any) -> Page:
    """Return a page with one snapshot and one link."""
    url = f"{site.root_url}{path}"
    page = Page.objects.create(
        site=site,
        url=url,
        url_hash=url_hash(url),
        given_url=url,
        **({"state": Page.State.STORED, "status": 200, "visited_at": timezone.now()} | fields),
    )
    page.latest_snapshot = Snapshot.objects.create(
        page=page,
        body=page_store().put(body),
        n_bytes=len(body),
        requested_url=url,
        final_url=url,
        fetched_at=timezone.now(),
        seen_at=timezone.now(),
    )
    page.save()
    target = f"{site.root_url}other"
    Link.objects.create(
        page=page, position=0, xpath="/html/a", url=target, url_hash=url_hash(target)
    )
    return page
