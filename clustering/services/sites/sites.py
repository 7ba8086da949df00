"""Add sites and change their settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import phonenumbers
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from clustering.dom.addresses import BadAddress, netloc_of, normalise_url
from clustering.services.crawl.limits import MAX_DELAY, is_delay
from vertex.core.exceptions import AlreadyExists
from vertex.core.models import Site, User
from vertex.core.models.sites import SITE_NAME
from vertex.core.services.people import audit
from vertex.core.texts import storable

MAX_EXTRA_HOSTS = 50
MAX_SNAPSHOTS_KEPT = 10_000
SETTINGS = (
    "title",
    "extra_hosts",
    "crawl_delay",
    "obey_robots",
    "render",
    "snapshots_kept",
    "match_by",
    "country",
)


class SiteExists(AlreadyExists):
    """Another site has the name."""

    def __init__(self, site: Site) -> None:
        what = (
            "it is being deleted; wait or" if site.deletion_requested_at else f"at {site.root_url};"
        )
        super().__init__(f"there is already a site “{site.name}”, {what} choose another name")
        self.site = site


class BadSite(ValidationError):
    """A name or a setting is not one that a site can have; the messages stand by field."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__({field: problem})
        self.problem = problem

    def __str__(self) -> str:
        return self.problem


def add_site(*, name: str, root_url: str, actor: User | None, **settings: Any) -> Site:
    """Add a site and return it; a site of the same name and root is returned as it is.

    `settings` are those of `change_site`. Raises BadSite, SiteExists.
    """
    _check_name(name)
    root = _checked_root(root_url)
    checked = _checked_settings(settings)
    with transaction.atomic():
        site = Site.objects.filter(name=name).first() or _create_site(name, root, checked, actor)
    if site.root_url != root or site.deletion_requested_at is not None:
        raise SiteExists(site)
    return site


def add_new_site(*, name: str, root_url: str, actor: User | None, **settings: Any) -> Site:
    """Add a site whose name no other has and return it. Raises BadSite, SiteExists."""
    _check_name(name)
    root = _checked_root(root_url)
    checked = _checked_settings(settings)
    try:
        with transaction.atomic():
            return _insert_site(name, root, checked, actor)
    except IntegrityError:
        raise SiteExists(Site.objects.get(name=name)) from None


def change_site(*, site: Site, actor: User | None, **settings: Any) -> Site:
    """Change settings of a site, those of SETTINGS.

    Those not given stay as they are. Raises BadSite.
    """
    checked = _checked_settings(settings)
    with transaction.atomic():
        stored = Site.objects.select_for_update(no_key=True).get(pk=site.pk)
        before = {name: getattr(stored, name) for name in SETTINGS}
        changes = {name: value for name, value in checked.items() if value != before[name]}
        if changes:
            Site.objects.filter(pk=site.pk).update(**changes)
            detail = {name: {"was": before[name], "now": value} for name, value in changes.items()}
            audit.record(
                actor=actor, action="site.changed", subject=site.name, site=site, detail=detail
            )
    site.refresh_from_db()
    return site


def _create_site(name: str, root: str, settings: dict[str, Any], actor: User | None) -> Site:
    """Create the site, or return the one that another transaction has created meanwhile."""
    try:
        with transaction.atomic():
            return _insert_site(name, root, settings, actor)
    except IntegrityError:
        return Site.objects.get(name=name)


def _insert_site(name: str, root: str, settings: dict[str, Any], actor: User | None) -> Site:
    site = Site.objects.create(name=name, root_url=root, created_by=actor, **settings)
    detail = {"root_url": root, **settings}
    audit.record(actor=actor, action="site.created", subject=name, site=site, detail=detail)
    return site


def _check_name(name: str) -> None:
    try:
        SITE_NAME(name)
    except ValidationError as error:
        raise BadSite("name", f"{name[:70]!a} is no name for a site. {error.message}") from None


def _checked_root(root_url: str) -> str:
    try:
        return normalise_url(root_url)
    except BadAddress as error:
        raise BadSite("root_url", str(error)) from None


def _checked_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings as stored. Raises BadSite, and TypeError for what is no setting."""
    unknown = settings.keys() - set(SETTINGS)
    if unknown:
        raise TypeError(f"a site has no setting {', '.join(sorted(unknown))}")
    checks: dict[str, Callable[[Any], object]] = {
        "title": _checked_title,
        "extra_hosts": _checked_hosts,
        "crawl_delay": _checked_delay,
        "snapshots_kept": _checked_number,
        "match_by": _checked_match_by,
        "country": _checked_country,
    }
    return {name: checks.get(name, bool)(value) for name, value in settings.items()}


def _checked_title(title: str) -> str:
    title = " ".join(storable(title).split())
    longest = Site._meta.get_field("title").max_length
    if longest is not None and len(title) > longest:
        raise BadSite(
            "title", f"A title has at most {longest} characters, this one has {len(title)}."
        )
    return title


def _checked_hosts(hosts: Iterable[str]) -> list[str]:
    """Return the hosts in normal form, in order, without repeats."""
    try:
        checked = list(dict.fromkeys(netloc_of(host) for host in hosts if host.strip()))
    except BadAddress as error:
        raise BadSite(
            "extra_hosts", f"{error}. Write hosts as images.example.com or example.com:8080."
        ) from None
    if len(checked) > MAX_EXTRA_HOSTS:
        raise BadSite(
            "extra_hosts", f"{len(checked)} hosts are too many; give {MAX_EXTRA_HOSTS} at most."
        )
    return checked


def _checked_delay(delay: float) -> float:
    if not is_delay(delay):
        raise BadSite("crawl_delay", f"{delay} is no pause; give 0 to {MAX_DELAY:.0f} seconds.")
    return float(delay)


def _checked_number(number: int | None) -> int | None:
    if number is not None and not 1 <= number <= MAX_SNAPSHOTS_KEPT:
        raise BadSite(
            "snapshots_kept", f"{number} is out of range; give 1 to {MAX_SNAPSHOTS_KEPT:,}."
        )
    return number


def _checked_match_by(value: str) -> str:
    if value not in Site.MatchBy.values:
        ways = " or ".join(Site.MatchBy.values)
        raise BadSite("match_by", f"{value!r} is no way to match pages; give {ways}.")
    return value


def _checked_country(code: str) -> str:
    country = code.strip().upper()
    if country and country not in phonenumbers.SUPPORTED_REGIONS:
        raise BadSite(
            "country", f"{code[:20]!r} is no country. Give two letters, such as DE or US."
        )
    return country
