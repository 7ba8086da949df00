"""Log in at a site by its form, as a person would."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any, Final, TypeAlias
from urllib.parse import urlencode, urlsplit

from clustering.dom.addresses import BadAddress, join_url, normalise_url
from clustering.dom.log_in_forms import FilledForm, page_shows_sign, read_log_in_page
from clustering.fetching.client import Client, Fetched, RedirectRefused
from clustering.fetching.guard import read_url
from clustering.fetching.refusals import FetchRefused
from clustering.fetching.sessions import LoggedOut, SiteLogIn, SiteSession

MAX_STEPS: Final = 5  # redirects, before the form or behind it
# Of what a form holds already; writing it holds up all other requests.
MAX_FORM_CHARACTERS: Final = 500_000
NOT_LOGGED_IN: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
HTML: Final = ("text/html", "application/xhtml+xml")

# Calls a function of a module with body and content type of an answer, and more, in a process of
# its own. It raises LogInFailed where that is stopped.
CallApart: TypeAlias = Callable[..., Awaitable[Any]]


class LogInFailed(FetchRefused):
    """There is no such form, or nobody is logged in after it was sent.

    No message holds what was entered.
    """

    code = "log_in"


async def log_in(
    client: Client, session: SiteSession, form: SiteLogIn, call_apart: CallApart
) -> Fetched:
    """Log in, on the loop, and return the page that shows it.

    1. Get the page with the form; where it shows the sign, somebody is logged in already.
    2. Send the form as it stands, with the fields that were given filled in.
    3. Follow the redirects within the site.
    4. Look for the sign on the page that comes; where a redirect is all that comes, on
       the first page.

    Raises LogInFailed, and what the client raises.
    """
    session.is_logged_in = False
    before = await _get(client, session, form.url)
    # What is entered stays here: the page is told the names of its fields only.
    is_shown, blank = await call_apart(
        read_log_in_page, before, before.final_url, list(form.fields), form.sign
    )
    if is_shown:
        session.is_logged_in = True
        return before
    if blank is None:
        names = ", ".join(form.fields)
        raise LogInFailed(
            f"{before.final_url} answers {before.status} and has no form with the fields {names}"
        )
    action, base, method, fields = blank
    if sum(len(name) + len(text) for name, text in fields) > MAX_FORM_CHARACTERS:
        raise LogInFailed(
            f"the form of {before.final_url} holds more than {MAX_FORM_CHARACTERS:,} "
            "characters: not sent"
        )
    entered = [(name, form.fields.get(name, text)) for name, text in fields]
    after = await _send(client, session, before, FilledForm(action, base, method, entered))
    if not await call_apart(page_shows_sign, after, form.sign):
        raise LogInFailed(
            f"the form of {form.url} was sent, and {without_query(after.final_url)} answers"
            f" {after.status} without “{form.sign}”: look at address, fields and sign"
        )
    session.is_logged_in = True
    return after


async def check_logged_in(answer: Fetched, form: SiteLogIn, call_apart: CallApart) -> None:
    """Raise LoggedOut where an answer is one for those who are not logged in, or LogInFailed."""
    location = answer.location
    if location and _place(location) == _place(form.url):
        raise LoggedOut(f"{answer.url} leads to the log-in")
    if answer.status not in NOT_LOGGED_IN and not HTTPStatus(200) <= answer.status < 300:
        return  # errors and redirects show it to nobody
    is_page = answer.content_type.partition(";")[0].strip().lower() in HTML
    if answer.status not in NOT_LOGGED_IN and not is_page:
        return
    if not is_page or not await call_apart(page_shows_sign, answer, form.sign):
        raise LoggedOut(f"answers {answer.status} without “{form.sign}”: logged out")


async def _send(client: Client, session: SiteSession, page: Fetched, filled: FilledForm) -> Fetched:
    """Send a form and follow where it leads. Raises LogInFailed."""
    if filled.method != "post":
        raise LogInFailed(
            f"the form of {page.final_url} would write what is entered into an address: not sent"
        )
    try:
        # A blank action is the page itself, whatever its base is.
        action = normalise_url(join_url(filled.base, filled.action or page.final_url))
    except BadAddress as error:
        raise LogInFailed(f"the form of {page.final_url} leads to {error}") from None
    _check_own(session, action)
    answer = await client.fetch(
        action,
        method="POST",
        headers={
            "Content-Type": "application/x-www-form-urlencoded",
            "Origin": read_url(page.final_url).origin,
            "Referer": page.final_url,
        },
        content=urlencode(filled.fields).encode(),
        max_redirects=0,
    )
    location = _location(answer)
    if not location:
        return answer
    if answer.status in {HTTPStatus.TEMPORARY_REDIRECT, HTTPStatus.PERMANENT_REDIRECT}:
        raise LogInFailed(
            f"{action} wants the form to be sent to {without_query(location)}: not sent"
        )
    return await _get(client, session, location)


async def _get(client: Client, session: SiteSession, url: str) -> Fetched:
    """Return the page at an address, after the redirects within the site. Raises LogInFailed."""
    for _ in range(MAX_STEPS + 1):
        _check_own(session, url)
        answer = await client.fetch(url, max_redirects=0)
        location = _location(answer)
        if not location:
            return answer
        url = location
    raise LogInFailed(f"more than {MAX_STEPS} redirects, the last one to {without_query(url)}")


def _check_own(session: SiteSession, url: str) -> None:
    if not session.is_own(read_url(url)):
        raise LogInFailed(
            f"the log-in leads to {without_query(url)}, which is no encrypted address of the site;"
            " add its host to the further hosts if it belongs there"
        )


def without_query(url: str) -> str:
    """Return an address, cut, without its query, in which a site may repeat what was entered."""
    return url.partition("?")[0][:200]


def _location(answer: Fetched) -> str:
    """Return where a redirect leads; blank where there is none. Raises LogInFailed."""
    try:
        return answer.location
    except RedirectRefused:
        # What is no address has no query to be cut off: nothing of it is shown.
        shown = without_query(answer.final_url)
        raise LogInFailed(f"{shown} redirects to something that is no address") from None


def _place(url: str) -> Sequence[str]:
    """Return what tells the page of a form from others, without what stands behind the path."""
    parts = urlsplit(url)
    return parts.netloc, parts.path
