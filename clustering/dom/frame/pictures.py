"""What kind of image or font some bytes are, and drawings that only draw.

The bytes decide, not what a server calls them. An SVG is written anew by the allow-lists of the
rendering: it may refer to itself and to nothing else.
"""

from __future__ import annotations

import re
from typing import Final

from lxml import etree

from clustering.dom.frame import markup
from clustering.dom.frame.stylesheets import clean_declarations, clean_stylesheet, place_files
from clustering.dom.frame.xml_text import attributes, escaped, is_local

MAX_ELEMENTS: Final = 50_000
SVG_TYPE: Final = "image/svg+xml"
_IMAGES: Final = [
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "image/webp"),
    (re.compile(rb".{4}ftyp(?:avif|avis)", re.DOTALL), "image/avif"),
    (re.compile(rb"BM.{12}", re.DOTALL), "image/bmp"),
    (re.compile(rb"\x00\x00\x01\x00[^\x00]\x00"), "image/x-icon"),
]
_FONTS: Final = [
    (re.compile(rb"wOF2"), "font/woff2"),
    (re.compile(rb"wOFF"), "font/woff"),
    (re.compile(rb"\x00\x01\x00\x00|true|ttcf"), "font/ttf"),
    (re.compile(rb"OTTO"), "font/otf"),
]
_SVG: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml|<!--|<!DOCTYPE\s+svg|<svg[\s>])", re.IGNORECASE
)
_SAFE_DATA: Final = re.compile(r"data:image/(?:png|gif|jpe?g|webp)[;,]", re.IGNORECASE)
_XLINK: Final = "{http://www.w3.org/1999/xlink}href"


def image_type(body: bytes) -> str:
    """Return the content type of an image, blank where the bytes are none that is shown."""
    for pattern, name in _IMAGES:
        if pattern.match(body):
            return name
    is_svg = _SVG.match(body[:1000]) and b"<svg" in body[:10_000].lower()
    return SVG_TYPE if is_svg else ""


def font_type(body: bytes) -> str:
    """Return the content type of a font, blank where the bytes are none."""
    return next((name for pattern, name in _FONTS if pattern.match(body)), "")


def clean_svg(body: bytes) -> bytes:
    """Return a drawing that runs nothing and loads nothing; blank where it is none."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        return b""
    if etree.QName(root).localname != "svg":
        return b""
    out: list[str] = []
    for n_seen, (event, node) in enumerate(etree.iterwalk(root, events=("start", "end"))):
        if n_seen > 2 * MAX_ELEMENTS:
            return b""
        if not isinstance(node.tag, str):  # an entity: it is not looked up
            continue
        name = _name(node)
        if event == "start":
            namespace = {"xmlns": markup.SVG} if node is root else {}
            out.append(f"<{name}{attributes(namespace | _values(node))}>{_text(node, name)}")
        else:
            tail = escaped(node.tail) if node.tail and node is not root else ""
            out.append(f"</{name}>{tail}")
    return "".join(out).encode()


def _name(node: etree._Element) -> str:
    name = etree.QName(node).localname.lower()
    return name if name == "style" else markup.SVG_ELEMENTS.get(name, "metadata")


def _text(node: etree._Element, name: str) -> str:
    if name == "style":
        sheet = clean_stylesheet("".join(str(text) for text in node.itertext()), _nowhere)
        return escaped(place_files(sheet, _nothing, _nowhere))
    return escaped(node.text) if node.text and name != "metadata" else ""


def _values(node: etree._Element) -> dict[str, str]:
    if _name(node) == "metadata":
        return {}
    values = {
        markup.SVG_ATTRIBUTES[str(key).lower()]: str(value)
        for key, value in node.items()
        if str(key).lower() in markup.SVG_ATTRIBUTES and is_local(str(value))
    }
    if style := node.get("style"):
        values["style"] = place_files(clean_declarations(str(style), _nowhere), _nothing, _nowhere)
    leads_to = str(node.get("href") or node.get(_XLINK) or "")
    if leads_to.startswith("#") or (_name(node) == "image" and _SAFE_DATA.match(leads_to)):
        values["href"] = leads_to
    return values


def _nowhere(_url: str) -> str | None:
    return None


def _nothing(_url: str, _kind: str) -> str | None:
    return None
