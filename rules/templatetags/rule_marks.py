"""What pages of rules and records are drawn with: states, values, confidence."""

from __future__ import annotations

from typing import Any

import orjson
from django.template import Library
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from rules.models import JudgedPage, Rule
from vertex.core.templatetags.interface import badge

register = Library()

NOTHING = "\u2013"  # a dash
TONES = {
    Rule.State.PUBLISHED: ("good", "good"),
    Rule.State.PROPOSED: ("busy", "clock"),
    Rule.State.DRAFT: ("unknown", "clock"),
    Rule.State.RETIRED: ("unknown", "skipped"),
}
A_FEW, MINUTE, HOUR = 10, 60, 3600  # seconds
VERDICTS = {
    JudgedPage.Verdict.OPEN: ("unknown", "clock"),
    JudgedPage.Verdict.RIGHT: ("good", "good"),
    JudgedPage.Verdict.WRONG: ("bad", "bad"),
    JudgedPage.Verdict.SKIPPED: ("unknown", "skipped"),
}
RATHER_RIGHT = 0.6
USES = {"annotated": "annotated", "unannotated": "gave support", "held_out": "checked"}


@register.simple_tag
def rule_badge(rule: Rule) -> SafeString:
    """Draw a rule's state: published, draft, proposed or retired."""
    tone, icon = TONES[Rule.State(rule.state)]
    return badge(tone, rule.get_state_display(), icon)


@register.simple_tag
def verdict_badge(page: JudgedPage) -> SafeString:
    """Draw how a page was judged."""
    tone, icon = VERDICTS[JudgedPage.Verdict(page.verdict)]
    return badge(tone, page.get_verdict_display(), icon)


@register.filter
def seconds(span: float | None) -> str:
    """Write a span of time that somebody worked: 4.2 s, 40 s, 12 min, 1.5 h."""
    if span is None:
        return NOTHING
    if span < MINUTE:
        return f"{span:.1f} s" if span < A_FEW else f"{span:.0f} s"
    return f"{span / MINUTE:.0f} min" if span < HOUR else f"{span / HOUR:.1f} h"


@register.filter
def per(whole: float, n: float) -> float:
    """Return what comes to each of so many; 0 for none."""
    return whole / n if n else 0.0


@register.filter
def words_of(text: str) -> list[str]:
    """Return the words of a text, to go through them."""
    return text.split()


@register.simple_tag
def confidence_badge(confidence: float | None) -> SafeString | str:
    """Draw how sure a value or record is, in percent; marked only if rather wrong than right."""
    if confidence is None:
        return NOTHING
    percent = f"{100 * confidence:.0f} %"
    return percent if confidence >= RATHER_RIGHT else badge("bad", percent, "bad")


@register.filter
def value_line(value: Any) -> str:
    """Write a value in one line: several with commas, a price as people do, a dash for none."""
    if value is None or value == []:
        return NOTHING
    if isinstance(value, list):
        return ", ".join(map(value_line, value))
    if isinstance(value, dict) and "amount" in value:
        return " ".join(str(value[part]) for part in ("amount", "currency") if value.get(part))
    return value if isinstance(value, str) else orjson.dumps(value).decode()


@register.filter
def value_block(value: Any) -> SafeString | str:
    """Write a value whole: several as a list, a dash for none."""
    if isinstance(value, list) and value:
        items = format_html_join("", "<li>{}</li>", ((value_line(item),) for item in value))
        return format_html('<ul class="values">{}</ul>', items)
    return value_line(value)


@register.filter
def use_words(use: str) -> str:
    """Return what a page was to a rule, in words."""
    return USES.get(use, use)


@register.filter
def part_of(selection: dict[str, Any] | None) -> str:
    """Return in words which part of its node's text a value is; blank where it is all of it."""
    if not selection:
        return ""
    parts = []
    if selection.get("prefix"):
        parts.append(f"after “{selection['prefix']}”")
    if selection.get("suffix"):
        which = "the last " if selection.get("is_last_suffix") else ""
        parts.append(f"before {which}“{selection['suffix']}”")
    parts.append(_words(selection.get("first", 1), selection.get("last", -1)))
    if selection.get("separator"):
        parts.append(f"split at “{selection['separator']}”")
    return ", ".join(part for part in parts if part)


def _words(first: int, last: int) -> str:
    if (first, last) == (1, -1):
        return ""
    return f"words {_word_position(first)} to {_word_position(last)}"


def _word_position(number: int) -> str:
    if number > 0:
        return str(number)
    return "last" if number == -1 else f"{-number} from the end"
