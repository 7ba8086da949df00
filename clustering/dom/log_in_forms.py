"""Read the form by which people log in, and whether a page shows that somebody is logged in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from lxml.html import HtmlElement

from clustering.dom.links import find_base
from clustering.dom.page import parse_page
from clustering.dom.visible import INVISIBLE_TAGS

_FIELD_TAGS: Final = ("input", "select", "textarea", "button")
# Inputs that a browser sends only where they are pressed, drawn or given a file.
_UNSENT_INPUTS: Final = frozenset({"button", "file", "image", "reset", "submit"})
_CHECKED_INPUTS: Final = frozenset({"checkbox", "radio"})
_WAY_OUT: Final = re.compile(r"(?i)(?<![a-z])(?:log|sign)[-_]?(?:out|off)(?![a-z])")
MAX_FORMS: Final = 50  # of a page that are looked at
MAX_FIELDS: Final = 500  # of a form


class FilledForm(NamedTuple):
    """A form as a browser would send it."""

    action: str  # as written
    base: str  # the address that the action is relative to
    method: str
    fields: list[tuple[str, str]]


def read_log_in_page(
    body: bytes, content_type: str, url: str, names: Sequence[str], sign: str
) -> tuple[bool, FilledForm | None]:
    """Return whether a page shows the sign, and its form with these fields, which are still blank.

    Raises PageTooLarge.
    """
    tree = parse_page(body, content_type).tree
    if tree is None:
        return False, None
    return shows_sign(tree, sign), fill_form(tree, url, dict.fromkeys(names, ""))


def page_shows_sign(body: bytes, content_type: str, sign: str) -> bool:
    """Return whether the bytes of a page show a sign, as `shows_sign` does. Raises PageTooLarge."""
    tree = parse_page(body, content_type).tree
    return tree is not None and shows_sign(tree, sign)


def fill_form(tree: HtmlElement, url: str, values: Mapping[str, str]) -> FilledForm | None:
    """Return the first form that has all these fields, filled in; None where there is none.

    `url` is where the page was fetched from; its own `<base href>` counts. What the form
    holds already, such as hidden fields, is sent as it stands.
    """
    for number, form in enumerate(tree.iter("form")):
        if number >= MAX_FORMS:
            return None
        names = {element.get("name") for element in form.iter(*_FIELD_TAGS)}
        if names >= values.keys():
            filled = [(name, text) for name, text in _fields_of(form) if name not in values]
            method = (form.get("method") or "get").strip().lower()
            action, base = form.get("action") or "", find_base(tree, url)
            return FilledForm(action, base, method, [*filled, *values.items()])
    return None


def shows_sign(tree: HtmlElement, sign: str) -> bool:
    """Return whether a page shows a text, or has the element that `#id` or `.class` names.

    >>> from lxml.html import document_fromstring
    >>> page = document_fromstring('<a id="out" class="link quiet" href="/out">Log  out</a>')
    >>> [shows_sign(page, sign) for sign in ("Log out", "#out", ".quiet", "Log in", "#in")]
    [True, True, True, False, False]
    """
    if sign.startswith("#"):
        return any(element.get("id") == sign[1:] for element in tree.iter("*"))
    if sign.startswith("."):
        return any(sign[1:] in element.get("class", "").split() for element in tree.iter("*"))
    words = " ".join(sign.split())
    return words in " ".join(" ".join(_texts(tree)).split())


def leads_out(url: str) -> bool:
    """Return whether an address looks like the one that ends a session.

    >>> paths = ("logout", "Sign-Out?next=/", "outlook")
    >>> [leads_out(f"https://a.example/{path}") for path in paths]
    [True, True, False]
    """
    return _WAY_OUT.search(url) is not None


def _fields_of(form: HtmlElement) -> Iterator[tuple[str, str]]:
    """Yield name and value of the fields that a browser would send, the first button included."""
    n_fields = 0
    has_button = False
    for element in form.iter(*_FIELD_TAGS):
        name = element.get("name")
        if not name or element.get("disabled") is not None:
            continue
        n_fields += 1
        if n_fields > MAX_FIELDS:
            return
        kind = (element.get("type") or "").strip().lower()
        if element.tag == "select":
            yield name, _option_of(element)
        elif element.tag == "textarea":
            yield name, str(element.text or "")
        elif kind == "submit" or (element.tag == "button" and kind == ""):
            if not has_button:
                has_button = True
                yield name, element.get("value") or ""
        elif element.tag == "button" or kind in _UNSENT_INPUTS:
            continue
        elif kind not in _CHECKED_INPUTS or element.get("checked") is not None:
            yield name, element.get("value") or ("on" if kind in _CHECKED_INPUTS else "")


def _option_of(select: HtmlElement) -> str:
    """Return the value of the chosen option, else of the first; blank without options."""
    options = list(select.iter("option"))
    if not options:
        return ""
    option = next((each for each in options if each.get("selected") is not None), options[0])
    value = option.get("value")
    return str(option.text or "").strip() if value is None else value


def _texts(tree: HtmlElement) -> Iterator[str]:
    """Yield the texts that a reader of the page sees."""
    for element in tree.iter("*"):
        if element.text and element.tag not in INVISIBLE_TAGS:
            yield element.text
        if element.tail:
            yield element.tail
