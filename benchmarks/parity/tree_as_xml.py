"""Write a page's tree as XML, so that other XSLT processors run a stylesheet on the same nodes.

What XML cannot hold goes: declarations of namespaces, which would put all elements into one,
attributes whose names are none, two hyphens in a comment, control characters. Elements and texts
stay where they are.
"""

from __future__ import annotations

import copy
import re

from lxml import etree
from lxml.etree import _Element

_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def tree_as_xml(tree: _Element) -> bytes:
    """Return the tree as an XML document in UTF-8.

    >>> from lxml import html
    >>> tree_as_xml(html.fromstring('<p xmlns="x" @click="y" id="a">b</p>'))
    b'<p id="a">b</p>'
    """
    written = copy.deepcopy(tree)
    for node in written.iter():
        if isinstance(node, etree._Comment):  # lxml has no public name for the class
            node.text = (node.text or "").replace("-", "- ")
            continue
        for name in list(node.attrib) if isinstance(node.tag, str) else []:
            if not _NAME.fullmatch(str(name)) or str(name).startswith("xmlns"):
                del node.attrib[name]
    text = etree.tostring(written, encoding="unicode")
    return _CONTROL.sub("\ufffd", text).encode()
