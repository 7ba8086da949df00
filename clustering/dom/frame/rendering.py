"""Write a stored page so that a browser only shows it: safe, every element numbered.

The tree is written as XHTML, which browsers read without repairing it: each element keeps its place
and carries its number, its place among all elements of the tree in document order, from 0. What
acts, loads or leads elsewhere is left out by allow-lists; an element that may not stand there
becomes an inert one with the same number. The only elements without a number are a `tbody` around
rows that stand directly in a table, as browsers add it, and what the frame itself needs.

Text nodes keep their places too: the n-th text of an element, counted from 0 over its text and the
tails of its children, comments and processing instructions included, is the n-th text node of the
rendered element. A comment is written as an empty one, so that texts on both sides of it stay two.
White space is kept; what XML cannot hold is replaced character by character, so that offsets stay.
Scripts, styles and what stands for a loaded file have no text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from lxml import etree
from lxml.etree import _Element

from clustering.dom.addresses import BadAddress, join_url, normalise_url
from clustering.dom.frame import markup
from clustering.dom.frame.frame_style import BASE_SHEET, QUIRKS_SHEET
from clustering.dom.frame.placeholders import box_size, image_source, placeholder
from clustering.dom.frame.stylesheets import (
    MAX_INLINED,
    clean_declarations,
    clean_stylesheet,
    place_files,
    steady_media,
)
from clustering.dom.frame.xml_text import attributes, escaped, is_local
from clustering.dom.links import find_base
from clustering.dom.page import parse_page

# Not INVISIBLE_TAGS: a `noscript` is written with its text, which the style sheet of the frame
# hides.
TEXTLESS: Final = frozenset({"script", "style", "template"})
MAX_VALUE: Final = 2_000  # characters of an attribute that is shown as it is
MAX_LONG_VALUE: Final = 100_000  # of a drawing's path or a style
NOWHERE: Final = "#."  # what links lead to: a link still looks like one
IMAGE_HOLDERS: Final = frozenset({"body", "table", "thead", "tbody", "tfoot", "tr", "td", "th"})

_SAFE_DATA_IMAGE: Final = re.compile(
    r"data:image/(?:png|gif|jpe?g|webp|avif|bmp|x-icon)[;,]", re.IGNORECASE
)
_NO_QUIRKS: Final = re.compile(
    r"<!DOCTYPE\s+html\s*>|<!DOCTYPE\s+html\s+SYSTEM|XHTML 1\.[01]|HTML 4\.01//"
    r"|4\.01 Transitional//EN\"\s+\"http",
    re.IGNORECASE,
)


class FrameFiles(NamedTuple):
    """What was stored of the files that a page names."""

    address_of: Callable[[str, str], str | None]  # of an image or a font: where the frame gets it
    sheet_of: Callable[[str], str | None]  # a cleaned style sheet


class FrameScript(NamedTuple):
    """The one script of the frame, and what it is given."""

    address: str
    nonce: str
    token: str
    parent: str  # the origin of the page around the frame


NO_FILES: Final = FrameFiles(lambda _url, _kind: None, lambda _url: None)


def number_elements(tree: _Element) -> list[_Element]:
    """Return the elements of a tree in the order of their numbers."""
    return list(tree.iter(etree.Element))


def number_of(tree: _Element, element: _Element) -> int:
    """Return an element's number. Raises ValueError where it is not of the tree."""
    return number_elements(tree).index(element)


def wanted_files(
    tree: _Element, *, base_url: str, sheet_of: Callable[[str], str | None]
) -> dict[str, str]:
    """Return the kinds of the files that a page is drawn with, by address, in order of use.

    `sheet_of` returns the style sheets that are known: what they name is wanted too.
    """
    kinds: dict[str, str] = {}

    def record(url: str, kind: str) -> str | None:
        kinds.setdefault(url, kind)
        return None

    def record_sheet(url: str) -> str | None:
        kinds.setdefault(url, "sheet")
        return sheet_of(url)

    files = FrameFiles(address_of=record, sheet_of=record_sheet)
    _Writer(find_base(tree, base_url), files).write(tree, opening="", closing="")
    return kinds


def files_wanted_by(
    body: bytes, content_type: str, *, base_url: str, sheets: Mapping[str, str]
) -> dict[str, str]:
    """Return what `wanted_files` does of the bytes of a page; nothing of an empty one.

    Raises PageTooLarge.
    """
    tree = parse_page(body, content_type).tree
    return {} if tree is None else wanted_files(tree, base_url=base_url, sheet_of=sheets.get)


def render_page(
    tree: _Element,
    *,
    base_url: str,
    files: FrameFiles = NO_FILES,
    script: FrameScript | None = None,
) -> bytes:
    """Return the page as XHTML that shows it and runs nothing but the frame's own script."""
    writer = _Writer(find_base(tree, base_url), files)
    base = BASE_SHEET if _NO_QUIRKS.search(_doctype(tree)) else QUIRKS_SHEET
    opening = f"<style>{escaped(base)}</style>"
    closing = "" if script is None else _script_element(script)
    writer.write(tree, opening=opening, closing=closing)
    return ("<!DOCTYPE html>\n" + "".join(writer.out)).encode()


def render_body(
    body: bytes,
    content_type: str,
    *,
    base_url: str,
    addresses: Mapping[str, tuple[str, str]],
    sheets: Mapping[str, str],
    script: Sequence[str] | None,
) -> bytes:
    """Return a page as `render_page` does, blank where there is nothing on it.

    All arguments are plain values: `addresses` has the kind of each stored file and where the frame
    gets it, `sheets` the cleaned style sheets, both by URL; `script` has the parts of a
    FrameScript. Raises PageTooLarge.
    """
    tree = parse_page(body, content_type).tree
    if tree is None:
        return b""

    def address_of(url: str, kind: str) -> str | None:
        stored_kind, address = addresses.get(url, ("", ""))
        return address if stored_kind == kind else None

    return render_page(
        tree,
        base_url=base_url,
        files=FrameFiles(address_of, sheets.get),
        script=FrameScript(*script) if script else None,
    )


def _script_element(script: FrameScript) -> str:
    values = {
        "nonce": script.nonce,
        "src": script.address,
        "data-token": script.token,
        "data-parent": script.parent,
    }
    return f"<script{attributes(values)}></script>"


@dataclass(slots=True)
class _Writer:
    """Write a page, element by element, in one walk over its tree."""

    base_url: str
    files: FrameFiles
    out: list[str] = field(default_factory=list)
    number: int = 0  # of the next element
    # Of the open elements and of the document around them: their namespaces.
    spaces: list[str] = field(default_factory=lambda: [markup.XHTML])
    open_names: list[str] = field(default_factory=list)
    cleaned_styles: dict[str, str] = field(default_factory=dict)  # by the `style` attribute
    n_inlined: int = 0  # characters of style sheets

    def write(self, tree: _Element, *, opening: str, closing: str) -> None:
        """Write the tree; `opening` and `closing` stand within the outermost element, `html`."""
        if tree.tag != "html":
            self.out.append(f'<html xmlns="{markup.XHTML}">{opening}')
            self.write_within(tree, opening="", closing="")
            self.out.append(f"{closing}</html>")
        else:
            self.write_within(tree, opening=opening, closing=closing)

    def write_within(self, tree: _Element, *, opening: str, closing: str) -> None:
        for event, node in etree.iterwalk(tree, events=("start", "end", "comment", "pi")):
            if event == "start":
                self.start(node)
                if node is tree:
                    self.out.append(opening)
                self.text(node)
                continue
            if event == "end":
                if node is tree:
                    self.out.append(closing)
                self.end(node)
            else:
                self.out.append("<!---->")
            if node is not tree and node.tail and not _is_textless(node.getparent()):
                self.out.append(escaped(node.tail))

    def start(self, element: _Element) -> None:
        number = self.number
        self.number += 1
        if element.tag == "tr" and self.spaces[-1] == markup.XHTML and _begins_rows(element):
            self.out.append("<tbody>")
        name, space = self.name_and_space(element)
        values = self.values(element, name, space)
        if space != self.spaces[-1] or (number == 0 and name == "html"):
            values = {"xmlns": space, **values}
        self.out.append(f'<{name}{attributes(values)} {markup.OWN_ATTRIBUTE}="{number}">')
        self.spaces.append(space)
        self.open_names.append(name)

    def end(self, element: _Element) -> None:
        self.spaces.pop()
        self.out.append(f"</{self.open_names.pop()}>")
        if element.tag == "tr" and self.spaces[-1] == markup.XHTML and _ends_rows(element):
            self.out.append("</tbody>")

    def text(self, element: _Element) -> None:
        name = self.open_names[-1]
        if name == "style":
            self.out.append(escaped(self.sheet(element)))
        elif element.text and element.tag not in TEXTLESS:
            self.out.append(escaped(element.text))

    def name_and_space(self, element: _Element) -> tuple[str, str]:
        """Return the name under which an element is written, and its namespace."""
        tag, space = str(element.tag), self.spaces[-1]
        if tag == "svg":
            return tag, markup.SVG
        if space == markup.SVG:
            if tag == "style":
                return tag, space
            return markup.SVG_ELEMENTS.get(tag, markup.NEUTRAL[space]), space
        if space == markup.MATHML or tag == "math":
            name = tag if tag in markup.MATHML_ELEMENTS else markup.NEUTRAL[space]
            return name, markup.MATHML
        if tag in {"link", "style"}:
            return ("style" if _is_sheet(element) else f"{markup.PREFIX}{tag}"), space
        is_empty = len(element) == 0 and not element.text
        return markup.element_name(tag, is_empty=is_empty), space

    # Attributes

    def values(self, element: _Element, name: str, space: str) -> dict[str, str]:
        """Return the attributes that an element is written with; `name` is that of the written tag.

        Links lead nowhere, nothing takes the focus, and a box that stands for something else
        has its size.
        """
        if space == markup.SVG:
            return self.svg_values(element)
        if space == markup.MATHML:
            values = {
                str(key): str(value)
                for key, value in element.items()
                if key in markup.MATHML_ATTRIBUTES
            }
            return values | self.style(element)
        tag = str(element.tag)
        values = {
            str(key): str(value)[:MAX_VALUE]
            for key, value in element.items()
            if markup.is_kept(tag, str(key))
        }
        values |= self.style(element)
        if name == "style":
            return _media(element, tag)
        values |= self.image_values(element, tag)
        if tag in {"a", "area"} and element.get("href") is not None:
            values["href"] = NOWHERE
        if tag in markup.FOCUSABLE:
            values["tabindex"] = "-1"
        if tag in markup.BOXES and name.startswith(markup.PREFIX):
            values["style"] = box_size(element) + values.get("style", "")
        return values

    def style(self, element: _Element) -> dict[str, str]:
        written = element.get("style")
        if not written:
            return {}
        if written not in self.cleaned_styles:
            marked = clean_declarations(str(written)[:MAX_LONG_VALUE], self.resolve)
            self.cleaned_styles[written] = place_files(marked, self.files.address_of, _no_sheet)
        return {"style": self.cleaned_styles[written]}

    def image_values(self, element: _Element, tag: str) -> dict[str, str]:
        """Return where an element's image was stored, or a grey box of its size."""
        if tag == "img" or (tag == "input" and element.get("type", "").lower() == "image"):
            written = image_source(element)
            if not written:
                return {}
            return {"src": self.stored(written) or placeholder(element)}
        written = element.get("background", "") if tag in IMAGE_HOLDERS else ""
        stored = self.stored(written) if written else None
        return {"background": stored} if stored else {}

    def svg_values(self, element: _Element) -> dict[str, str]:
        values: dict[str, str] = {}
        for key, value in element.items():
            shown = str(value)[:MAX_LONG_VALUE]
            if key in markup.SVG_ATTRIBUTES and is_local(shown):
                values[markup.SVG_ATTRIBUTES[str(key)]] = shown
        values |= self.style(element)
        href = str(element.get("href") or element.get("xlink:href") or "")
        if element.tag == "image":
            stored = self.stored(href) if href else None
            if stored:
                values["href"] = stored
        elif href.startswith("#"):
            values["href"] = href[:MAX_VALUE]
        return values

    # FrameFiles

    def resolve(self, written: str) -> str | None:
        try:
            return normalise_url(join_url(self.base_url, written))
        except BadAddress:
            return None

    def stored(self, written: str) -> str | None:
        """Return the frame's address of an image, None where it is not stored."""
        if _SAFE_DATA_IMAGE.match(written):
            return written
        url = self.resolve(written)
        return None if url is None else self.files.address_of(url, "image")

    def sheet(self, element: _Element) -> str:
        """Return the style sheet that an element holds or leads to, with its files placed."""
        if element.tag == "link":
            url = self.resolve(_sheet_address(element))
            marked = (self.files.sheet_of(url) if url else None) or ""
        else:
            marked = clean_stylesheet(str(element.xpath("string()"))[:MAX_INLINED], self.resolve)
        placed = place_files(marked, self.files.address_of, self.sheet_of)
        self.n_inlined += len(placed)
        return placed if self.n_inlined <= MAX_INLINED else ""

    def sheet_of(self, url: str) -> str | None:
        sheet = self.files.sheet_of(url)
        self.n_inlined += len(sheet or "")
        return sheet if self.n_inlined <= MAX_INLINED else None


def _doctype(tree: _Element) -> str:
    """Return the page's own first line, or the old one that the parser gives to pages without."""
    docinfo = tree.getroottree().docinfo
    return str(docinfo.doctype)  # type: ignore[attr-defined]  # the stubs do not know it


def _sheet_address(element: _Element) -> str:
    """Return where a `link` gets a style sheet from, blank where it gets none."""
    kinds = str(element.get("rel", "")).lower().split()
    is_sheet = "stylesheet" in kinds or (
        "preload" in kinds and element.get("as", "").lower() == "style"
    )
    is_used = "alternate" not in kinds and element.get("disabled") is None
    return str(element.get("href", "")).strip() if is_sheet and is_used else ""


def _is_sheet(element: _Element) -> bool:
    if element.tag == "link":
        return bool(_sheet_address(element))
    return str(element.get("type", "")).strip().lower() in {"", "text/css"}


def _media(element: _Element, tag: str) -> dict[str, str]:
    media = str(element.get("media", "")).strip()
    if tag == "link" and media.lower() == "print" and element.get("onload"):
        media = "all"  # a sheet that a script was to switch on
    return {"media": steady_media(media)[:MAX_VALUE]} if media else {}


def _begins_rows(row: _Element) -> bool:
    """Return whether browsers put a `tbody` before a row."""
    parent = row.getparent()
    return parent is not None and parent.tag == "table" and _neighbour(row, before=True) != "tr"


def _ends_rows(row: _Element) -> bool:
    parent = row.getparent()
    return parent is not None and parent.tag == "table" and _neighbour(row, before=False) != "tr"


def _neighbour(element: _Element, *, before: bool) -> str:
    """Return the tag of the next element before or behind an element, blank where there is none."""
    for sibling in element.itersiblings(preceding=before):
        if isinstance(sibling.tag, str):
            return sibling.tag
    return ""


def _is_textless(element: _Element | None) -> bool:
    return element is not None and element.tag in TEXTLESS


def _no_sheet(_url: str) -> str | None:
    return None
