"""What people enter to group a site's pages, and to change what came out of it."""

from __future__ import annotations

import re

from django import forms

from clustering.algorithms.clusterers import CLUSTERERS

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
