"""Forms that reach over more than one app."""

from __future__ import annotations

from django import forms
from django.http import QueryDict

from annotation.models import Vertical
from clustering.forms.sites import NewSiteForm, SiteSettingsForm
from vertex.core.models.sites import SITE_NAME


class SiteVerticalForm(forms.Form):
    """The vertical of a site, asked for once there is any."""

    vertical = forms.ModelChoiceField(
        Vertical.objects.all(),
        required=False,
        empty_label="Decide later",
        to_field_name="name",
        help_text="What most pages of the site describe; a cluster may say otherwise.",
    )

    def __init__(
        self, data: QueryDict | None = None, *, initial: dict[str, object] | None = None
    ) -> None:
        super().__init__(data, initial=initial)
        if not Vertical.objects.exists():
            del self.fields["vertical"]


class AddSiteForm(NewSiteForm, SiteVerticalForm):
    field_order = ["root_url", "name", "vertical", "crawls_at_once", "max_pages"]


class ImportSiteForm(forms.Form):
    """The export of a site, and what the site is to be called here."""

    file = forms.FileField(label="File", help_text="The zip file that “Export site” wrote.")
    name = forms.CharField(
        label="Name here",
        max_length=63,
        required=False,
        validators=[SITE_NAME],
        widget=forms.TextInput(attrs={"autocomplete": "off", "class": "mono"}),
        help_text="Blank: the name that it had there.",
    )


class SettingsForm(SiteSettingsForm, SiteVerticalForm):
    field_order = ["title", "vertical"]
