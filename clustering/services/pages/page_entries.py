"""Read what somebody wrote of a page in JSON: in a line of a manifest, or in a push."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from clustering.services.pages.source_pages import FIRST_YEAR, LAST_YEAR, PageRefused

MAX_CONTENT_TYPE = 200
MAX_XPATH = 2_000


def read_text(entry: dict[str, Any], key: str) -> str:
    """Return the text of a key. Raises PageRefused where it is missing or blank."""
    value = entry.get(key)
    if not isinstance(value, str) or not value.strip():
        problem = "is missing" if value is None else "must be a text that is not empty"
        raise PageRefused("bad_line", f'"{key}" {problem}')
    return value


def read_status(value: object) -> int:
    """Return the status, 200 where none is given. Raises PageRefused."""
    if value is None:
        return 200
    if isinstance(value, bool) or not isinstance(value, int) or not 100 <= value <= 599:
        raise PageRefused(
            "bad_line", f'"status" is {_short(value)}, but must be a number from 100 to 599'
        )
    return value


def read_content_type(value: object) -> str:
    """Return the content type, blank where none is given. Raises PageRefused."""
    if value is None:
        return ""
    if (
        not isinstance(value, str)
        or len(value) > MAX_CONTENT_TYPE
        or not (value.isprintable() or not value)
    ):
        raise PageRefused(
            "bad_line", f'"content_type" is {_short(value)}, but must be like "text/html"'
        )
    return value.strip()


def read_time(value: object) -> datetime | None:
    """Return the time; without a zone it is UTC. Raises PageRefused."""
    if value is None or value == "":
        return None
    try:
        if not isinstance(value, str):
            raise TypeError  # noqa: TRY301 (one message for all that is not a time)
        moment = datetime.fromisoformat(value.strip())
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        if not FIRST_YEAR <= moment.year <= LAST_YEAR:
            raise ValueError  # noqa: TRY301 (one message for all that is not a time)
    except (TypeError, ValueError):
        example = date(2025, 3, 31).isoformat()
        raise PageRefused(
            "bad_line",
            f'"fetched_at" is {_short(value)}, but must be a time like "{example}T12:00:00Z"',
        ) from None
    return moment.astimezone(UTC)


def read_xpath(value: object) -> str:
    """Return the XPath of a link, blank where none is given. Raises PageRefused."""
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > MAX_XPATH:
        raise PageRefused(
            "bad_line",
            f'"inbound_xpath" is {_short(value)}, but must be like "/html/body/ul/li[2]/a"',
        )
    return value.strip()


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
