"""Make a page still: it can be drawn, but runs nothing, asks for nothing and leads nowhere.

A browser draws a picture of it with scripts and network off; that nothing of the page acts is
ensured twice on purpose.
"""

from __future__ import annotations

from itertools import islice

from lxml import etree
from lxml.etree import _Element

from clustering.dom.page import parse_page

_DROPPED = """script iframe frame frameset object embed applet link base meta portal template
    noscript audio video source track svg math fencedframe"""
_KEPT_ATTRIBUTES = """class id style width height align valign colspan rowspan border bgcolor
    cellpadding cellspacing dir lang type value hidden size"""
DROPPED = _DROPPED.split()
KEPT_ATTRIBUTES = frozenset(_KEPT_ATTRIBUTES.split())
MAX_ELEMENTS = 50_000
# The look of a page without its style sheets: readable, with pictures as grey boxes.
SHEET = (
    "html{background:#fff;color:#222;font:16px/1.45 sans-serif}body{margin:24px}"
    "img{background:#dfe1ea;color:transparent;min-width:48px;min-height:48px;overflow:hidden;"
    "max-width:190px!important;max-height:140px!important}"
    "header li,nav li,footer li,header ol,nav ol,header ul,nav ul"
    "{display:inline;margin:0 6px 0 0;padding:0}"
    "header,nav,footer{color:#666;font-size:12px;max-height:44px;overflow:hidden}"
    "h1{font-size:34px;margin:14px 0}"
    "[class*=cookie],[id*=cookie],[class*=consent],[id*=consent]{display:none}"
    "table{border-collapse:collapse}td,th{padding:4px 8px;border:1px solid #ddd;text-align:left}"
    "a{color:#4338ca}input,button,select,textarea{font:inherit}"
)


def make_still(body: bytes, content_type: str = "") -> str:
    """Return the page as HTML that does nothing; blank where it has no element.

    Raises PageTooLarge.
    """
    tree = parse_page(body, content_type).tree
    if tree is None:
        return ""
    etree.strip_elements(
        tree, *DROPPED, etree.Comment, etree.ProcessingInstruction, with_tail=False
    )
    for n_seen, element in enumerate(list(islice(tree.iter(), MAX_ELEMENTS + 1))):
        if n_seen >= MAX_ELEMENTS:
            _cut_after(element)
            break
        _strip(element)
    html: str = etree.tostring(tree, method="html", encoding="unicode")
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html><meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<style>{SHEET}</style>{html}"
    )


def still_rendering(rendering: bytes) -> str:
    """Return what `render_page` wrote, its files included, as HTML that asks for nothing."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"
    doctype = "<!DOCTYPE html>"
    html = rendering.decode().removeprefix(doctype)
    return f'{doctype}<meta http-equiv="Content-Security-Policy" content="{policy}">{html}'


def _strip(element: _Element) -> None:
    for name in [name for name in element.attrib if name not in KEPT_ATTRIBUTES]:
        del element.attrib[name]


def _cut_after(element: _Element) -> None:
    """Drop an element and all that comes after it."""
    node = element
    parent = node.getparent()
    while parent is not None:
        first_dropped = parent.index(node) + (node is not element)  # what holds the element stays
        for later in list(parent)[first_dropped:]:
            parent.remove(later)
        node, parent = parent, parent.getparent()
