"""The session in which a site is fetched, from its row, with the cookies of the last log-in."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django.utils import timezone

from clustering.fetching.client import Fetched
from clustering.fetching.log_in import LogInFailed, without_query
from clustering.fetching.loop import do_in_thread
from clustering.fetching.proxies import ProxyServer
from clustering.fetching.sessions import SiteLogIn, SiteSession
from clustering.models import SiteFetching
from clustering.services.children.limits import (
    CallFailed,
    CallStopped,
    ChildrenBusy,
    call_when_free,
)
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import JobFailed
from vertex.core.services.people.sealing import SealBroken, seal, unseal
from vertex.core.texts import storable


def session_of(site: Site) -> SiteSession | None:
    """Return the session of a site, None where it is fetched as all are.

    Raises JobFailed where what is sealed cannot be read.
    """
    row = SiteFetching.objects.filter(site=site).first()
    if row is None:
        return None
    try:
        return _session(site, row)
    except SealBroken as error:
        raise JobFailed(
            f"a header, cookie or password with which {site.name} is fetched cannot "
            f"be read: {error}"
        ) from None


def keep_log_in(*, site: Site, session: SiteSession) -> None:
    """Save the cookies of a log-in, so that the next crawl goes on with them."""
    SiteFetching.objects.filter(site=site, log_in_url=_url_of_form(session)).update(
        session=seal(json.dumps(session.kept_cookies())),
        logged_in_at=timezone.now(),
        log_in_problem="",
    )


def keep_log_in_problem(*, site: Site, session: SiteSession, problem: str) -> None:
    """Save why nobody could be logged in, and forget the cookies that did not help."""
    SiteFetching.objects.filter(site=site, log_in_url=_url_of_form(session)).update(
        session="", log_in_problem=storable(problem, 300)
    )


async def call_apart(function: Callable[..., Any], answer: Fetched, *args: object) -> Any:
    """Return what a function makes of the page that a site answered with, in a child with limits.

    Raises LogInFailed where it is too much for that.
    """
    call = partial(call_when_free, function, answer.body, answer.content_type, *args)
    try:
        return await do_in_thread(call)
    except (CallStopped, CallFailed, ChildrenBusy) as error:
        raise LogInFailed(f"{without_query(answer.final_url)} cannot be read: {error}") from None


def _session(site: Site, row: SiteFetching) -> SiteSession:
    proxy = form = None
    if row.proxy:
        host, _, port = row.proxy.rpartition(":")
        password = unseal(row.proxy_password) if row.proxy_password else ""
        proxy = ProxyServer(host.strip("[]"), int(port), row.proxy_user, password)
    if row.log_in_url:
        form = SiteLogIn(row.log_in_url, _unsealed(row.log_in_fields), row.log_in_sign)
    session = SiteSession(
        root_url=site.root_url,
        extra_hosts=tuple(site.extra_hosts),
        user_agent=row.user_agent,
        headers=_unsealed(row.headers),
        cookies=_unsealed(row.cookies),
        proxy=proxy,
        log_in=form,
    )
    if form is not None and row.session:
        session.restore_cookies(json.loads(unseal(row.session)))
        session.is_logged_in = True
    return session


def _unsealed(sealed_by_name: Mapping[str, str]) -> dict[str, str]:
    return {name: unseal(sealed) for name, sealed in sealed_by_name.items()}


def _url_of_form(session: SiteSession) -> str:
    return session.log_in.url if session.log_in else ""
