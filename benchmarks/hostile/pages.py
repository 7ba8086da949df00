"""Pages that are made to cost as much as they can, of a size that is asked for.

The kinds follow what browsers' tokenizer tests, sanitizers' payloads and lists of naughty strings
cover, and bombs: few bytes that become much. Nothing is copied from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

MakePage = Callable[[int], bytes]

_HEAD, _FOOT = b"<!doctype html><html><head><title>t</title></head><body>", b"</body></html>"
_ODD = "\u202e\u2066\u200b\ufeff\u0301\u0489\U0001f468\u200d\U0001f469\u200d\U0001f467\u00ad\ufdfa"
_CLASSES = " ".join(f"c{n}" for n in range(200))


def repeated(part: bytes, before: bytes = _HEAD, after: bytes = _FOOT) -> MakePage:
    """Return what repeats a part until the page has its size."""
    return lambda n_bytes: before + part * max(1, n_bytes // len(part)) + after


def numbered(part: str, before: bytes = _HEAD, after: bytes = _FOOT) -> MakePage:
    """Return what repeats a part with another number in it each time."""
    length = len(part.format(n=12345).encode())
    return lambda n_bytes: (
        before
        + "".join(part.format(n=n) for n in range(max(1, n_bytes // length))).encode()
        + after
    )


def nested(opening: bytes, closing: bytes = b"") -> MakePage:
    """Return what opens elements within each other, and closes them all."""

    def make(n_bytes: int) -> bytes:
        depth = max(1, n_bytes // (len(opening) + len(closing)))
        return _HEAD + opening * depth + b"x" + closing * depth + _FOOT

    return make


def in_attribute(name: bytes, value: bytes, tag: bytes = b"p") -> MakePage:
    """Return an element with one attribute of almost the whole size."""
    return lambda n_bytes: (
        _HEAD + b"<" + tag + b" " + name + b'="' + value * (n_bytes // len(value)) + b'">x' + _FOOT
    )


def in_script(kind: bytes, opening: bytes, part: bytes, closing: bytes) -> MakePage:
    """Return a block of data with a part repeated in it."""
    before = b'<script type="' + kind + b'">' + opening
    return lambda n_bytes: (
        _HEAD + before + part * (n_bytes // len(part)) + closing + b"</script><h1>x</h1>" + _FOOT
    )


def deep_json(n_bytes: int) -> bytes:
    """Return a page with declared data of thousands of levels."""
    depth = n_bytes // 6
    data = b'{"a":' * depth + b"1" + b"}" * depth
    return _HEAD + b'<script type="application/ld+json">' + data + b"</script>" + _FOOT


def many_attributes(n_bytes: int) -> bytes:
    """Return elements that have all but too many attributes."""
    tag = b"<i " + b" ".join(b"a%d=1" % n for n in range(990)) + b">x</i>"
    return _HEAD + tag * max(1, n_bytes // len(tag)) + _FOOT


def square_table(n_bytes: int) -> bytes:
    """Return a table with as many columns as rows, each cell of which spans many."""
    side = max(2, int((n_bytes / 40) ** 0.5))
    row = b"<tr>" + b'<td colspan="999" rowspan="65534">1' * side
    return _HEAD + b"<table>" + row * side + b"</table>" + _FOOT


def in_utf16(n_bytes: int) -> bytes:
    """Return a page in UTF-16 that ends in the middle of a character."""
    return b"\xff\xfe" + ("<p>\ud7ff" * (n_bytes // 8)).encode("utf-16le") + b"\xd8"


KINDS: Mapping[str, MakePage] = {
    # what tokenizers' tests cover
    "paragraphs": repeated(b"<p>1"),
    "empty elements": repeated(b"<br>"),
    "mis-nested formatting": repeated(b"<b><p><i>1</b></p></i>"),
    "formatting never closed": repeated(b"<b><i><font color=red>x"),
    "depth": nested(b"<div>", b"</div>"),
    "depth of tables": nested(b"<table><tr><td>", b"</td></tr></table>"),
    "depth of spans with classes": nested(b'<span class="a b c">', b"</span>"),
    "links within links": repeated(b"<a href=/x>1<a href=/y>2"),
    "closing tags alone": repeated(b"</p></br></x>"),
    "comments": repeated(b"<!--x--><!-->-->"),
    "an endless comment": lambda n_bytes: _HEAD + b"<!--" + b"-x" * (n_bytes // 2),
    "an endless tag": lambda n_bytes: _HEAD + b"<p " + b"a=1 " * (n_bytes // 4),
    "an endless quote": lambda n_bytes: _HEAD + b'<p title="' + b"x>" * (n_bytes // 2),
    "less-than signs": repeated(b"<"),
    "entities": repeated(b"&amp;&#x202e;&notin;"),
    "entities never closed": repeated(b"&amp&#1114112"),
    "null bytes": repeated(b"<p>\x00a\x00</p\x00>"),
    "bytes that fit no character": repeated(b"<p>\xff\xc3\x28"),
    "UTF-16 cut off": in_utf16,
    "select and option": repeated(b"<select><option>1<optgroup>"),
    "templates": nested(b"<template><p>", b"</template>"),
    "foreign elements": nested(b"<svg><math><mi>", b"</mi></math></svg>"),
    "plaintext": repeated(b"<p>x<plaintext>"),
    "many attributes": many_attributes,
    "names never seen": numbered("<x{n} y{n}=z>"),
    # what sanitizers' payloads cover
    "scripts": repeated(b"<script>alert(1)</script><img src=x onerror=alert(1)>"),
    "svg payloads": repeated(b"<svg><a xlink:href=javascript:alert(1)><text>x</text></a></svg>"),
    "mutation": repeated(b'<noscript><p title="</noscript><img src=x onerror=alert(1)>">'),
    "data addresses": repeated(b"<iframe src='data:text/html,<script>alert(1)</script>'>"),
    "styles": repeated(b"<p style='background:url(javascript:x);width:expression(1)'>x"),
    "style sheets": repeated(b"a{b:url(", _HEAD + b"<style>", b"</style>" + _FOOT),
    "style sheets of blanks": repeated(b"a{b:url( \t\n", _HEAD + b"<style>", b"</style>" + _FOOT),
    "font faces": repeated(b"@font-face{", _HEAD + b"<style>", b"</style>" + _FOOT),
    "selectors": numbered("#a{n} .b>c~d:not(.e{n}){{}}", _HEAD + b"<style>", b"</style>" + _FOOT),
    "a long style": in_attribute(b"style", b"a:url( "),
    "a long srcset": in_attribute(b"srcset", b"x.png 1x, ", b"img"),
    "a long class": in_attribute(b"class", b"a "),
    "a long address": in_attribute(b"href", b"../", b"a"),
    "an svg path": in_attribute(b"d", b"M0 0L1e9 -", b"path"),
    # what lists of naughty strings cover
    "odd letters": repeated(f"<p>{_ODD}".encode()),
    "combining marks": repeated("<p>Z\u0351\u036b\u0343\u036a\u0302".encode()),
    "no blanks": repeated(b"wordwordword"),
    "blanks": repeated(b" \t\n\xc2\xa0"),
    "digits": repeated(b"1234567890.,"),
    "prices": repeated(b"<b>$1,234.56</b> "),
    "dates": repeated(b"<i>31.12.9999 23:59:59</i> "),
    "formulas": repeated(b"<td>=cmd|' /C calc'!A0"),
    # bombs and lists
    "a list": numbered('<li><a href="/p/{n}">Item {n}</a> <b>{n} EUR</b>', _HEAD + b"<ul>"),
    "a list of one field": numbered("<li>{n}", _HEAD + b"<ul>"),
    "a list of classes": repeated(f'<li class="{_CLASSES}">x'.encode(), _HEAD + b"<ul>"),
    "a table": numbered("<tr><td>{n}<td>Item {n}<td>1", _HEAD + b"<table>"),
    "a table of spans": square_table,
    "a grid of lists": repeated(b"<ul><li>1<li>2<li>3</ul>"),
    "definition lists": numbered("<dl><dt>Key {n}<dd>Value {n}</dl>"),
    "headings": numbered("<h1>Heading {n}</h1>"),
    "ids": numbered('<p id="id{n}" class="k{n}">x'),
    "microdata": repeated(b'<div itemscope itemref="a b" itemtype="http://schema.org/Product">'),
    "declared data": in_script(b"application/ld+json", b"[", b'{"@type":"Product"},', b"1]"),
    "deep declared data": deep_json,
    "declared data of numbers": in_script(b"application/ld+json", b'{"a":', b"9", b"}"),
    "links": numbered('<a href="/p/{n}?a=b&c=d#e">x</a>'),
    "bases": repeated(b'<base href="http://x.example/a/b/">'),
    "metas": repeated(b'<meta charset="utf-16"><meta http-equiv=refresh content="0;url=/">'),
    "pictures": numbered('<img src="/i/{n}.png" width=1 height=1>'),
    "inputs": repeated(b"<form><input type=password name=p><input name=q></form>"),
    "one text": lambda n_bytes: _HEAD + b"<p>" + b"word " * (n_bytes // 5) + _FOOT,
}
