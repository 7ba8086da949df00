"""What people enter about verticals."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.forms.formsets import BaseFormSet, formset_factory

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import ATTRIBUTE_NAME, Attribute, Vertical
from annotation.services.verticals.verticals import (
    MAX_ATTRIBUTES,
    MAX_DESCRIPTION,
    MAX_REGEX,
    BadVertical,
    VerticalPlan,
    check_vertical,
    problem_of_regex,
    read_vertical,
)

PLAIN = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
MAX_FILE = 1024 * 1024


class VerticalForm(forms.Form):
    """A vertical without its attributes."""

    description = forms.CharField(
        max_length=MAX_DESCRIPTION,
        required=False,
        help_text="What kind of thing its pages describe.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    version = forms.IntegerField(min_value=0, initial=0, widget=forms.HiddenInput)


class AddVerticalForm(VerticalForm):
    """A new vertical."""

    name = forms.CharField(
        max_length=63,
        validators=[ATTRIBUTE_NAME],
        help_text="As commands, rules and exports call it: product, real_estate. "
        "It cannot change later.",
        widget=forms.TextInput(attrs=PLAIN | {"autofocus": True}),
    )
    field_order = ["name", "description", "version"]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Vertical.objects.filter(name=name).exists():
            raise ValidationError(
                f"There is a vertical “{name}” already. Change that one or choose another name."
            )
        return name


class AttributeForm(forms.Form):
    """A row for one attribute; a row without a name is none."""

    name = forms.CharField(
        max_length=63,
        required=False,
        validators=[ATTRIBUTE_NAME],
        widget=forms.TextInput(attrs=PLAIN | {"placeholder": "Name"}),
    )
    type = forms.ChoiceField(choices=Attribute.Type, initial=Attribute.Type.TEXT)
    is_mandatory = forms.BooleanField(label="Mandatory", required=False)
    is_multi = forms.BooleanField(label="Several values", required=False)
    is_constant = forms.BooleanField(label="Constant", required=False)
    regex = forms.CharField(
        label="Regex",
        max_length=MAX_REGEX,
        required=False,
        strip=False,
        widget=forms.TextInput(attrs=PLAIN | {"class": "mono", "placeholder": "Regex"}),
    )

    def clean_regex(self) -> str:
        regex: str = self.cleaned_data["regex"]
        problem = problem_of_regex(regex)
        if problem:
            raise ValidationError(f"{problem[0].upper()}{problem[1:]}.")
        return regex

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        is_blank = set(self.changed_data) <= {"ORDER", "DELETE"}
        if not is_blank and not cleaned.get("name") and "name" not in self.errors:
            self.add_error("name", "Give the attribute a name, or remove it.")
        return cleaned

    @property
    def plan(self) -> AttributeType:
        """Return the attribute as it is to be."""
        names = ("name", "type", "is_constant", "is_mandatory", "is_multi", "regex")
        return AttributeType(**{name: self.cleaned_data[name] for name in names})


class AttributeRows(BaseFormSet):  # type: ignore[type-arg]  # generic in the stubs only
    """All rows of a vertical's attributes."""

    def clean(self) -> None:
        """Refuse two attributes of one name, at the second of them."""
        seen: set[str] = set()
        for form in self.kept_forms:
            name = form.cleaned_data.get("name", "")
            if name in seen:
                form.add_error("name", f"There are two attributes “{name}”. Rename or remove one.")
            seen.add(name)

    @property
    def kept_forms(self) -> list[AttributeForm]:
        """Return the rows that are attributes, in the order wished for."""
        entered = [form for form in self.forms if form.cleaned_data.get("name")]
        undeleted = [form for form in entered if not form.cleaned_data.get("DELETE")]
        return sorted(undeleted, key=lambda form: form.cleaned_data.get("ORDER") or 0)

    @property
    def in_order(self) -> list[AttributeForm]:
        """Return all rows as they were put in order, for showing them again."""
        places = {form: str(form["ORDER"].value() or "") for form in self.forms}
        return sorted(
            self.forms, key=lambda form: int(places[form]) if places[form].isdecimal() else 0
        )

    @property
    def plans(self) -> list[AttributeType]:
        """Return the attributes as they are to be."""
        return [form.plan for form in self.kept_forms]


AttributeFormSet = cast(
    "type[AttributeRows]",
    formset_factory(
        AttributeForm,
        formset=AttributeRows,
        extra=0,
        can_order=True,
        can_delete=True,
        max_num=MAX_ATTRIBUTES,
        absolute_max=MAX_ATTRIBUTES + 50,
        validate_max=True,
    ),
)


class VerticalFileForm(forms.Form):
    """A vertical as a JSON document in a file; reads it into `plan`."""

    file = forms.FileField(
        label="JSON file",
        help_text="As exported here or loaded by the command load_vertical.",
        widget=forms.FileInput(attrs={"accept": ".json,application/json"}),
    )

    def clean_file(self) -> None:
        file = self.cleaned_data["file"]
        if file.size > MAX_FILE:
            raise ValidationError(f"{file.name} is larger than {MAX_FILE // 2**20} MiB.")
        self.cleaned_data["plan"] = read_plan(file.read())


class VerticalTextForm(forms.Form):
    """A vertical as a JSON document, as an undo brings it back; reads it into `plan`."""

    document = forms.CharField(max_length=MAX_FILE, widget=forms.HiddenInput)

    def clean_document(self) -> None:
        self.cleaned_data["plan"] = read_plan(self.cleaned_data["document"].encode())


def read_plan(text: bytes) -> VerticalPlan:
    """Return the vertical that a document describes, or say all that is wrong with it."""
    try:
        plan = read_vertical(text)
        check_vertical(plan)
    except BadVertical as error:
        raise ValidationError(
            [f"{problem[0].upper()}{problem[1:]}." for problem in error.problems]
        ) from None
    return plan
