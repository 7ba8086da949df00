"""Turn the bytes of a page into a tree; the only place of the product where HTML is parsed.

The parser always gets UTF-8 bytes: the encoding is decided here, as browsers do, and a page in
another one is decoded first, so that a byte that fits no character never ends the tree.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass

import webencodings
from lxml import etree
from lxml.html import HtmlComment, HtmlElement, HtmlProcessingInstruction

MAX_BYTES = 10 * 1024 * 1024
MAX_ATTRIBUTES = 1000
MAX_META_BYTES = 4096  # in which a page declares its encoding
MAX_CONTENT_TYPE = 200  # characters
FIRST_AFTER_C1 = 0xA0
REPLACEMENT = "\ufffd"

TRUNCATED = "truncated"
EMPTY = "empty"
TOO_MANY_ATTRIBUTES = "too_many_attributes"

_BOMS = [
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
]
_CHARSET = re.compile(r"charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;\"'/>]+))", re.IGNORECASE)
_XML_DECLARATION = re.compile(
    rb"\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._:-]+)[\"']"
)
# A comment, a meta tag with its attributes, any other tag: in this order, so that nothing within a
# comment is taken for a tag.
_TAG = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(meta)[\s/]((?:[^>\"']|\"[^\"]*\"|'[^']*')*)|</?[a-z](?:[^>\"']|\"[^\"]*\"|'[^']*')*",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE = re.compile(r"([^\s=/\"'>]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+)))?")
# Codecs of Python that read what the labels of the web mean; webencodings knows the others.
_CODECS = {"gbk": "gb18030"}
_ERRORS = "clustering.undecodable"
# A meta tag could be read as ASCII, so the page cannot be UTF-16.
_MEANT_BY_META = {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252"}

# A tag of more than 1,000 attributes is longer than 1,500 bytes. Either no `>` comes in so many
# bytes, or the first that comes stands within a value. Both are rare; where they are found, the tag
# is read properly.
_LONG_TAG = re.compile(rb"<[a-zA-Z][^>]{1500,}+")
_VALUE_WITH_END = re.compile(rb"=[\t\n\f\r ]*+(?:\"[^\">]*+>|'[^'>]*+>)")
_TAG_START = re.compile(rb"<[a-zA-Z]")
# A tag as browsers read it, up to its 1,001st attribute.
_NAME = rb"[\t\n\f\r /]*+[^\t\n\f\r />][^\t\n\f\r />=]*+"
_VALUE = rb"(?:\"[^\"]*+\"?|'[^']*+'?|[^\t\n\f\r >\"'][^\t\n\f\r >]*+)?+"
_ATTRIBUTES = re.compile(
    rb"<[a-zA-Z][^\t\n\f\r />]*+(?:%b(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+%b)?+){0,%d}+(%b)?"
    % (_NAME, _VALUE, MAX_ATTRIBUTES, _NAME)
)
# One class for all elements: lxml.html chooses among several by a call of Python code for each of
# them.
_ELEMENTS = etree.ElementDefaultClassLookup(
    element=HtmlElement, comment=HtmlComment, pi=HtmlProcessingInstruction
)
_MAX_SCANS = 4  # how often a page is read in search of such a tag before the parser is asked


# Why the thread at work must not read pages; blank where it may. A page may take seconds, and what
# takes part in answering people has none to spare.
why_no_page_is_read: ContextVar[str] = ContextVar("why_no_page_is_read", default="")


class NotReadHere(RuntimeError):
    """A thread that must not read pages tried to: the program is wrong, not the page."""


class PageTooLarge(Exception):
    """A page has more bytes than are parsed."""

    def __init__(self, n_bytes: int) -> None:
        super().__init__(f"{n_bytes:,} bytes; at most {MAX_BYTES:,} are parsed")


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A page's tree, None where there is none, and what is wrong with it."""

    tree: HtmlElement | None
    encoding: str  # its name in the WHATWG table
    problem: str = ""


class _TooManyAttributes(Exception):
    pass


class _AttributeCounter:
    """Receive the tags of a page without building its tree."""

    def start(self, _tag: str, attributes: dict[str, str]) -> None:
        if len(attributes) > MAX_ATTRIBUTES:
            raise _TooManyAttributes

    def close(self) -> None:
        pass


def parse_page(body: bytes, content_type: str = "") -> ParsedPage:
    """Return the tree of a page, the encoding that was decided and the problem that was found.

    Raises PageTooLarge, MemoryError.
    """
    if why_not := why_no_page_is_read.get():
        raise NotReadHere(why_not)
    if len(body) > MAX_BYTES:
        raise PageTooLarge(len(body))
    encoding = decide_encoding(body, content_type)
    text = _as_utf8(body, encoding)
    if has_too_many_attributes(text):
        return ParsedPage(None, encoding, TOO_MANY_ATTRIBUTES)
    parser = etree.HTMLParser(encoding="utf-8")
    parser.set_element_class_lookup(_ELEMENTS)
    try:
        tree = etree.fromstring(text, parser) if text else None
    except etree.XMLSyntaxError as error:
        # The parser mends every mistake of a page: it gives up when it is refused memory.
        raise MemoryError(str(error)) from error
    if any(error.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for error in parser.error_log):
        return ParsedPage(tree, encoding, TRUNCATED)
    return ParsedPage(tree, encoding, EMPTY if tree is None else "")


def decide_encoding(body: bytes, content_type: str = "") -> str:
    """Return the encoding by byte order mark, HTTP, meta, UTF-8, else windows-1252."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return name
    return _charset_of(content_type[:MAX_CONTENT_TYPE]) or _declared_in(body) or _guess(body)


def has_too_many_attributes(text: bytes) -> bool:
    """Return whether a tag has more than 1,000 attributes, whose square is the parser's time.

    The time is linear, and short for nearly all pages: only what could be such a tag is read.
    """
    n_bytes_left = _MAX_SCANS * len(text)
    for start in _suspicious_starts(text):
        tag = _ATTRIBUTES.match(text, start)
        if tag is None:
            continue
        n_bytes_left -= tag.end() - start
        has_too_many = tag[1] is not None
        if has_too_many and _is_refused_by_counter(text[: tag.end()] + b">"):
            return True  # known without the rest of the tag, which may be millions more
        if has_too_many or n_bytes_left < 0:
            return _is_refused_by_counter(text)
    return False


def _suspicious_starts(text: bytes) -> Iterator[int]:
    """Yield where tags begin that could have more than 1,000 attributes."""
    for long_tag in _LONG_TAG.finditer(text):
        for tag in _TAG_START.finditer(text, *long_tag.span()):
            yield tag.start()
    for value in _VALUE_WITH_END.finditer(text):
        end_of_tag_before = text.rfind(b">", 0, value.start())
        for tag in _TAG_START.finditer(text, end_of_tag_before + 1, value.end()):
            yield tag.start()


def _is_refused_by_counter(text: bytes) -> bool:
    """Return whether the parser, without building a tree, meets a tag of too many attributes."""
    parser = etree.HTMLParser(encoding="utf-8", target=_AttributeCounter())  # type: ignore[arg-type]  # the stubs ask for more than lxml
    try:
        etree.fromstring(text, parser)
    except _TooManyAttributes:
        return True
    return False


def _charset_of(content_type: str) -> str:
    """Return the encoding that a Content-Type names, blank where it names none that is known."""
    return _look_up(_charset_in(content_type))


def _charset_in(text: str) -> str:
    """Return the label behind `charset=`, blank where there is none."""
    charset = _CHARSET.search(text)
    return next(filter(None, charset.groups()), "") if charset else ""


def _look_up(label: str) -> str:
    """Return the name of an encoding in the WHATWG table, blank where the label is unknown."""
    encoding = webencodings.lookup(label)
    return encoding.name if encoding and encoding.name != "replacement" else ""


def _declared_in(body: bytes) -> str:
    """Return the encoding that the page itself names in a meta tag or an XML declaration."""
    start = body[:MAX_META_BYTES]
    for tag in _TAG.finditer(start):
        is_meta = tag[1] is not None
        name = _look_up(_label_of_meta(tag[2].decode("latin-1"))) if is_meta else ""
        if name:
            return _MEANT_BY_META.get(name, name)
    declaration = _XML_DECLARATION.match(start)
    name = _look_up(declaration[1].decode()) if declaration else ""
    return "utf-8" if name.startswith("utf-16") else name


def _label_of_meta(attributes: str) -> str:
    """Return the encoding that a meta tag names, blank where it names none."""
    value_by_name: dict[str, str] = {}
    for attribute in _ATTRIBUTE.finditer(attributes):
        name, *values = attribute.groups()
        value_by_name.setdefault(name.lower(), next(filter(None, values), ""))
    if "charset" in value_by_name:
        return value_by_name["charset"]
    if value_by_name.get("http-equiv", "").lower() != "content-type":
        return ""
    return _charset_in(value_by_name.get("content", ""))


def _guess(body: bytes) -> str:
    try:
        body.decode()
    except UnicodeDecodeError:
        return "windows-1252"
    return "utf-8"


def _as_utf8(body: bytes, encoding: str) -> bytes:
    """Return the page as UTF-8 without byte order mark, with U+FFFD for what fits no character."""
    if encoding == "utf-8":
        body = body.removeprefix(codecs.BOM_UTF8)
        try:
            body.decode()
        except UnicodeDecodeError:
            return body.decode(errors="replace").encode()
        return body
    text = _codec(encoding).decode(body, _ERRORS)[0]
    return text.removeprefix("\ufeff").encode("utf-8", "replace")


def _codec(encoding: str) -> codecs.CodecInfo:
    if encoding in _CODECS:
        return codecs.lookup(_CODECS[encoding])
    info: codecs.CodecInfo = webencodings.lookup(encoding).codec_info
    return info


def _replace_undecodable(error: UnicodeError) -> tuple[str, int]:
    """Replace what fits no character; bytes that a table leaves out are C1 controls."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    wrong = error.object[error.start : error.end]
    if error.encoding != "charmap":
        return REPLACEMENT, error.end
    characters = [chr(byte) if byte < FIRST_AFTER_C1 else REPLACEMENT for byte in wrong]
    return "".join(characters), error.end


codecs.register_error(_ERRORS, _replace_undecodable)
