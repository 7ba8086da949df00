"""What people enter or hand in to get pages: crawls, archives, search logs."""

from __future__ import annotations

from django import forms
from django.db.models.fields.files import FieldFile

from clustering.forms.sites import read_address
from clustering.services.crawl.address_lists import MAX_PASTED
from clustering.services.crawl.crawling import Strategy
from clustering.services.crawl.limits import DEFAULT_PAGES, MAX_DELAY, MAX_PAGES


class ManyFilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """One file or several; `clean` returns them as a list."""

    widget = ManyFilesInput

    def clean(self, data: object, initial: FieldFile | None = None) -> list[object]:
        handed_in = data if isinstance(data, list) and data else [None]
        return [super(ManyFilesField, self).clean(file, initial) for file in handed_in]


class AddressField(forms.CharField):
    """An address, normalised; blank where none is entered."""

    def __init__(self, label: str, *, help_text: str) -> None:
        super().__init__(
            label=label,
            max_length=2048,
            required=False,
            widget=forms.TextInput(
                attrs={"inputmode": "url", "class": "mono", "autocomplete": "off"}
            ),
            help_text=help_text,
        )

    def clean(self, value: object) -> str:
        entered: str = super().clean(value)
        return read_address(entered) if entered else ""


def max_pages_field() -> forms.IntegerField:
    return forms.IntegerField(
        label="Pages at most", min_value=1, max_value=MAX_PAGES, initial=DEFAULT_PAGES
    )


def delay_field() -> forms.FloatField:
    return forms.FloatField(
        label="Pause between requests",
        min_value=0,
        max_value=MAX_DELAY,
        required=False,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="Seconds for each host. Blank: as in the site's settings.",
    )


class ImportForm(forms.Form):
    uploads = ManyFilesField(
        label="Files",
        help_text="A zip of pages, with a manifest.jsonl or without, a WARC, or HTML files.",
    )
    base_url = AddressField(
        "Address that the files stand for",
        help_text="For files that do not say it: a.html becomes this address with a.html after it.",
    )


class SearchLogForm(forms.Form):
    file = forms.FileField(
        label="File",
        help_text="Lines of query, address and number of clicks, with a tab between them.",
    )


class SitemapForm(forms.Form):
    sitemap = AddressField(
        "Sitemap", help_text="Blank: those that robots.txt names, else /sitemap.xml."
    )
    max_pages = max_pages_field()
    delay = delay_field()


class AddressListForm(forms.Form):
    addresses = forms.CharField(
        label="Addresses",
        required=False,
        max_length=1_500_000,
        widget=forms.Textarea(attrs={"rows": 10, "class": "mono", "spellcheck": "false"}),
        help_text=f"One a line, at most {MAX_PASTED:,}.",
    )
    file = forms.FileField(
        label="Or a file",
        required=False,
        help_text="An address a line, also as .gz or .zst; of any length.",
    )
    delay = delay_field()

    def clean(self) -> dict[str, object]:
        entered = super().clean() or {}
        if bool(entered.get("addresses")) == bool(entered.get("file")):
            raise forms.ValidationError("Paste addresses or choose a file, one of the two.")
        return entered


class CrawlForm(forms.Form):
    entry = AddressField("Begin at", help_text="Blank: the site's home page.")
    max_pages = max_pages_field()
    delay = delay_field()

    strategy = forms.ChoiceField(
        label="Order",
        choices=Strategy.choices,
        required=False,
        help_text="Breadth first visits all pages. The others visit the few that show what "
        "kinds there are, "
        "and stop by themselves.",
    )

    def clean_strategy(self) -> str:
        return self.cleaned_data["strategy"] or Strategy.BREADTH_FIRST
