"""Where one can go from here: the rail at the side, the tabs of a site."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from django.http import HttpRequest
from django.template import Context, Library
from django.urls import NoReverseMatch, reverse

from vertex.core.models import Role, Site, User

register = Library()


class Entry(NamedTuple):
    """A place that the rail leads to."""

    word: str
    name: str  # of the URL
    icon: str = ""
    key: str = ""
    prefix: str = ""  # of the addresses where it is the current one; blank: its own
    role: Role | None = None  # needed at some site
    is_everywhere: bool = False  # the role is needed for all sites
    under: tuple[Entry, ...] = ()
    pages: tuple[str, ...] = ()  # names of URLs elsewhere that belong to it


OPERATIONS = (
    Entry("Jobs", "jobs", role=Role.VIEWER),
    Entry("Hosts", "hosts", role=Role.OPERATOR, is_everywhere=True),
    Entry("Refusals", "refusals", role=Role.VIEWER),
)
SETTINGS = (
    Entry("Account", "account"),
    Entry("People", "people", role=Role.ADMINISTRATOR, is_everywhere=True),
    Entry("Tokens", "tokens", role=Role.VIEWER),
    Entry("Verticals", "verticals", role=Role.VIEWER),
    Entry("Audit trail", "audit", role=Role.ADMINISTRATOR),
    Entry("API", "docs"),
)
ANNOTATING = ("annotate_site", "annotate_page")
REVIEWING = ("review_rule", "impact", "second_annotations", "annotate_again")
RAIL = (
    Entry("Sites", "sites", "sites", "s", "/sites/", Role.VIEWER),
    Entry("Annotate", "annotate", "annotate", "a", "/annotate/", Role.EDITOR, pages=ANNOTATING),
    Entry("Review", "review", "good", "r", "/review/", Role.VIEWER, pages=REVIEWING),
    Entry("Monitoring", "monitoring", "monitoring", "m", "/monitoring/", Role.VIEWER),
    Entry("Operations", "jobs", "operations", "o", "/operations/", Role.VIEWER, under=OPERATIONS),
    Entry("Settings", "account", "settings", "e", "/settings/", under=SETTINGS),
)
SITE_TABS = (
    ("site", "Overview", Role.VIEWER),
    ("pages", "Pages", Role.VIEWER),
    ("clusters", "Clusters", Role.VIEWER),
    ("rules", "Rules", Role.VIEWER),
    ("records", "Records", Role.VIEWER),
    ("site_monitoring", "Monitoring", Role.VIEWER),
    ("site_settings", "Settings", Role.OPERATOR),
    ("site_people", "People", Role.ADMINISTRATOR),
)


@register.inclusion_tag("components/rail.html", takes_context=True)
def rail(context: Context) -> dict[str, Any]:
    """Draw the rail with the places that exist and that the viewer may open."""
    request, user = context["request"], context["user"]
    return {
        "request": request,
        "user": user,
        "csrf_token": context.get("csrf_token"),
        "entries": _places(RAIL, request.path_info, _name_of(request), _key_of(user)),
        "account": _address("account"),
        "log_out": _address("log_out"),
    }


@register.inclusion_tag("components/rail_keys.html", takes_context=True)
def rail_keys(context: Context) -> dict[str, Any]:
    """List the keys of the rail, where there is one."""
    is_known = getattr(context.get("user"), "is_authenticated", False)
    return {"entries": [entry for entry in RAIL if is_known and _address(entry.name)]}


@register.inclusion_tag("components/site_tabs.html", takes_context=True)
def site_tabs(context: Context, site: Site, current: str) -> dict[str, Any]:
    """Draw the parts of a site that the viewer may open."""
    held = Role.VIEWER
    for role in (Role.OPERATOR, Role.ADMINISTRATOR):
        if context["user"].has_role(role, site):
            held = role
    open_to = [role for role in Role if Role.values.index(role) <= Role.values.index(held)]
    tabs = [(name, word) for name, word, role in SITE_TABS if role in open_to]
    return {"site": site, "current": current, "tabs": tabs}


def _key_of(user: User) -> Callable[[Entry], bool]:
    """Return which entries the user may open, known from one look at the memberships."""
    held = list(user.memberships.values_list("role", "site_id"))

    def fits(entry: Entry) -> bool:
        if entry.role is None or user.is_superuser:
            return True
        enough = entry.role.and_higher()
        return any(role in enough and not (entry.is_everywhere and site) for role, site in held)

    return fits


def _name_of(request: HttpRequest) -> str:
    """Return the name of the URL that is shown; blank for none, as on a page of an error."""
    return (request.resolver_match and request.resolver_match.url_name) or ""


def _places(
    entries: tuple[Entry, ...], path: str, name: str, fits: Callable[[Entry], bool]
) -> list[dict[str, Any]]:
    places = []
    owner = next((entry for entry in entries if name in entry.pages), None)
    for entry in entries:
        href = _address(entry.name)
        if href and fits(entry):
            under = _places(entry.under, path, name, fits)
            is_here = path.startswith(entry.prefix or href) or any(
                place["is_current"] for place in under
            )
            is_here = is_here if owner is None else entry is owner
            looks = {"word": entry.word, "icon": entry.icon, "key": entry.key}
            places.append({**looks, "href": href, "is_current": is_here, "under": under})
    return places


def _address(name: str) -> str:
    """Return where a page is, and nothing for a page that this installation does not have."""
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""
