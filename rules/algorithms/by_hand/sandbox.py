"""Check a hand-written XPath or stylesheet: what may be used, and why the rest is refused.

The checks read the text and run nothing: no file, no address, no second stylesheet can be named.
What passes may still take for ever; `limits` runs it in a process that can be killed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lxml import etree
from lxml.etree import _Element

MAX_XPATH = 4_000  # characters
MAX_STYLESHEET = 1024 * 1024  # bytes
MAX_ELEMENTS = 20_000
MAX_DEPTH = 100

XSL: Final = "http://www.w3.org/1999/XSL/Transform"
ELEMENTS = frozenset(
    {
        "apply-templates",
        "attribute",
        "call-template",
        "choose",
        "comment",
        "copy",
        "copy-of",
        "element",
        "for-each",
        "if",
        "key",
        "number",
        "otherwise",
        "output",
        "param",
        "preserve-space",
        "sort",
        "strip-space",
        "stylesheet",
        "template",
        "text",
        "transform",
        "value-of",
        "variable",
        "when",
        "with-param",
    }
)
RESULTS = frozenset({"link", "record", "records", "value"})
EXPRESSIONS = frozenset({"count", "from", "match", "select", "test", "use", "value"})  # hold XPath
# Attributes of result elements and these hold XPath between braces.
TEMPLATES_OF_VALUES = frozenset(
    {
        "case-order",
        "data-type",
        "format",
        "grouping-separator",
        "grouping-size",
        "lang",
        "letter-value",
        "name",
        "namespace",
        "order",
    }
)
FUNCTIONS = frozenset(
    {
        "boolean",
        "ceiling",
        "concat",
        "contains",
        "count",
        "false",
        "floor",
        "id",
        "lang",
        "last",
        "local-name",
        "name",
        "namespace-uri",
        "normalize-space",
        "not",
        "number",
        "position",
        "round",
        "starts-with",
        "string",
        "string-length",
        "substring",
        "substring-after",
        "substring-before",
        "sum",
        "translate",
        "true",
    }
)
XSLT_FUNCTIONS = FUNCTIONS | {"current", "format-number", "generate-id", "key"}
NODE_TESTS = frozenset({"comment", "node", "processing-instruction", "text"})

_LITERAL = re.compile(r"\"[^\"]*\"|'[^']*'")
_CALL = re.compile(r"(?<![\w.:-])([\w.:-]++)\s*+\(")
_OPERATORS = frozenset({"and", "or", "div", "mod"})
_PREFIX = re.compile(r"(?<![\w.-])([A-Za-z_][\w.-]*):(?!:)")
_VARIABLE = re.compile(r"\$")
_NAMESPACES = re.compile(r"(?<![\w.-])namespace\s*+::")
# What stands outside of the expressions of a value template, and one of these, as libxslt reads
# them: two braces are one that is meant, and quotes have a meaning within an expression only.
_OUTSIDE = re.compile(r"(?:[^{}]|\{\{|\}\})*+")
_EXPRESSION = re.compile(r"\{((?:[^}\"']|\"[^\"]*+\"|'[^']*+')*+)\}")


class StylesheetRefused(ValueError):
    """An XPath or a stylesheet must not run; the message says which part of it and why."""


def check_xpath(xpath: str) -> etree.XPath:
    """Return the compiled XPath.

    Raises StylesheetRefused.
    """
    if len(xpath) > MAX_XPATH:
        raise StylesheetRefused(
            f"the XPath has {len(xpath):,} characters; at most {MAX_XPATH:,} are allowed"
        )
    if _VARIABLE.search(_LITERAL.sub("''", xpath)):
        raise StylesheetRefused(
            f"{xpath!r} uses a variable; an XPath of a rule has none: write the value itself"
        )
    _check_expression(xpath, FUNCTIONS, xpath)
    try:
        return etree.XPath(xpath, regexp=False)
    except (etree.XPathError, ValueError) as error:
        raise StylesheetRefused(f"{xpath!r} is no XPath 1.0: {str(error).lower()}") from None


def _check_expression(xpath: str, functions: frozenset[str], where: str) -> None:
    """Refuse functions beyond the given ones, names with prefixes, and namespaces as nodes."""
    bare = _LITERAL.sub("''", xpath)
    for call in _CALL.finditer(bare):
        # Before a call there may be an axis, a minus, a number.
        name = call[1].rpartition("::")[2].lstrip("-.0123456789")
        if not name:
            continue
        if name == "document":
            raise StylesheetRefused(
                f"{where}: document() would read another file; a rule sees its page only"
            )
        if name not in functions and name not in NODE_TESTS and name not in _OPERATORS:
            allowed = ", ".join(sorted(functions))
            raise StylesheetRefused(
                f"{where}: the function {name}() is not allowed; allowed are {allowed}"
            )
    if _NAMESPACES.search(bare):
        raise StylesheetRefused(f"{where}: the axis namespace:: is not allowed; pages have none")
    prefix = _PREFIX.search(bare)
    if prefix:
        raise StylesheetRefused(
            f"{where}: the prefix {prefix[1]}: is not allowed; pages have no namespaces"
        )


class _NothingElse(etree.Resolver):
    """Refuse to read any file or address."""

    def resolve(self, system_url: str | None, public_id: str | None, context: object) -> None:  # type: ignore[override]  # lxml passes them  # noqa: ARG002 - the signature is the library's
        raise StylesheetRefused(
            f"the stylesheet asks for {system_url or public_id}; a rule stands alone"
        )


def read_stylesheet(text: bytes) -> _Element:
    """Return the root of a stylesheet that may run.

    Raises StylesheetRefused.
    """
    if len(text) > MAX_STYLESHEET:
        raise StylesheetRefused(
            f"the stylesheet has {len(text):,} bytes; at most {MAX_STYLESHEET:,} are allowed"
        )
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    parser.resolvers.add(_NothingElse())
    try:
        root = etree.fromstring(text, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise StylesheetRefused(f"the stylesheet is no well-formed XML: {error}") from None
    if root.getroottree().docinfo.doctype:  # type: ignore[union-attr]  # a parsed tree has it
        raise StylesheetRefused(
            "the stylesheet has a document type, which could name files; remove <!DOCTYPE …>"
        )
    _check_root(root)
    for number, node in enumerate(root.getroottree().iter(), 1):
        if number > MAX_ELEMENTS:
            raise StylesheetRefused(f"the stylesheet has more than {MAX_ELEMENTS:,} nodes")
        _check_node(node)
    return root


def _check_root(root: _Element) -> None:
    if root.tag not in {f"{{{XSL}}}stylesheet", f"{{{XSL}}}transform"}:
        raise StylesheetRefused(f"the root element is {root.tag}, not xsl:stylesheet")
    if root.get("version") != "1.0":
        raise StylesheetRefused(f'version {root.get("version")!r} is not read; write version="1.0"')


def _check_node(node: _Element) -> None:
    if isinstance(node, etree._Comment):  # lxml has no public name for the class
        return
    if not isinstance(node.tag, str):
        raise StylesheetRefused(
            f"line {node.sourceline}: processing instructions and entities are not allowed"
        )
    if sum(1 for _ in node.iterancestors()) > MAX_DEPTH:
        raise StylesheetRefused(
            f"line {node.sourceline}: elements are nested deeper than {MAX_DEPTH}"
        )
    name = etree.QName(node)
    if name.namespace == XSL:
        _check_instruction(node, name.localname)
    elif name.namespace or name.localname not in RESULTS:
        results = ", ".join(sorted(RESULTS))
        raise StylesheetRefused(f"{_place(node)} is not allowed: the result consists of {results}")
    strange = sorted({address for address in node.nsmap.values() if address != XSL})
    if strange:
        raise StylesheetRefused(
            f"{_place(node)} declares the namespace {strange[0]}; pages have none, and a rule "
            "needs that of XSLT only"
        )
    for attribute, value in node.attrib.items():
        _check_attribute(node, str(attribute), str(value))


def _check_instruction(node: _Element, name: str) -> None:
    if name in {"import", "include"}:
        raise StylesheetRefused(
            f"{_place(node)} would read another stylesheet; a rule stands alone: "
            "paste its templates"
        )
    if name not in ELEMENTS:
        raise StylesheetRefused(
            f"{_place(node)} is not allowed; allowed are xsl:{', xsl:'.join(sorted(ELEMENTS))}"
        )
    if name == "output" and node.get("method", "xml") != "xml":
        raise StylesheetRefused(
            f"{_place(node)}: a rule's output method is xml, not {node.get('method')}"
        )
    if name == "output" and (node.get("doctype-system") or node.get("doctype-public")):
        raise StylesheetRefused(f"{_place(node)}: a record has no document type")
    if name in {"element", "attribute"} and "{" in (node.get("name") or ""):
        raise StylesheetRefused(
            f"{_place(node)}: its name must stand there as it is, without braces"
        )
    if name == "element" and node.get("name") not in RESULTS:
        raise StylesheetRefused(
            f"{_place(node)}: the result consists of {', '.join(sorted(RESULTS))}"
        )


def _check_attribute(node: _Element, attribute: str, value: str) -> None:
    name = etree.QName(attribute)
    if name.namespace == XSL or name.localname in {
        "extension-element-prefixes",
        "exclude-result-prefixes",
    }:
        raise StylesheetRefused(f"{_place(node)}: the attribute {name.localname} is not allowed")
    if name.namespace and not (name.localname == "space" and name.namespace.endswith("/namespace")):
        raise StylesheetRefused(f"{_place(node)}: the attribute {attribute} is not allowed")
    for xpath in _expressions_in(node, name.localname, value):
        _check_expression(xpath, XSLT_FUNCTIONS, f"{_place(node)}, {name.localname}={value!r}")


def _expressions_in(node: _Element, attribute: str, value: str) -> Iterator[str]:
    is_instruction = etree.QName(node).namespace == XSL
    if is_instruction and attribute in EXPRESSIONS:
        yield value
    elif not is_instruction or attribute in TEMPLATES_OF_VALUES:
        yield from _expressions_of_template(node, value)


def _expressions_of_template(node: _Element, value: str) -> Iterator[str]:
    position = 0
    while position < len(value):
        outside = _OUTSIDE.match(value, position)
        position = outside.end() if outside else position
        if position == len(value):
            return
        expression = _EXPRESSION.match(value, position)
        if expression is None or "{" in _LITERAL.sub("", expression[1]):
            raise StylesheetRefused(f"{_place(node)}: the braces of {value!r} do not match")
        yield expression[1]
        position = expression.end()


def _place(node: _Element) -> str:
    name = etree.QName(node)
    prefix = "xsl:" if name.namespace == XSL else ""
    return f"line {node.sourceline}: <{prefix}{name.localname}>"
