"""What people enter about checks and visits: when, by which thresholds, and who is told."""

from __future__ import annotations

from datetime import time
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from django.utils.functional import lazy

from clustering.forms.pages import AddressField, delay_field
from clustering.services.crawl.address_lists import MAX_PASTED
from monitoring.algorithms.verdicts import Thresholds
from monitoring.models import Alert, Channel, KeptList, Schedule
from monitoring.models.stream import MAX_GOAL_HOURS, MAX_REQUESTS_PER_DAY
from monitoring.services.checks.thresholds import EXPLANATIONS
from monitoring.services.notices.channels import DEFAULT_KINDS, MAX_TARGET_CHARS, allowed_services
from monitoring.services.stream.kept_lists import CHOSEN, MAX_KEPT, addresses_of_file

LABELS = {
    "pages": "Pages that fail a test",
    "quorum": "Lost values that confirm",
    "coverage_drop": "Coverage drop that confirms",
    "reachable": "Pages that must answer",
    "rules": "Rules that break",
    "crawl_drop": "Drop over the whole crawl",
}
SOURCES: Final = ("addresses", "file", "url")  # of a kept list
MAX_PASTED_CHARS: Final = 1_500_000
HOURS = forms.TimeInput(attrs={"type": "time"}, format="%H:%M")


def add_errors(form: forms.Form, error: ValidationError) -> None:
    """Show each message at its field; what belongs to no field of the form, above it."""
    if not hasattr(error, "error_dict"):
        form.add_error(None, error)
        return
    for name, texts in error.message_dict.items():
        form.add_error(name if name in form.fields else None, texts)


class TimetableForm(forms.Form):
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


class ScheduleForm(TimetableForm):
    repair = forms.ChoiceField(
        label="After a site change",
        choices=Schedule.Repair.choices,
        widget=forms.RadioSelect,
        help_text=(
            "Nothing is ever published that fails the field test. "
            "Where the reviews of the site ask for a "
            "second person, accepting waits for that person, "
            "unless an administrator chose the last way."
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


class KeptListForm(TimetableForm):
    """A list of addresses, from one of three sources, and when it is visited.

    The addresses of a list that is very long are not written into the form; it keeps them.
    """

    name = forms.CharField(label="Name", max_length=100, help_text="Such as New products.")
    addresses = forms.CharField(
        label="Addresses",
        required=False,
        max_length=MAX_PASTED_CHARS,
        widget=forms.Textarea(attrs={"rows": 8, "class": "mono", "spellcheck": "false"}),
        help_text=f"One a line, at most {MAX_PASTED:,}.",
    )
    file = forms.FileField(
        label="Or a file",
        required=False,
        help_text=f"An address a line, also as .gz or .zst, at most {MAX_KEPT:,}. "
        "It is kept as it is now.",
    )
    url = AddressField(
        "Or where such a file is on the site",
        help_text="It is read anew at each visit, so that what is added to it is visited, too.",
    )
    delay = delay_field()
    is_active = forms.BooleanField(label="Visit at these times", required=False)

    def __init__(
        self,
        data: QueryDict | None = None,
        files: MultiValueDict[str, UploadedFile[Any]] | None = None,
        *,
        kept_list: KeptList | None = None,
    ) -> None:
        shown = _shown(kept_list) if kept_list else {"every": 1, "unit": "days", "is_active": True}
        day = {"window_start": time(0), "window_end": time(0), "time_zone": "UTC"}
        super().__init__(data, files, initial={**day, **shown})
        self._keeps_addresses = kept_list is not None and _is_long(kept_list)
        if self._keeps_addresses and kept_list is not None:
            n_kept = f"{kept_list.n_addresses:,}"
            self.fields[
                "addresses"
            ].help_text = f"The {n_kept} kept are too long a text to be shown. Blank: they stay."

    def clean_addresses(self) -> str:
        return _lines_of(self.cleaned_data["addresses"])

    def clean(self) -> dict[str, Any]:
        entered = super().clean() or {}
        given = [name for name in SOURCES if entered.get(name)]
        if len(given) > 1:  # what stood there gives way to what is new
            given = [name for name in given if entered[name] != self.initial.get(name)]
        if len(given) > 1 or (not given and not self._keeps_addresses):
            raise ValidationError(
                "Paste addresses, choose a file or write where one is: one of the three."
            )
        n_lines = len((entered.get("addresses") or "").splitlines())
        if "addresses" in given and n_lines > MAX_PASTED:
            self.add_error(
                "addresses", f"{n_lines:,} lines are too many to paste; choose a file with them."
            )
        for name in SOURCES:
            if name not in given:
                entered.pop(name, None)
        return entered

    def values(self) -> dict[str, Any]:
        """Return what `add_list` and `change_list` take. Raises ValidationError."""
        values = dict(self.cleaned_data)
        file = values.pop("file", None)
        if file:
            values["addresses"] = addresses_of_file(file, file.name)
        return values


def _shown(kept_list: KeptList) -> dict[str, Any]:
    shown = {name: getattr(kept_list, name) for name in CHOSEN}
    return shown | {"addresses": "" if _is_long(kept_list) else _lines_of(kept_list.addresses)}


def _is_long(kept_list: KeptList) -> bool:
    """Return whether the form would refuse the addresses of a list, which came from a file."""
    text = _lines_of(kept_list.addresses)
    return text.count("\n") >= MAX_PASTED or len(text) > MAX_PASTED_CHARS


def _lines_of(text: str) -> str:
    return "\n".join(text.strip().splitlines())


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
