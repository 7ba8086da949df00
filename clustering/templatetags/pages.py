"""Badges and icons of pages: their states and their snapshots' problems."""

from __future__ import annotations

from django.template import Library
from django.utils.safestring import SafeString

from clustering.models import Page, Snapshot
from vertex.core.templatetags.interface import Tone, badge, icon

register = Library()

PAGE_TONES = {
    Page.State.DUE: Tone("unknown", "clock"),
    Page.State.STORED: Tone("good", "good"),
    Page.State.REDIRECTED: Tone("unknown", "redirected"),
    Page.State.SKIPPED: Tone("unknown", "skipped"),
    Page.State.REFUSED: Tone("warning", "refused"),
    Page.State.FAILED: Tone("bad", "bad"),
}


@register.simple_tag
def page_badge(page: Page) -> SafeString:
    tone = PAGE_TONES[Page.State(page.state)]
    return badge(tone.tone, page.get_state_display(), tone.icon)


@register.simple_tag
def page_state_icon(state: str) -> SafeString:
    tone = PAGE_TONES[Page.State(state)]
    return icon(tone.icon, f"text-{tone.tone}")


@register.simple_tag
def problem_badge(snapshot: Snapshot | None) -> SafeString | str:
    if snapshot is None or not snapshot.problem:
        return ""
    return badge("warning", snapshot.get_problem_display())
