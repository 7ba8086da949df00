"""Verticals: what they may be, how they change, and which clusters they describe."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import orjson
import re2
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.utils import timezone

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import ATTRIBUTE_NAME, Annotation, Assignment, Attribute, Vertical
from clustering.models import Cluster
from vertex.core.models import Role, Site, User
from vertex.core.services.people import audit

MAX_ATTRIBUTES = 200
MAX_REGEX = 512  # characters
MAX_DESCRIPTION = 300  # characters
TYPE_BY_OTHER_NAME = {"image/url": Attribute.Type.IMAGE}
NOT_IN_RE2 = re.compile(r"(?:perl operator|escape sequence): (\(\?\S+|\\[1-9k])")
READY_MADE = Path(__file__).parents[2] / "verticals"
TYPE_NAMES = {str: "a text", list: "a list", bool: "true or false"}

T = TypeVar("T")


class BadVertical(ValueError):
    """A vertical cannot be saved as it is; `problems` lists all that is wrong with it."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class ChangedMeanwhile(Exception):
    """Somebody else changed the vertical after it was read."""

    def __init__(self, vertical: Vertical) -> None:
        super().__init__(
            f"“{vertical.name}” was changed by somebody else meanwhile. "
            "Open it anew and change that."
        )


class VerticalInUse(Exception):
    """A vertical that describes sites, or that pages are annotated by, cannot be deleted."""

    def __init__(self, vertical: Vertical, sites: list[str], n_annotations: int = 0) -> None:
        if sites:
            text = f"is the vertical of {', '.join(sites)}. Give them another one first."
        else:
            text = (
                f"has {n_annotations:,} annotations, which would be lost with it; "
                "it is kept for them."
            )
        super().__init__(f"“{vertical.name}” {text}")


@dataclass(frozen=True, slots=True)
class VerticalPlan:
    """A vertical as it is to be."""

    name: str
    attributes: tuple[AttributeType, ...]
    description: str | None = None  # None: as it is


def read_vertical(text: bytes) -> VerticalPlan:
    """Return the vertical that JSON describes; unknown keys are ignored. Raises BadVertical."""
    try:
        document = orjson.loads(text.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise BadVertical([f"not JSON: {error}"]) from None
    if not isinstance(document, dict):
        raise BadVertical(['not a JSON object with "name" and "attributes"'])
    problems: list[str] = []
    name = _read(document, "name" if "name" in document else "vertical", str, "", problems)
    description = _read(document, "description", str, "", problems).strip()
    entries = _read(document, "attributes", list, [], problems)
    plans = tuple(
        _read_attribute(f"attribute {n}", entry, problems) for n, entry in enumerate(entries, 1)
    )
    if problems:
        raise BadVertical(problems)
    return VerticalPlan(name.strip(), plans, description if "description" in document else None)


def _read_attribute(title: str, entry: object, problems: list[str]) -> AttributeType:
    if not isinstance(entry, dict):
        problems.append(f"{title} is not a JSON object")
        return AttributeType("")
    own_problems: list[str] = []
    attribute = AttributeType(
        name=_read(entry, "name", str, "", own_problems).strip(),
        type=_type_named(_read(entry, "type", str, "text", own_problems)),
        is_constant=_read(entry, "constant", bool, False, own_problems),
        is_mandatory=_read(entry, "mandatory", bool, False, own_problems),
        is_multi=_read(entry, "multi", bool, False, own_problems),
        regex=_read(entry, "regex", str, "", own_problems),
    )
    problems += [f"{title}: {problem}" for problem in own_problems]
    return attribute


def _read(entry: dict[str, Any], key: str, kind: type[T], default: T, problems: list[str]) -> T:
    """Return the entry's value; the default for none or a wrong one, which is a problem."""
    value = entry.get(key)
    if value is None or isinstance(value, kind):
        return default if value is None else value
    problems.append(f'"{key}" is {str(value)[:40]!r}, but must be {TYPE_NAMES[kind]}')
    return default


def _type_named(name: str) -> str:
    name = name.strip().lower()
    return TYPE_BY_OTHER_NAME.get(name, name)


def check_vertical(plan: VerticalPlan) -> None:
    """Raise BadVertical with all that is wrong with a vertical."""
    problems = _problems_of_name("the vertical", plan.name)
    description = plan.description or ""
    if len(description) > MAX_DESCRIPTION or not (description.isprintable() or not description):
        problems.append(
            f"the description is longer than {MAX_DESCRIPTION} characters or not printable"
        )
    if not plan.attributes:
        problems.append("it has no attribute")
    if len(plan.attributes) > MAX_ATTRIBUTES:
        problems.append(f"it has more than {MAX_ATTRIBUTES} attributes")
    for number, attribute in enumerate(plan.attributes, 1):
        title = f"attribute {number}"
        if attribute.name:
            title += f" ({attribute.name[:63]})"
        problems += [f"{title}: {problem}" for problem in problems_of(attribute)]
    names = Counter(attribute.name for attribute in plan.attributes)
    problems += [
        f"there are {n} attributes “{name}”" for name, n in names.items() if n > 1 and name
    ]
    if problems:
        raise BadVertical(problems)


def problems_of(attribute: AttributeType) -> list[str]:
    """Return what is wrong with one attribute."""
    problems = _problems_of_name("the name", attribute.name)
    if attribute.type not in Attribute.Type.values:
        problems.append(
            f"the type “{attribute.type[:40]}” is not one of {', '.join(Attribute.Type.values)}"
        )
    problem = problem_of_regex(attribute.regex)
    if problem:
        problems.append(problem)
    return problems


def _problems_of_name(what: str, name: str) -> list[str]:
    if not name:
        return [f"{what} has no name"]
    try:
        ATTRIBUTE_NAME(name)
    except ValidationError as error:
        return [f"{what} “{name[:63]}” cannot be used. {error.message}"]
    return []


def problem_of_regex(regex: str) -> str:
    r"""Return why a regular expression cannot be used; blank where it can.

    >>> problem_of_regex(r"(?<=EUR )\d+")
    'the regex uses (?<=, which RE2 does not have: no look-around, no back-references'
    """
    if len(regex) > MAX_REGEX:
        return f"the regex is longer than {MAX_REGEX} characters"
    if regex and not regex.isprintable():
        return "the regex holds characters that cannot be seen; write them as \\t, \\n or \\x{A0}"
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(regex, options)
    except (re2.error, ValueError) as error:
        reason = error.args[0] if error.args else ""
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        missing = NOT_IN_RE2.search(text)
        if missing:
            return (
                f"the regex uses {missing[1]}, which RE2 does not have: "
                "no look-around, no back-references"
            )
        return f"the regex cannot be used: {text}"
    return ""


def may_change(user: User, vertical: Vertical) -> bool:
    """Return whether a person is editor at all sites that use a vertical, and at least at one."""
    return user.has_role_anywhere(Role.EDITOR) and not _sites_of_others(user, vertical)


def _sites_of_others(user: User, vertical: Vertical) -> list[Site]:
    """Return the sites that use a vertical and at which a person is no editor."""
    if user.has_role(Role.EDITOR):
        return []
    sites = Site.objects.filter(assignments__vertical=vertical).distinct().order_by("name")
    return [site for site in sites if not user.has_role(Role.EDITOR, site)]


def _refuse_strangers(user: User | None, vertical: Vertical) -> None:
    """Raise PermissionDenied unless a person may change a vertical; name only sites they see."""
    others = _sites_of_others(user, vertical) if user is not None else []
    if user is None or not others:
        return
    seen = set(Site.objects.visible_to(user).values_list("pk", flat=True))
    names = [site.name for site in others if site.pk in seen]
    sites = ", ".join(names) if len(names) == len(others) else ", ".join([*names, "other sites"])
    raise PermissionDenied(
        f"“{vertical.name}” is used at {sites} as well: changing it needs the role editor there. "
        "Make a vertical of another name for your site."
    )


def save_vertical(
    *,
    name: str,
    attributes: Sequence[AttributeType],
    description: str | None = None,
    actor: User | None,
    version: int | None = None,
) -> Vertical:
    """Create the vertical of this name, or change it.

    Attributes that are left out are dropped, not deleted, and restored when they come back.
    `version` is the one that was changed; a vertical of another version raises
    ChangedMeanwhile. Raises BadVertical, and PermissionDenied where it is used at sites at
    which the actor is no editor.
    """
    check_vertical(VerticalPlan(name, tuple(attributes), description))
    with transaction.atomic():
        vertical, is_new = Vertical.objects.get_or_create(name=name)
        vertical = Vertical.objects.select_for_update().get(pk=vertical.pk)
        _refuse_strangers(actor, vertical)
        if version is not None and version != (0 if is_new else vertical.version):
            raise ChangedMeanwhile(vertical)
        changes = _save_attributes(vertical, attributes)
        if description is not None and description != vertical.description:
            vertical.description = description
            changes.append("description")
        if changes and not is_new:
            vertical.version += 1
        vertical.save()
        if changes:
            action = "vertical.created" if is_new else "vertical.changed"
            audit.record(actor=actor, action=action, subject=name, detail={"changed": changes})
    return vertical


def _save_attributes(vertical: Vertical, plans: Sequence[AttributeType]) -> list[str]:
    """Save the attributes of a vertical and return the names of those that changed."""
    saved = {attribute.name: attribute for attribute in vertical.attributes.all()}
    changed = []
    for position, plan in enumerate(plans):
        attribute = saved.pop(plan.name, None) or Attribute(vertical=vertical, name=plan.name)
        wanted = asdict(plan) | {"position": position, "dropped_at": None}
        if attribute.pk is None or any(
            getattr(attribute, key) != value for key, value in wanted.items()
        ):
            changed.append(plan.name)
            for key, value in wanted.items():
                setattr(attribute, key, value)
            attribute.save()
    for attribute in saved.values():
        if attribute.dropped_at is None:
            changed.append(attribute.name)
            attribute.dropped_at = timezone.now()
            attribute.position = len(plans)
            attribute.save()
    return changed


def delete_vertical(*, vertical: Vertical, actor: User | None) -> None:
    """Delete a vertical that no site uses and that has no annotations.

    Raises VerticalInUse, PermissionDenied.
    """
    with transaction.atomic():
        _refuse_strangers(actor, vertical)
        names = vertical.assignments.order_by("site__name").values_list("site__name", flat=True)
        sites = list(names.distinct()[:5])
        n_annotations = Annotation.objects.filter(attribute__vertical=vertical).count()
        if sites or n_annotations:
            raise VerticalInUse(vertical, sites, n_annotations)
        vertical.delete()
        audit.record(actor=actor, action="vertical.deleted", subject=vertical.name)


def assign_vertical(
    *, site: Site, vertical: Vertical | None, cluster: Cluster | None = None, actor: User | None
) -> None:
    """Assign a vertical to a cluster, or to all clusters of the site that have none of their own.

    None removes the assignment.
    """
    with transaction.atomic():
        rows = Assignment.objects.filter(site=site, cluster=cluster)
        before = rows.select_for_update().first()
        if (before.vertical_id if before else None) == (vertical.pk if vertical else None):
            return
        if vertical is None:
            rows.delete()
        else:
            Assignment.objects.update_or_create(
                site=site,
                cluster=cluster,
                defaults={"vertical": vertical, "assigned_at": timezone.now()},
            )
        name = vertical.name if vertical else ""
        audit.record(
            actor=actor,
            action="vertical.assigned",
            subject=name or "none",
            site=site,
            detail={"vertical": name} | ({"cluster": cluster.name} if cluster else {}),
        )


def describe(vertical: Vertical) -> dict[str, Any]:
    """Return the vertical as the JSON document that `read_vertical` reads."""
    return {
        "name": vertical.name,
        "description": vertical.description,
        "attributes": [_describe_attribute(attribute) for attribute in vertical.attributes.live()],
    }


def _describe_attribute(attribute: Attribute) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": attribute.name,
        "type": attribute.type,
        "constant": attribute.is_constant,
        "mandatory": attribute.is_mandatory,
        "multi": attribute.is_multi,
    }
    if attribute.regex:
        document["regex"] = attribute.regex
    return document


def ready_made_verticals() -> list[VerticalPlan]:
    """Return the verticals that come with the product, by name."""
    return [read_vertical(path.read_bytes()) for path in sorted(READY_MADE.glob("*.json"))]
