"""What people enter about a site."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from clustering.dom.addresses import BadAddress, normalise_url
from clustering.services.crawl.limits import DEFAULT_PAGES, MAX_PAGES
from vertex.core.models import Site
from vertex.core.models.sites import SITE_NAME

MISSPELT_SCHEME: Final = re.compile(r"(?!.*://)[^/?#]*:(?!\d)")  # a colon, and no port behind it


def read_address(written: str) -> str:
    """Return an address as typed by a person, with https where the scheme was left out."""
    written = written.strip()
    if MISSPELT_SCHEME.match(written):
        raise ValidationError(f"{written[:200]}: write https:// or http:// before the host.")
    whole = written if "://" in written else f"https://{written}"
    try:
        normalise_url(whole)
    except BadAddress as error:
        raise ValidationError(str(error)) from None
    return whole


def propose_name(address: str) -> str:
    """Return a free name for the site at this address: its host without www, numbered if in use.

    Blank where the address is invalid or has no host.
    """
    try:
        parts = urlsplit(address if "://" in address else f"https://{address}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    host_and_port = host.removeprefix("www.") + (f"-{port}" if port else "")
    base = "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in ".-_") else "-"
        for letter in host_and_port
    )
    base = base.strip(".-_")[:58]
    if not base:
        return ""
    used = set(Site.objects.filter(name__startswith=base).values_list("name", flat=True))
    name, number = base, 1
    while name in used:
        number += 1
        name = f"{base}-{number}"
    return name


class HostsField(forms.Field):
    """Host names, one a line."""

    widget = forms.Textarea(attrs={"rows": 3, "class": "mono", "spellcheck": "false"})

    def prepare_value(self, value: object) -> object:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: object) -> list[str]:
        return str(value or "").replace(",", " ").split()


class NewSiteForm(forms.Form):
    root_url = forms.CharField(
        label="Address",
        max_length=2048,
        widget=forms.TextInput(
            attrs={
                "inputmode": "url",
                "placeholder": "https://shop.example.com/",
                "autocomplete": "off",
                "autofocus": True,
                "class": "mono",
            }
        ),
        help_text="The site's home page. Pages are looked for on its host.",
    )
    name = forms.CharField(
        label="Name",
        max_length=63,
        required=False,
        validators=[SITE_NAME],
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "class": "mono"}
        ),
        help_text="Short and unique; it stands in addresses and commands. Blank: "
        "made from the address.",
    )
    crawls_at_once = forms.BooleanField(label="Crawl at once", required=False, initial=True)
    max_pages = forms.IntegerField(
        label="Pages at most",
        min_value=1,
        max_value=MAX_PAGES,
        required=False,
        initial=DEFAULT_PAGES,
        help_text=f"Blank: {DEFAULT_PAGES:,}.",
    )

    def clean_root_url(self) -> str:
        return read_address(self.cleaned_data["root_url"])

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name and Site.objects.filter(name=name).exists():
            raise ValidationError(f"There is already a site “{name}”. Choose another name.")
        return name

    def clean_max_pages(self) -> int:
        return self.cleaned_data["max_pages"] or DEFAULT_PAGES

    def clean(self) -> dict[str, Any]:
        entered = super().clean() or self.cleaned_data
        if not entered.get("name") and "name" not in self.errors and "root_url" in entered:
            entered["name"] = propose_name(entered["root_url"])
            if not entered["name"]:
                self.add_error("name", "No name can be made from this address. Enter one.")
        return entered


class SiteSettingsForm(forms.Form):
    title = forms.CharField(
        label="Title", max_length=200, required=False, help_text="What people call the site."
    )
    extra_hosts = HostsField(
        label="Further hosts",
        required=False,
        help_text="Host names whose pages belong to the site too, one a line.",
    )
    snapshots_kept = forms.IntegerField(
        label="Snapshots kept of each page",
        min_value=1,
        max_value=10_000,
        required=False,
        help_text="Blank: as set for this installation. What anything refers to is always kept.",
    )
    match_by = forms.ChoiceField(
        label="How a page finds its rule",
        choices=Site.MatchBy.choices,
        help_text="The clustering serves the most pages; the other is the order of the Vertex "
        "paper. After a change the next extraction runs on all pages.",
    )
    country = forms.CharField(
        label="Country",
        max_length=2,
        required=False,
        help_text="Two letters, such as DE: telephone numbers and signs such as $ and kr are "
        "read as there. "
        "Blank: by the host name.",
    )


class DeleteSiteForm(forms.Form):
    typed_name = forms.CharField(
        label="Name of the site",
        max_length=63,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "class": "mono"}
        ),
    )

    def __init__(self, data: QueryDict | None, *, site: Site) -> None:
        super().__init__(data)
        self.site = site

    def clean_typed_name(self) -> str:
        typed: str = self.cleaned_data["typed_name"]
        if typed != self.site.name:
            raise ValidationError(
                f"“{typed}” is not the name of this site. Type {self.site.name} to delete it."
            )
        return typed
