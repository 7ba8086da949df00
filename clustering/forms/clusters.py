"""What people enter to group a site's pages, and to change what came out of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from django import forms

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.parameters import BadParameter, Parameter, written

MAX_PAGES = 500  # moved at once
MAX_TITLE_CHARS = 200
NUMBER = re.compile(r"[0-9]{1,18}")


class ClusterSiteForm(forms.Form):
    algorithm = forms.ChoiceField(
        label="Algorithm",
        choices=[(name, clusterer.title) for name, clusterer in CLUSTERERS.items()],
        initial="auto",
    )
    n_sample = forms.IntegerField(
        label="Pages in the sample",
        required=False,
        min_value=1,
        max_value=20_000,
        help_text=(
            "The algorithm groups so many pages and puts the others into its groups. "
            "Blank: all pages up to 2,000, of more a fifth."
        ),
    )
    compare = forms.BooleanField(
        label="Only for comparison",
        required=False,
        help_text="The site goes on with its present clusters; the result stands beside them.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for clusterer in CLUSTERERS.values():
            for parameter in clusterer.parameters:
                self.fields[_field_name(clusterer.name, parameter)] = _field_of(parameter)

    def clean(self) -> dict[str, Any]:
        """Read the parameters of the chosen algorithm; what is entered for others is ignored."""
        parameters = {}
        clusterer = CLUSTERERS.get(self.cleaned_data.get("algorithm", ""))
        for parameter in clusterer.parameters if clusterer else ():
            name = _field_name(self.cleaned_data["algorithm"], parameter)
            entered = self.cleaned_data.get(name, "")
            try:
                if isinstance(entered, bool):
                    parameters[parameter.name] = parameter.check(entered)
                else:
                    parameters[parameter.name] = parameter.parse(entered)
            except BadParameter:
                self.add_error(name, f"Enter {parameter.allowed}.")
        options = {
            name: self.cleaned_data.get(name) for name in ("algorithm", "n_sample", "compare")
        }
        return options | {"parameters": parameters}

    def fields_of(self, algorithm: str) -> list[forms.BoundField]:
        """Return the fields of an algorithm's parameters."""
        parameters = CLUSTERERS[algorithm].parameters
        return [self[_field_name(algorithm, parameter)] for parameter in parameters]


def _field_name(algorithm: str, parameter: Parameter) -> str:
    return f"{algorithm}-{parameter.name}"


def _field_of(parameter: Parameter) -> forms.Field:
    """Return a field that has the default entered; `clean` checks what comes back."""
    if parameter.kind == "switch":
        return forms.BooleanField(
            label=parameter.title,
            required=False,
            initial=parameter.default,
            help_text=parameter.sentence,
        )
    widget: forms.Widget = forms.NumberInput(
        attrs={
            "min": parameter.least,
            "max": parameter.most,
            "step": 1 if parameter.kind == "whole number" else "any",
        }
    )
    if parameter.kind == "choice":
        widget = forms.Select(choices=_titled(parameter.choices))
    return forms.CharField(
        label=parameter.title,
        required=False,
        initial=written(parameter.default),
        help_text=parameter.sentence,
        widget=widget,
    )


def _titled(choices: Sequence[str]) -> list[tuple[str, str]]:
    return [(choice, choice.replace("_", " ").capitalize()) for choice in choices]


class PagesField(forms.Field):
    """The numbers of pages that were selected."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: object) -> list[int]:
        entered = value if isinstance(value, list) else []
        if not entered:
            raise forms.ValidationError("Select at least one page.")
        if len(entered) > MAX_PAGES:
            raise forms.ValidationError(f"At most {MAX_PAGES:,} pages are moved at once.")
        if not all(isinstance(number, str) and NUMBER.fullmatch(number) for number in entered):
            raise forms.ValidationError("Load the page again and select the pages anew.")
        return [int(number) for number in dict.fromkeys(entered)]


class MovePagesForm(forms.Form):
    pages = PagesField()
    to = forms.CharField(required=False, max_length=61)
    title = forms.CharField(required=False, max_length=MAX_TITLE_CHARS)

    def clean_title(self) -> str:
        title: str = self.cleaned_data["title"].strip()
        if not title and not self.data.get("to"):
            raise forms.ValidationError("Choose a cluster, or give the new one a title.")
        return title


class RenameForm(forms.Form):
    title = forms.CharField(
        max_length=MAX_TITLE_CHARS, error_messages={"required": "A cluster needs a title."}
    )


class MergeForm(forms.Form):
    into = forms.CharField(
        max_length=61, error_messages={"required": "Choose the cluster to merge into."}
    )


class VerdictForm(forms.Form):
    verdict = forms.ChoiceField(
        choices=[("one_type", "One type"), ("mixed", "Several types")],
        error_messages={"required": "Say whether the pages are of one type."},
    )
    pages = PagesField()
    strangers = forms.Field(required=False, widget=forms.MultipleHiddenInput)
    comment = forms.CharField(required=False, max_length=2_000)

    def clean_strangers(self) -> list[int]:
        entered = self.cleaned_data["strangers"] or []
        return PagesField().clean(entered) if entered else []


def first_error(form: forms.Form) -> str:
    """Return what is wrong with what was entered, in one sentence."""
    return next((str(error) for errors in form.errors.values() for error in errors), "")
