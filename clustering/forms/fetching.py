"""What people enter about how a site is fetched. What is secret is never written into a form."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.http import QueryDict

from clustering.models import Cluster, SiteFetching
from clustering.services.crawl.limits import MAX_DELAY
from clustering.services.sites.site_fetching import (
    MAX_FIELD_NAME,
    MAX_PROXY_USER,
    MAX_SIGN,
    MAX_USER_AGENT,
    allowed_proxies,
    rendered_clusters_of,
)
from vertex.core.models import Site

PLAIN, BROWSER = "plain", "browser"


class SecretText(forms.Textarea):
    """Lines that are taken and never shown again, not even to whoever has typed them."""

    def format_value(self, _value: object) -> None:
        return None


class SecretsField(forms.Field):
    """Names with values, one a line. Errors tell the line's number only."""

    def __init__(self, *, separator: str, example: str, **options: Any) -> None:
        attributes = {
            "rows": 3,
            "class": "mono",
            "spellcheck": "false",
            "autocomplete": "off",
            "placeholder": example,
        }
        super().__init__(widget=SecretText(attrs=attributes), required=False, **options)
        self.separator = separator

    def to_python(self, value: object) -> dict[str, str]:
        value_by_name = {}
        for number, line in enumerate(str(value or "").splitlines(), 1):
            if not line.strip():
                continue
            name, separator, text = line.partition(self.separator)
            if not separator:
                raise ValidationError(f"Line {number} has no “{self.separator}” behind a name.")
            value_by_name[name.strip()] = text.strip()
        return value_by_name


class RemovedNames(forms.MultipleChoiceField):
    """Names that are kept, to be ticked where they shall go."""

    def __init__(self) -> None:
        super().__init__(
            label="Kept; tick what is to be removed",
            required=False,
            widget=forms.CheckboxSelectMultiple,
            choices=[],
        )


class FetchingForm(forms.Form):
    fetcher = forms.ChoiceField(
        label="Fetched by",
        choices=[
            (PLAIN, "Plain requests"),
            (
                BROWSER,
                "A real browser (Chromium), for what pages show only after their scripts ran",
            ),
        ],
        widget=forms.RadioSelect,
    )
    rendered_clusters = forms.MultipleChoiceField(
        label="Clusters that a real browser fetches in any case",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Where only some pages show something after their scripts ran: "
        "a browser takes long.",
    )
    crawl_delay = forms.FloatField(
        label="Pause between requests",
        min_value=0,
        max_value=MAX_DELAY,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="Seconds for each host. 0 only for sites of your own.",
    )
    obey_robots = forms.BooleanField(
        label="Obey robots.txt",
        required=False,
        help_text="Leave out what the site asks robots not to fetch.",
    )
    user_agent = forms.CharField(
        label="User agent",
        max_length=MAX_USER_AGENT,
        required=False,
        widget=forms.TextInput(attrs={"class": "mono", "spellcheck": "false"}),
        help_text="The name under which the site is asked. Blank: that of the installation, by "
        "which robots.txt is read in any case.",
    )
    new_headers = SecretsField(
        label="Add or replace headers", separator=":", example="Authorization: Bearer …"
    )
    removed_headers = RemovedNames()
    new_cookies = SecretsField(label="Add or replace cookies", separator="=", example="consent=yes")
    removed_cookies = RemovedNames()
    proxy = forms.ChoiceField(label="Proxy", required=False)
    proxy_user = forms.CharField(
        label="User of the proxy", max_length=MAX_PROXY_USER, required=False
    )
    proxy_password = forms.CharField(
        label="Password of the proxy",
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    log_in_url = forms.CharField(
        label="Page with the form",
        max_length=2048,
        required=False,
        widget=forms.TextInput(attrs={"inputmode": "url", "class": "mono", "autocomplete": "off"}),
        help_text="Its address, on a host of the site. Blank: nobody is logged in.",
    )
    new_log_in_fields = SecretsField(
        label="Add or replace fields",
        separator="=",
        example="username=…",
        help_text="What is entered, by the names of the form's fields; the password has its own "
        "below. Other fields are sent as they stand.",
    )
    log_in_password_name = forms.CharField(
        label="Name of the password's field",
        max_length=MAX_FIELD_NAME,
        required=False,
        widget=forms.TextInput(
            attrs={"class": "mono", "autocomplete": "off", "placeholder": "password"}
        ),
        help_text="As the form calls it, in the source of the page.",
    )
    log_in_password = forms.CharField(
        label="Password",
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="Never shown again. Blank leaves what is kept.",
    )
    removed_log_in_fields = RemovedNames()
    log_in_sign = forms.CharField(
        label="Shows that one is logged in",
        max_length=MAX_SIGN,
        required=False,
        help_text="What every page shows only to those who are: a text such as Log out, or an "
        "element as #id or .class.",
    )

    def __init__(self, data: QueryDict | None, *, site: Site, fetching: SiteFetching) -> None:
        super().__init__(data, initial=_shown(site, fetching))
        self._kept = {
            "headers": fetching.headers,
            "cookies": fetching.cookies,
            "log_in_fields": fetching.log_in_fields,
        }
        for name, sealed_by_name in self._kept.items():
            if sealed_by_name:
                self.removed_field(name).choices = [(each, each) for each in sealed_by_name]
            else:
                del self.fields[f"removed_{name}"]
        clusters = _choices_of_clusters(site)
        rendered = self.fields["rendered_clusters"]
        if not clusters:
            del self.fields["rendered_clusters"]
        elif isinstance(rendered, forms.MultipleChoiceField):
            rendered.choices = clusters
        proxies = list(dict.fromkeys([*allowed_proxies(), *filter(None, [fetching.proxy])]))
        proxy = self.fields["proxy"]
        if isinstance(proxy, forms.ChoiceField):
            proxy.choices = [
                ("", "None: the site is asked directly"),
                *((each, each) for each in proxies),
            ]
        password = "kept; blank leaves it as it is" if fetching.proxy_password else "none is kept"
        self.fields["proxy_password"].help_text = f"Never shown again: {password}."

    def clean(self) -> dict[str, Any]:
        """Put the password among the fields of the log-in, under its name in the form."""
        entered: dict[str, Any] = super().clean() or self.cleaned_data
        name = entered.pop("log_in_password_name", "")
        password = entered.pop("log_in_password", "")
        if password and not name:
            self.add_error("log_in_password_name", "Say what the form calls the password's field.")
        elif name and not password:
            self.add_error("log_in_password", f"Enter what is sent as {name}.")
        elif name and "new_log_in_fields" in entered:
            entered["new_log_in_fields"][name] = password
        return entered

    def removed_field(self, name: str) -> RemovedNames:
        """Return the field in which names of a kind are ticked."""
        field = self.fields[f"removed_{name}"]
        if not isinstance(field, RemovedNames):
            raise TypeError(f"{name} are not ticked")
        return field

    @property
    def changes(self) -> dict[str, Any]:
        """Return what `change_fetching` takes."""
        entered = dict(self.cleaned_data)
        changes: dict[str, Any] = {"render": entered.pop("fetcher") == BROWSER}
        for name in self._kept:
            removed = dict.fromkeys(entered.pop(f"removed_{name}", []))
            changes[name] = {**removed, **entered.pop(f"new_{name}")}
        password = entered.pop("proxy_password")
        if password:
            changes["proxy_password"] = password
        return changes | entered


def _choices_of_clusters(site: Site) -> list[tuple[str, str]]:
    """Return the clusters of a site that have pages now, and those that are chosen."""
    has_pages = Q(figures__clustering__is_current=True, figures__n_pages__gt=0)
    rows = Cluster.objects.filter(has_pages | Q(is_rendered=True), site=site).distinct()
    return [(row.name, row.title) for row in rows.order_by("title", "name")]


def _shown(site: Site, fetching: SiteFetching) -> dict[str, Any]:
    return {
        "fetcher": BROWSER if site.render else PLAIN,
        "rendered_clusters": rendered_clusters_of(site),
        "crawl_delay": site.crawl_delay,
        "obey_robots": site.obey_robots,
        "user_agent": fetching.user_agent,
        "proxy": fetching.proxy,
        "proxy_user": fetching.proxy_user,
        "log_in_url": fetching.log_in_url,
        "log_in_sign": fetching.log_in_sign,
    }
