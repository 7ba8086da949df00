"""What people enter about checks: when, by which thresholds, and who is told."""

from __future__ import annotations

from django import forms
from django.utils.functional import lazy

from monitoring.algorithms.site_change import Thresholds
from monitoring.models import Alert, Channel, Schedule
from monitoring.models.stream import MAX_GOAL_HOURS, MAX_REQUESTS_PER_DAY
from monitoring.services.checks.thresholds import EXPLANATIONS
from monitoring.services.notices.channels import DEFAULT_KINDS, MAX_TARGET_CHARS, allowed_services

LABELS = {
    "pages": "Pages that fail a test",
    "quorum": "Lost values that confirm",
    "coverage_drop": "Coverage drop that confirms",
    "reachable": "Pages that must answer",
    "rules": "Rules that break",
    "crawl_drop": "Drop over the whole crawl",
}
HOURS = forms.TimeInput(attrs={"type": "time"}, format="%H:%M")


class ScheduleForm(forms.Form):
    every = forms.IntegerField(label="Every", min_value=1, max_value=366)
    unit = forms.ChoiceField(label="Unit", choices=Schedule.Unit.choices)
    window_start = forms.TimeField(label="Not before", widget=HOURS)
    window_end = forms.TimeField(
        label="Not after", widget=HOURS, help_text="The same as the start: the whole day."
    )
    time_zone = forms.CharField(
        label="Time zone",
        max_length=50,
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
        help_text="Such as Europe/Vienna. The hours stay the same when the clocks change.",
    )
    repair = forms.ChoiceField(
        label="After a site change",
        choices=Schedule.Repair.choices,
        widget=forms.RadioSelect,
        help_text=(
            "Nothing is ever published that fails the field test. Where the reviews of the site ask for a "
            "second person, accepting waits for that person, unless an administrator chose the last way."
        ),
    )
    is_active = forms.BooleanField(label="Check by this schedule", required=False)


def _share(name: str) -> forms.FloatField:
    usual = 100 * getattr(Thresholds, name)
    return forms.FloatField(
        label=f"{LABELS[name]}, %",
        min_value=0,
        max_value=100,
        help_text=f"{EXPLANATIONS[name]} Usually {usual:g} %.",
        widget=forms.NumberInput(attrs={"step": "any"}),
    )


class ThresholdsForm(forms.Form):
    """Shares in percent."""

    pages = _share("pages")
    quorum = _share("quorum")
    coverage_drop = _share("coverage_drop")
    reachable = _share("reachable")
    rules = _share("rules")
    crawl_drop = _share("crawl_drop")

    def shares(self) -> dict[str, float]:
        """Return what was entered as shares from 0 to 1."""
        return {name: round(value / 100, 6) for name, value in self.cleaned_data.items()}


def _where_to() -> str:
    allowed = ", ".join(allowed_services()) or "none"
    return (
        "An e-mail address, the address of a webhook, or that of a chat or pager service "
        f"(allowed here: {allowed})."
    )


class ChannelForm(forms.Form):
    kind = forms.ChoiceField(label="How", choices=Channel.Kind.choices)
    target = forms.CharField(
        label="Where to",
        max_length=MAX_TARGET_CHARS,
        widget=forms.TextInput(
            attrs={"class": "mono", "autocomplete": "off", "spellcheck": "false"}
        ),
        help_text=lazy(_where_to, str)(),
    )
    alert_kinds = forms.MultipleChoiceField(
        label="Of which alerts",
        choices=Alert.Kind.choices,
        initial=DEFAULT_KINDS,
        widget=forms.CheckboxSelectMultiple,
    )


class GoalForm(forms.Form):
    """How fresh the records of a cluster are to be."""

    goal_hours = forms.IntegerField(
        label="Fresh within, hours", min_value=1, max_value=MAX_GOAL_HOURS
    )
    requests_per_day = forms.IntegerField(
        label="Requests a day, at most",
        min_value=1,
        max_value=MAX_REQUESTS_PER_DAY,
        required=False,
        widget=forms.NumberInput(attrs={"placeholder": "no limit"}),
    )
