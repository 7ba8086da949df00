"""Record who changed what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import structlog

from vertex.core.models import AuditEntry, Site, User
from vertex.core.texts import storable

COMMAND_LINE = "command line"


def record(
    *,
    actor: User | None,
    action: str,
    subject: object,
    site: Site | None = None,
    detail: dict[str, Any] | None = None,
) -> AuditEntry:
    """Write an audit row; `actor` is None where a command acts on the operator's authority."""
    [entry] = record_each(
        actor=actor, action=action, subject=subject, site=site, details=[detail or {}]
    )
    return entry


def record_each(
    *,
    actor: User | None,
    action: str,
    subject: object,
    site: Site | None,
    details: Sequence[dict[str, Any]],
) -> list[AuditEntry]:
    """Write an audit row for each detail of what was done to one subject."""
    request_id = structlog.contextvars.get_contextvars().get("request_id", "")
    return AuditEntry.objects.bulk_create(
        AuditEntry(
            actor=actor,
            actor_name=actor.username if actor else COMMAND_LINE,
            action=action,
            subject=storable(str(subject), 300),
            site=site,
            detail=_storable(detail),
            request_id=storable(request_id, 64),
        )
        for detail in details
    )


def _storable(value: Any) -> Any:  # any JSON value
    """Return the value with all its texts fit for the database."""
    if isinstance(value, dict):
        return {storable(str(name)): _storable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(part) for part in value]
    return storable(value) if isinstance(value, str) else value
