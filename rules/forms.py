"""What people enter about reviews, webhooks and lists."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.models import ATTRIBUTE_NAME, Attribute, ReviewPolicy
from clustering.forms.sites import read_address
from clustering.services.crawl.limits import DEFAULT_PAGES, MAX_PAGES
from rules.services.records.webhooks import MAX_URL_CHARS


class PolicyForm(forms.Form):
    publishing = forms.ChoiceField(
        label="Who publishes a rule",
        choices=ReviewPolicy.Publishing.choices,
        widget=forms.RadioSelect,
        help_text="The author of a rule is who proposed it or, where nobody did, who made it.",
    )
    second_share = forms.IntegerField(
        label="Annotated twice, in percent",
        min_value=0,
        max_value=100,
        help_text="So many of the annotated pages are given to a second person who does not see "
        "the first annotation. Where they differ, somebody decides.",
    )


class WebhookForm(forms.Form):
    url = forms.CharField(
        label="Address",
        max_length=MAX_URL_CHARS,
        widget=forms.TextInput(
            attrs={
                "inputmode": "url",
                "placeholder": "https://example.com/hooks/vertex",
                "class": "mono",
            }
        ),
        help_text="It gets a signed POST within a minute of each change of records.",
    )


class PasteForm(forms.Form):
    """The address of a page with a list."""

    url = forms.CharField(
        label="Address of the page",
        max_length=2048,
        widget=forms.TextInput(
            attrs={
                "inputmode": "url",
                "placeholder": "https://shop.example.com/shoes/",
                "autocomplete": "off",
                "autofocus": True,
                "class": "mono",
                "spellcheck": "false",
            }
        ),
        help_text="A page with a list: products, search results, articles, jobs.",
    )

    def clean_url(self) -> str:
        return read_address(self.cleaned_data["url"])


class WholeListForm(forms.Form):
    """How much of a list is to be crawled."""

    follows_pages = forms.BooleanField(label="All pages of the list", required=False, initial=True)
    follows_details = forms.BooleanField(
        label="The page of each record", required=False, initial=True
    )
    max_pages = forms.IntegerField(
        label="Pages at most", min_value=1, max_value=MAX_PAGES, initial=DEFAULT_PAGES
    )


def vertical_field(help_text: str) -> forms.CharField:
    return forms.CharField(
        label="Vertical",
        max_length=63,
        validators=[ATTRIBUTE_NAME],
        widget=forms.TextInput(
            attrs={
                "autocomplete": "off",
                "spellcheck": "false",
                "class": "mono",
                "list": "verticals",
            }
        ),
        help_text=help_text,
    )


class AcceptForm(forms.Form):
    """What the table of a list becomes."""

    snapshot = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=2**53)
    vertical = vertical_field(
        "What a record is: a new name makes a vertical of these columns, that of an existing one "
        "adds the columns that it lacks."
    )
    publishes = forms.BooleanField(
        label="Publish at once if the rule gives back this very table",
        required=False,
        help_text="As far as the policy of the site lets you; the records are then extracted. "
        "Otherwise the rule is a draft or a proposal to look at.",
    )


class ColumnForm(forms.Form):
    """A column of the table and the attribute that it becomes."""

    takes = forms.BooleanField(required=False)
    column = forms.CharField(widget=forms.HiddenInput, max_length=200)
    name = forms.CharField(
        max_length=63,
        required=False,
        validators=[ATTRIBUTE_NAME],
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "class": "mono"}
        ),
    )
    type = forms.ChoiceField(choices=Attribute.Type.choices)

    def clean(self) -> dict[str, Any]:
        entered = super().clean() or self.cleaned_data
        if entered.get("takes") and not entered.get("name") and "name" not in self.errors:
            self.add_error("name", "What is taken needs a name.")
        return entered


class FieldsForm(forms.Form):
    """What found fields become."""

    vertical = vertical_field(
        "What a page is about: a new name makes a vertical of these fields, that of an existing "
        "one adds the fields that it lacks."
    )


class FoundFieldForm(ColumnForm):
    """A field of a cluster's pages and the attribute that it becomes."""

    column = None  # type: ignore[assignment]  # a field is known by its slot
    slot = forms.CharField(widget=forms.HiddenInput, max_length=40)


FoundFieldFormSet = forms.formset_factory(FoundFieldForm, extra=0, max_num=1_000)
ColumnFormSet = forms.formset_factory(ColumnForm, extra=0, max_num=200)
