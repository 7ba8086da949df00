"""Draw checks and alerts: strips of days, cells of grids, verdicts of tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import Any

from django.template import Library
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from monitoring.models import Check, CheckedPage, SiteChange
from monitoring.services.checks.check_calendar import (
    NOT_CHECKED,
    CheckCell,
    Day,
    DayKind,
    describe_days,
)
from monitoring.services.checks.reports import span_in_words
from monitoring.services.checks.site_states import STALE, SiteFigures
from vertex.core.templatetags.interface import NOTHING, badge, icon

register = Library()

STATE_BADGES = {
    "open": ("bad", "Open", "warning"),
    "acknowledged": ("busy", "Taken up", "person"),
    "snoozed": ("unknown", "Snoozed", "clock"),
    "recovered": ("good", "Recovered", "good"),
}
VERDICT_TONES: dict[str, tuple[str, str]] = {
    Check.Verdict.AS_IT_WAS: ("good", ""),
    Check.Verdict.CONTENT_CHANGED: ("good", ""),
    Check.Verdict.PARTLY_REDESIGNED: ("bad", ""),
    Check.Verdict.REDESIGNED: ("bad", ""),
    Check.Verdict.UNREACHABLE: ("warning", "refused"),
    Check.Verdict.UNDECIDED: ("warning", "clock"),
}
KIND_WORDS = {"null_extraction": "comes out empty", "incorrect_extraction": "comes out wrong"}


@register.simple_tag
def strip(days: Sequence[Day], site: str = "") -> SafeString:
    """Draw the days of a site; those with a check lead to it where the site is named."""
    if not site:
        return _plain_strip(tuple((day.day, day.kind) for day in days))
    cells = format_html_join("", "<li>{}</li>", ((_cell_of(day, site),) for day in days))
    return _strip_of(cells, [day.kind for day in days])


# Saves two thirds of drawing the overview: most sites have one and the same
# strip (benchmarks.caches).
@lru_cache(maxsize=1024)
def _plain_strip(days: tuple[tuple[date, DayKind], ...]) -> SafeString:
    """Draw a strip that leads nowhere; most sites have the same one."""
    cells = format_html_join("", "<li>{}</li>", ((_plain_cell(day, kind),) for day, kind in days))
    return _strip_of(cells, [kind for _, kind in days])


def _strip_of(cells: SafeString, kinds: Sequence[DayKind]) -> SafeString:
    return format_html(
        '<ol class="strip" aria-label="Last {} days: {}">{}</ol>',
        len(kinds),
        describe_days(kinds),
        cells,
    )


def _cell_of(day: Day, site: str) -> SafeString:
    if site and day.check is not None:
        title = f"{day.day:%a %-d %b}: {day.kind.word}"
        return format_html(
            '<a class="cell is-{}" href="{}" title="{}" aria-label="{}">{}</a>',
            day.kind.tone,
            reverse("check", args=[site, day.check]),
            title,
            title,
            day.kind.letter,
        )
    return _plain_cell(day.day, day.kind)


def _plain_cell(day: date, kind: DayKind) -> SafeString:
    """Draw a day of a strip; the same days come back for every site."""
    letter = "" if kind is NOT_CHECKED else kind.letter
    title = f"{day:%a %-d %b}: {kind.word}"
    return format_html('<span class="cell is-{}" title="{}">{}</span>', kind.tone, title, letter)


@register.simple_tag
def grid_cell(cell: CheckCell, site: str) -> SafeString:
    """Draw how a cluster or page was at a check, with a link to it."""
    if not cell.check:
        return format_html(
            '<span class="cell is-{}" title="{}">{}</span>', cell.tone, cell.word, cell.letter
        )
    return format_html(
        '<a class="cell is-{}" href="{}" title="{}" aria-label="{}">{}</a>',
        cell.tone,
        reverse("check", args=[site, cell.check]),
        cell.word,
        cell.word,
        cell.letter,
    )


@register.simple_tag
def alert_state(state: str) -> SafeString:
    return badge(*STATE_BADGES[state])


@register.simple_tag
def outcome_badge(page: CheckedPage) -> SafeString:
    """Draw what became of a bellwether."""
    if page.outcome == CheckedPage.Outcome.UNREACHABLE:
        return badge("warning", page.why.replace("_", " ").capitalize() or "Unreachable", "refused")
    tone = "good" if page.outcome == CheckedPage.Outcome.OK else "bad"
    return badge(tone, page.get_outcome_display())


@register.simple_tag
def state_badge(figures: SiteFigures) -> SafeString:
    """Draw the state of a site, with its meaning and age on hovering."""
    state = figures.state
    at = figures.stale_since if state is STALE else figures.checked_at
    title = f"{state.meaning} {f'As of {at:%-d %b %Y, %H:%M}.' if at else ''}".strip()
    return format_html('<span title="{}">{}</span>', title, badge(state.tone, state.word))


@register.simple_tag
def check_badge(check: Check) -> SafeString:
    """Draw what a check found."""
    tone, symbol = VERDICT_TONES[check.verdict]
    if tone == "good" and check.warnings:
        return badge("warning", "Warning")
    return badge(tone, check.get_verdict_display(), symbol)


@register.simple_tag
def verdict_badge(verdict: Mapping[str, Any]) -> SafeString:
    """Draw how a cluster was at a check."""
    state = verdict["state"]
    tone, symbol = VERDICT_TONES[state]
    if tone == "good" and verdict.get("warnings"):
        return badge("warning", "Warning")
    return badge(tone, Check.Verdict(state).label, symbol)


@register.simple_tag
def change_badge(change: SiteChange) -> SafeString:
    if change.ended_at is None:
        return badge("bad", "Open")
    tone = "good" if change.end == SiteChange.End.REPAIRED else "unknown"
    return badge(tone, change.get_end_display(), "good")


@register.filter
def test_mark(passed: bool | None) -> SafeString | str:  # noqa: FBT001 - a column of three values
    """Draw how a test went: passed, failed, not done."""
    if passed is None:
        return format_html('<span class="muted" title="not done">{}</span>', NOTHING)
    if passed:
        return format_html(
            '<span class="text-good">{} <span class="hidden-text">passed</span></span>',
            icon("check"),
        )
    return format_html('<span class="text-bad">{} fails</span>', icon("close"))


@register.filter
def span_of_hours(hours: float | None) -> str:
    """Write a span that is stored in hours in the unit that suits it."""
    return NOTHING if hours is None else span_in_words(hours)


@register.filter
def kind_words(kind: str) -> str:
    """Return how a field failed, in words."""
    return KIND_WORDS.get(kind, kind.replace("_", " "))


@register.filter
def value_text(value: Any) -> str:
    """Return a value as text; several, apart by a middle dot; a dash where there is none."""
    if value is None or value == "":
        return NOTHING
    texts = value if isinstance(value, list) else [value]
    return " · ".join(NOTHING if text is None else str(text) for text in texts)
