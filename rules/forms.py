"""What people enter about reviews and webhooks."""

from __future__ import annotations

from django import forms

from annotation.models import ReviewPolicy
from rules.services.webhooks import LONGEST_URL


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
        help_text="So many of the annotated pages are given to a second person who does not see the first "
        "annotation. Where they differ, somebody decides.",
    )


class WebhookForm(forms.Form):
    url = forms.CharField(
        label="Address",
        max_length=LONGEST_URL,
        widget=forms.TextInput(
            attrs={"inputmode": "url", "placeholder": "https://example.com/hooks/vertex", "class": "mono"}
        ),
        help_text="It gets a signed POST within a minute of each change of records.",
    )
