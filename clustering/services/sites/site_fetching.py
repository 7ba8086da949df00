"""Change how a site is fetched: what it is told, and through what.

Values of headers, cookies and fields, and passwords, are sealed and never shown again; the audit
trail has their names only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from clustering.dom.addresses import BadAddress, belongs_to_site, normalise_url
from clustering.models import Cluster, SiteFetching
from clustering.services.sites.sites import BadSite, change_site
from vertex.core.models import Site, User
from vertex.core.services.people import audit
from vertex.core.services.people.sealing import seal
from vertex.core.texts import storable

MAX_HEADERS: Final = 30
MAX_COOKIES: Final = 50
MAX_FIELDS: Final = 20
MAX_FIELD_NAME: Final = 200
MAX_VALUE: Final = 4_000  # characters
MAX_USER_AGENT: Final = 300
MAX_SIGN: Final = 200
MAX_PROXY_USER: Final = 200
NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
# What decides how a request is read, and what has a setting of its own.
REFUSED_HEADERS: Final = {
    **dict.fromkeys(
        ("Host", "Connection", "Content-Length", "Transfer-Encoding", "Te", "Trailer", "Upgrade"),
        "belongs to the connection",
    ),
    **dict.fromkeys(("Keep-Alive", "Expect", "Content-Type"), "belongs to the connection"),
    **dict.fromkeys(
        ("Accept-Encoding", "Range", "If-None-Match", "If-Modified-Since"),
        "is decided for each request",
    ),
    "Cookie": "is made of the cookies",
    "User-Agent": "has a setting of its own",
    "Proxy-Authorization": "is made of the proxy's user and password",
}
OF_SITE: Final = ("crawl_delay", "obey_robots", "render")  # settings of the site itself
SECRETS_BY_NAME: Final = ("headers", "cookies", "log_in_fields")
PLAIN: Final = ("user_agent", "proxy", "proxy_user", "log_in_url", "log_in_sign")


def fetching_of(site: Site) -> SiteFetching:
    """Return how a site is fetched; a row that is not stored where it is fetched as all are."""
    return SiteFetching.objects.filter(site=site).first() or SiteFetching(site=site)


def change_fetching(*, site: Site, actor: User | None, **changes: Any) -> SiteFetching:
    """Change how a site is fetched; what is not given stays as it is.

    `headers`, `cookies` and `log_in_fields` map names to new values; None removes a name. A blank
    `log_in_url` ends the log-in and drops its fields. `rendered_clusters` names all clusters whose
    pages a browser fetches. Raises BadSite.
    """
    rendered_clusters = changes.pop("rendered_clusters", None)
    of_site = {name: changes.pop(name) for name in OF_SITE if name in changes}
    checked = _checked(site, changes)
    with transaction.atomic():
        if of_site:
            change_site(site=site, actor=actor, **of_site)
        Site.objects.select_for_update(no_key=True).get(pk=site.pk)
        row = fetching_of(site)
        detail = _apply(row, checked)
        if rendered_clusters is not None:
            _render_clusters(site, actor, rendered_clusters)
        if detail:
            _complete(row)
            row.session, row.logged_in_at, row.log_in_problem = "", None, ""
            row.changed_at = timezone.now()
            row.save()
            audit.record(
                actor=actor,
                action="site.fetching_changed",
                subject=site.name,
                site=site,
                detail=detail,
            )
    return row


def fetching_json(site: Site, row: SiteFetching) -> dict[str, Any]:
    """Return how a site is fetched, as commands and the API say it: of what is secret the names."""
    site.refresh_from_db()
    return {
        **{name: getattr(site, name) for name in OF_SITE},
        "rendered_clusters": rendered_clusters_of(site),
        "user_agent": row.user_agent,
        "headers": sorted(row.headers),
        "cookies": sorted(row.cookies),
        "proxy": row.proxy,
        "proxy_user": row.proxy_user,
        "has_proxy_password": bool(row.proxy_password),
        "log_in_url": row.log_in_url,
        "log_in_fields": sorted(row.log_in_fields),
        "log_in_sign": row.log_in_sign,
        "log_in_problem": row.log_in_problem,
        "logged_in_at": row.logged_in_at.isoformat() if row.logged_in_at else None,
    }


def rendered_clusters_of(site: Site) -> list[str]:
    """Return the names of the clusters whose pages a browser fetches."""
    rows = Cluster.objects.filter(site=site, is_rendered=True)
    return list(rows.order_by("name").values_list("name", flat=True))


def allowed_proxies() -> list[str]:
    """Return the proxies that sites of this installation may be fetched through."""
    return list(settings.FETCH_PROXIES)


def _render_clusters(site: Site, actor: User | None, names: Collection[str]) -> None:
    """Have a browser fetch the pages of these clusters and of no others. Raises BadSite."""
    of_site = Cluster.objects.filter(site=site)
    unknown = set(names).difference(of_site.values_list("name", flat=True))
    if unknown:
        raise BadSite(
            "rendered_clusters",
            f"{site.name} has no cluster {min(unknown)[:80]!r}; "
            "names stand on its page “Clusters”.",
        )
    before = rendered_clusters_of(site)
    of_site.filter(is_rendered=True).exclude(name__in=names).update(is_rendered=False)
    of_site.filter(name__in=names).update(is_rendered=True)
    after = rendered_clusters_of(site)
    if after != before:
        audit.record(
            actor=actor,
            action="site.fetching_changed",
            subject=site.name,
            site=site,
            detail={"rendered_clusters": {"was": before, "now": after}},
        )


def _apply(row: SiteFetching, checked: Mapping[str, Any]) -> dict[str, Any]:
    """Set what was given, and return what changed: plain values, and of secrets their names."""
    detail: dict[str, Any] = {}
    for name in PLAIN:
        before = getattr(row, name)
        if name in checked and checked[name] != before:
            setattr(row, name, checked[name])
            detail[name] = {"was": before, "now": checked[name]}
    for name in SECRETS_BY_NAME:
        changes = checked.get(name, {})
        if name == "log_in_fields" and not row.log_in_url:
            changes = dict.fromkeys(row.log_in_fields)
        change = _apply_secrets(getattr(row, name), changes)
        if change:
            detail[name] = change
    if "proxy_password" in checked:
        password = checked["proxy_password"]
        if password or row.proxy_password:
            row.proxy_password = seal(password) if password else ""
            detail["proxy_password"] = "set" if password else "removed"
    return detail


def _apply_secrets(
    sealed_by_name: dict[str, str], changes: Mapping[str, str | None]
) -> dict[str, list[str]]:
    """Set and remove values by name; return the names."""
    removed = [name for name, value in changes.items() if value is None and name in sealed_by_name]
    for name in removed:
        del sealed_by_name[name]
    given = {name: value for name, value in changes.items() if value is not None}
    for name, value in given.items():
        sealed_by_name[name] = seal(value)
    return {word: names for word, names in (("set", [*given]), ("removed", removed)) if names}


def _complete(row: SiteFetching) -> None:
    """Drop what is of no use any more. Raises BadSite where something is missing or too much."""
    for name, most in (
        ("headers", MAX_HEADERS),
        ("cookies", MAX_COOKIES),
        ("log_in_fields", MAX_FIELDS),
    ):
        if len(getattr(row, name)) > most:
            raise BadSite(name, f"At most {most} are kept; remove some first.")
    if not row.proxy:
        row.proxy_user = row.proxy_password = ""
    if not row.log_in_url:
        row.log_in_sign = ""
        return
    if not row.log_in_fields:
        raise BadSite(
            "log_in_fields", "A log-in needs the fields of its form, such as user and password."
        )
    if not row.log_in_sign:
        raise BadSite(
            "log_in_sign",
            "A log-in needs something that only those see who are logged in, such as “Log out”.",
        )


def _checked(site: Site, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes as stored. Raises BadSite, and TypeError for what is no setting."""
    checks: dict[str, Callable[[Any], Any]] = {
        "user_agent": lambda value: _checked_text("user_agent", value, MAX_USER_AGENT),
        "proxy": _checked_proxy,
        "proxy_user": lambda value: _checked_text("proxy_user", value, MAX_PROXY_USER),
        "proxy_password": lambda value: _checked_text("proxy_password", value or "", MAX_VALUE),
        "headers": _checked_headers,
        "cookies": _checked_cookies,
        "log_in_url": lambda value: _checked_log_in_url(site, value),
        "log_in_fields": _checked_fields,
        "log_in_sign": lambda value: _checked_text("log_in_sign", value, MAX_SIGN, is_ascii=False),
    }
    unknown = changes.keys() - checks.keys()
    if unknown:
        raise TypeError(f"the fetching of a site has no setting {', '.join(sorted(unknown))}")
    return {name: checks[name](value) for name, value in changes.items()}


def _checked_text(field: str, value: str, most: int, *, is_ascii: bool = True) -> str:
    """Return a text of one line. Raises BadSite, which does not repeat it."""
    text = " ".join(storable(value).split()) if field != "proxy_password" else value
    if len(text) > most:
        raise BadSite(field, f"At most {most} characters are taken.")
    if (is_ascii and not text.isascii()) or not text.isprintable():
        raise BadSite(field, "Only letters, digits and signs of ASCII can be sent.")
    return text


def _checked_proxy(value: str) -> str:
    proxy = value.strip().lower().removeprefix("http://").rstrip("/")
    if proxy and proxy not in settings.FETCH_PROXIES:
        allowed = ", ".join(settings.FETCH_PROXIES) or "none"
        raise BadSite(
            "proxy",
            f"This installation allows no such proxy; those of VERTEX_FETCH_PROXIES: {allowed}.",
        )
    return proxy


def _checked_headers(value_by_name: Mapping[str, str | None]) -> dict[str, str | None]:
    checked: dict[str, str | None] = {}
    for written, value in value_by_name.items():
        name = "-".join(part.capitalize() for part in written.strip().split("-"))
        _check_name("headers", name)
        if name in REFUSED_HEADERS:
            raise BadSite(
                "headers", f"The header {name} cannot be set: it {REFUSED_HEADERS[name]}."
            )
        _check_value("headers", name, value, is_header=True)
        checked[name] = value if value is None else value.strip()
    return checked


def _checked_cookies(value_by_name: Mapping[str, str | None]) -> dict[str, str | None]:
    for name, value in value_by_name.items():
        _check_name("cookies", name)
        _check_value("cookies", name, value, is_header=True)
        if value is not None and set(value) & set('"; ,\\'):
            raise BadSite("cookies", f"The value of {name} has a sign that no cookie may have.")
    return dict(value_by_name)


def _checked_fields(value_by_name: Mapping[str, str | None]) -> dict[str, str | None]:
    for name, value in value_by_name.items():
        if not 0 < len(name) <= MAX_FIELD_NAME or not name.isprintable():
            raise BadSite(
                "log_in_fields", f"A field has a name of 1 to {MAX_FIELD_NAME} characters."
            )
        _check_value("log_in_fields", name, value, is_header=False)
    return dict(value_by_name)


def _check_name(field: str, name: str) -> None:
    if not NAME.fullmatch(name):
        raise BadSite(field, "A name is made of letters, digits and hyphens.")


def _check_value(field: str, name: str, value: str | None, *, is_header: bool) -> None:
    """Raise BadSite for a value that cannot be sent; the message does not repeat it."""
    if value is None:
        return
    if not value or len(value) > MAX_VALUE:
        raise BadSite(field, f"The value of {name} needs 1 to {MAX_VALUE:,} characters.")
    if not value.isprintable() or (is_header and not value.isascii()):
        raise BadSite(field, f"The value of {name} has signs that cannot be sent.")


def _checked_log_in_url(site: Site, value: str) -> str:
    if not value.strip():
        return ""
    try:
        url = normalise_url(value.strip())
    except BadAddress as error:
        raise BadSite("log_in_url", str(error)) from None
    if not belongs_to_site(url, site.root_url, site.extra_hosts):
        raise BadSite(
            "log_in_url", f"{url} is no address of {site.name}; add its host to the further hosts."
        )
    if url.startswith("http:") and site.root_url.startswith("https:"):
        raise BadSite("log_in_url", "What is entered would be sent unencrypted; begin with https.")
    return url
