"""Clean style sheets of stored pages: nothing in them reaches out, what they name is marked.

A cleaned sheet names each file by a mark, `url("image:https://…")`, `url("font:https://…")` or
`@import url("sheet:https://…")`, which leads nowhere. `place_files` replaces the marks by what was
stored, or by something blank. Type selectors are written as the rendering names its elements, and
what would ask for the reader's choice of dark or light is decided: a page looks the same to
everybody.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Final, NamedTuple

import webencodings

from clustering.dom.addresses import BadAddress, join_url, normalise_url
from clustering.dom.frame.markup import element_name_in_sheets

MAX_NESTED: Final = 5  # sheets that import each other
MAX_INLINED: Final = 4_000_000  # characters of all sheets of a page
BLANK_IMAGE: Final = "linear-gradient(transparent,transparent)"  # an image wherever one may stand
BLANK_FONT: Final = 'local("")'
# What may take an address as a bare string, and what names another way of loading.
_REFUSED_FUNCTIONS: Final = frozenset(
    {
        "image-set",
        "-webkit-image-set",
        "src",
        "image",
        "cross-fade",
        "-webkit-cross-fade",
        "paint",
        "element",
    }
)
_REFUSED_PROPERTIES: Final = frozenset({"behavior", "-moz-binding", "-ms-behavior"})
_REFUSED_RULES: Final = frozenset(
    {"charset", "namespace", "document", "-moz-document", "view-transition"}
)
_NEVER_FONTS: Final = (".eot", ".svg", ".svgz")
_SAFE_DATA: Final = re.compile(
    r"data:(?:image/(?:png|gif|jpe?g|webp|avif|bmp|x-icon|svg\+xml)"
    r"|font/[a-z0-9-]+|application/(?:x-)?font-[a-z0-9-]+)[;,]",
    re.IGNORECASE,
)
_SAFE_ADDRESS: Final = re.compile(r"https?://[^\"'\\\s<>()]+")

_TOKEN: Final = re.compile(
    r"""
      (?P<comment> /\*.*?(?:\*/|\Z) | <!-- | --> )
    | (?P<string> "(?:[^"\\\n]|\\.)*+"? | '(?:[^'\\\n]|\\.)*+'? )
    | (?P<url> url\(\s*+
        (?: "(?:[^"\\\n]|\\.)*+" | '(?:[^'\\\n]|\\.)*+' | (?:[^"'()\\\s]|\\.)*+ )
        \s*+(?:\)|\Z) )
    | (?P<at> @(?:[-\w]|\\.|[^\x00-\x7f])+ )
    | (?P<ident> (?:[-\w]|\\.|[^\x00-\x7f])+ )
    | (?P<space> \s++ )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_ESCAPE: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_SURROGATES: Final = range(0xD800, 0xE000)
_SCHEME: Final = re.compile(r"\(\s*prefers-color-scheme\s*(?::\s*([a-z-]+)\s*)?\)", re.IGNORECASE)
_MARK: Final = re.compile(r"url\(\"(image|font):([^\"]*)\"\)")
_IMPORT: Final = re.compile(r"@import url\(\"sheet:([^\"]*)\"\)([^;\"@]*+);")
_IN_STRING: Final = re.compile(r"\\.|\"", re.DOTALL)
_LAYER: Final = re.compile(r"\s*layer(?:\(([^()]*)\))?")
_SUPPORTS: Final = re.compile(r"\s*supports\(((?:[^()]|\([^()]*\))*)\)")


class _Token(NamedTuple):
    kind: str
    text: str


class _Block(NamedTuple):
    name: str  # of the at-rule; blank for a style rule
    start: int  # where its output begins


def clean_stylesheet(text: str, resolve: Callable[[str], str | None]) -> str:
    """Return a sheet with marks for the files that it names.

    `resolve` returns the absolute address of what is written in it, None where there is none.
    """
    return _Cleaner(resolve).clean(text)


def clean_sheet(body: bytes, content_type: str, url: str) -> bytes:
    """Return the bytes of a sheet that came from an address, cleaned, in UTF-8."""
    label = content_type.lower().partition("charset=")[2].strip("\"' ;")
    encoding = webencodings.lookup(label) if label else None
    text = webencodings.decode(body, encoding or webencodings.lookup("utf-8"), errors="replace")[0]

    def resolve(address: str) -> str | None:
        try:
            return normalise_url(join_url(url, address))
        except BadAddress:
            return None

    return clean_stylesheet(text, resolve).encode(errors="replace")


def clean_declarations(text: str, resolve: Callable[[str], str | None]) -> str:
    """Return the value of a `style` attribute, cleaned in the same way."""
    cleaner = _Cleaner(resolve)
    cleaner.blocks.append(_Block("", 0))
    return cleaner.clean(text).rstrip("}")


def steady_media(condition: str) -> str:
    """Return a media condition in which everybody prefers light.

    >>> steady_media("screen and (prefers-color-scheme: dark)")
    'screen and (max-width:0px)'
    """

    def decide(preference: re.Match[str]) -> str:
        is_light = (preference[1] or "light").lower() == "light"
        return "(min-width:0px)" if is_light else "(max-width:0px)"  # always, or never

    return _SCHEME.sub(decide, condition)


def place_files(
    text: str, address_of: Callable[[str, str], str | None], sheet_of: Callable[[str], str | None]
) -> str:
    """Return a cleaned sheet with stored files in place of its marks, imports inlined."""
    return _placed(text, address_of, sheet_of, 0)


def unescape(text: str) -> str:
    r"""Return what a CSS name or string means.

    >>> unescape(r"u\72 l")
    'url'
    """
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_meaning, text)


def _meaning(escape: re.Match[str]) -> str:
    digits, character = escape.groups()
    return _character(digits) if digits else character.strip("\n")


def _character(digits: str) -> str:
    code = int(digits, 16)
    return chr(code) if 0 < code <= sys.maxunicode and code not in _SURROGATES else "\ufffd"


def _placed(
    text: str,
    address_of: Callable[[str, str], str | None],
    sheet_of: Callable[[str], str | None],
    depth: int,
) -> str:
    def place(mark: re.Match[str]) -> str:
        kind, url = mark.groups()
        address = address_of(url, kind)
        if address is None:
            return BLANK_FONT if kind == "font" else BLANK_IMAGE
        return f'url("{address}")'

    def inline(rule: re.Match[str]) -> str:
        url, conditions = rule.groups()
        sheet = sheet_of(url) if depth < MAX_NESTED else None
        if sheet is None:
            return ""
        return _under_conditions(_placed(sheet, address_of, sheet_of, depth + 1), conditions)

    return _IMPORT.sub(inline, _MARK.sub(place, text))


def _under_conditions(sheet: str, conditions: str) -> str:
    """Put an imported sheet into the layer and under the conditions of its import."""
    around: list[str] = []
    if layer := _LAYER.match(conditions):
        around.append(f"@layer {layer[1] or ''}")
        conditions = conditions[layer.end() :]
    if supports := _SUPPORTS.match(conditions):
        inner = supports[1].strip()
        around.append(f"@supports {inner if inner.startswith('(') else f'({inner})'}")
        conditions = conditions[supports.end() :]
    if conditions.strip():
        around.append(f"@media {conditions.strip()}")
    opening = "".join(f"{rule}{{" for rule in around)
    return opening + sheet + "}" * len(around)


class _Cleaner:
    """Clean a sheet in one pass over its tokens, statement by statement."""

    def __init__(self, resolve: Callable[[str], str | None]) -> None:
        self.resolve = resolve
        self.blocks: list[_Block] = []
        self.out: list[str] = []
        self.statement: list[_Token] = []
        self.may_import = True
        self.n_open_fonts = 0  # `@font-face` blocks within each other

    def clean(self, text: str) -> str:
        for token in _tokens(text):
            if token.kind != "other" or token.text not in "{};":
                self.statement.append(token)
            elif token.text == "{":
                self._open()
            else:
                self._end_statement(token.text)
                if token.text == "}" and self.blocks:
                    self._close()
        self._end_statement("")
        while self.blocks:
            self._close()
        return "".join(self.out)

    def _open(self) -> None:
        """Write what stands before a block, and enter it."""
        name = _at_name(self.statement)
        self.blocks.append(_Block(name, len(self.out)))
        self.n_open_fonts += name == "font-face"
        if name:
            self.out.append(steady_media("".join(token.text for token in self.statement)) + "{")
        else:
            self.out.append("".join(_selector(self.statement)) + "{")
        self.may_import = False
        self.statement = []

    def _close(self) -> None:
        block = self.blocks.pop()
        self.out.append("}")
        if block.name in _REFUSED_RULES:
            del self.out[block.start :]
        if block.name == "font-face":
            self.n_open_fonts -= 1
            if self.n_open_fonts == 0:  # the outermost one: a sheet of nested ones is read once
                self.out[block.start :] = [_one_font("".join(self.out[block.start :]))]

    def _end_statement(self, last: str) -> None:
        """Write the declaration or rule without a block that ends here, unless it is refused.

        `last` is the character that ends it: a semicolon, the block's brace, or nothing at the end.
        """
        statement, self.statement = self.statement, []
        semicolon = ";" if last == ";" else ""
        name = _at_name(statement)
        if name == "import":
            if self.may_import and not self.blocks:  # an import stands before all rules
                self.out.append(self._import(statement))
        elif name:
            if name not in _REFUSED_RULES:
                self.out.append("".join(token.text for token in statement) + semicolon)
        elif not _is_refused(statement):
            self.out.append("".join(self._value(statement)) + semicolon)

    def _import(self, statement: list[_Token]) -> str:
        tokens = [token for token in statement[1:] if token.kind != "space"]
        if not tokens or tokens[0].kind not in {"string", "url"}:
            return ""
        address = self.resolve(_written(tokens[0]))
        if address is None or not _SAFE_ADDRESS.fullmatch(address):
            return ""
        behind = statement[statement.index(tokens[0]) + 1 :]
        conditions = "".join(token.text for token in behind if token.kind != "string")
        return f'@import url("sheet:{address}"){steady_media(conditions)};'

    def _value(self, statement: list[_Token]) -> Iterator[str]:
        kind = "font" if self.blocks and self.blocks[-1].name == "font-face" else "image"
        for token, after in zip_longest(statement, statement[1:]):
            if token.kind == "url":
                yield self._mark(_written(token), kind)
            elif token.kind == "ident" and after is not None and after.text == "(":
                function = unescape(token.text).lower()
                is_refused = function in _REFUSED_FUNCTIONS or function == "url"
                yield "vertex-none" if is_refused else token.text
            else:
                yield token.text

    def _mark(self, written: str, kind: str) -> str:
        if written.startswith("#") or _SAFE_DATA.match(written):
            return f'url("{_quoted(written)}")'
        address = self.resolve(written)
        if address is None or not _SAFE_ADDRESS.fullmatch(address):
            return BLANK_FONT if kind == "font" else BLANK_IMAGE
        return f'url("{kind}:{address}")'


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup or "other", match[0]
        if kind == "comment":
            yield _Token("space", " ")
        elif kind == "string" and (len(token) < 2 or token[-1] != token[0]):
            yield _Token("string", '""')  # it ends with its line: browsers drop it too
        elif kind == "string":
            yield _Token("string", _without_marks(token))
        else:
            yield _Token(kind, token)


def _without_marks(string: str) -> str:
    """Write the double quotes in a string as escapes, so that nothing in it looks like a mark."""
    if string[0] == '"' or '"' not in string:
        return string
    return _IN_STRING.sub(lambda part: "\\22 " if part[0][-1] == '"' else part[0], string)


def _at_name(statement: list[_Token]) -> str:
    """Return the name of the at-rule that a statement is, blank where it is none."""
    first = next((token for token in statement if token.kind != "space"), None)
    return unescape(first.text[1:]).lower() if first is not None and first.kind == "at" else ""


def _is_refused(statement: list[_Token]) -> bool:
    names = [token.text for token in statement if token.kind == "ident"]
    name = unescape(names[0]).lower() if names else ""
    if name == "color-scheme":  # the reader has no choice; a page that is only dark stays so
        return {value.lower() for value in names[1:]} - {"only", "dark"} != set()
    return name in _REFUSED_PROPERTIES


def _selector(statement: list[_Token]) -> Iterator[str]:
    """Write type selectors as the rendering names its elements; all else stays."""
    before, n_brackets = "", 0
    for token in statement:
        n_brackets += (token.text == "[") - (token.text == "]")
        is_name = token.kind == "ident" and token.text[0].isalpha()
        is_type = is_name and not n_brackets and before not in {".", "#", ":", "%"}
        yield element_name_in_sheets(token.text) if is_type else token.text
        before = token.text[-1]


def _one_font(rule: str) -> str:
    """Leave one file of a font: browsers load one, the best that they know."""
    addresses = [mark[2] for mark in _MARK.finditer(rule)]
    usable = [
        address
        for address in addresses
        if not address.partition("?")[0].lower().endswith(_NEVER_FONTS)
    ]
    compressed = [address for address in usable if ".woff2" in address.lower()]
    best = next(iter([*compressed, *usable]), "")
    return _MARK.sub(lambda mark: mark[0] if mark[2] == best else BLANK_FONT, rule)


def _written(token: _Token) -> str:
    """Return the address in a `url(…)` or a string."""
    text = token.text
    if token.kind == "url":
        text = text[4:].removesuffix(")").strip()
    if text[:1] in {'"', "'"}:
        text = text[1:-1]
    return unescape(text).strip()


def _quoted(text: str) -> str:
    return (
        text.replace("\\", "\\\\")
        .replace('"', '\\"')
        .replace("\n", "")
        .replace("\r", "")
        .replace("\f", "")
    )
