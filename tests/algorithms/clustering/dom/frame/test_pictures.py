"""Images and fonts are told by their bytes; drawings are written anew."""

from __future__ import annotations

import pytest

from clustering.dom.frame.pictures import clean_svg, font_type, image_type

SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"'


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (b"\x89PNG\r\n\x1a\n...", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a...", "image/gif"),
        (b"RIFF\x00\n\x00\x00WEBPVP8 ", "image/webp"),
        (b"\x00\x00\x00 ftypavif", "image/avif"),
        (SVG + b"/>", "image/svg+xml"),
        (b"<!-- x --><svg/>", "image/svg+xml"),
        (b"<html><svg/></html>", ""),
        (b"<script>", ""),
        (b"", ""),
    ],
)
def test_an_image_is_what_its_bytes_are(body: bytes, name: str) -> None:
    assert name == image_type(body)


def test_a_font_is_what_its_bytes_are() -> None:
    assert ["font/woff2", "font/woff", "font/ttf", "font/otf", ""] == [
        font_type(body) for body in (b"wOF2..", b"wOFF..", b"\x00\x01\x00\x00.", b"OTTO.", b"<svg>")
    ]


@pytest.mark.parametrize(
    ("inner", "cleaned"),
    [
        (b"<script>ran()</script>", "<metadata></metadata>"),
        (b"<g onclick='ran()' fill='red'/>", '<g fill="red"></g>'),
        (b"<use href='#a'/><use href='http://x/#a'/>", '<use href="#a"></use><use></use>'),
        (b"<image xmlns:xlink='http://www.w3.org/1999/xlink' xlink:href='http://x/a.png'/>", "<image></image>"),
        (b"<image href='data:image/png;base64,AA'/>", ('<image '
                                                      'href="data:image/png;base64,AA"></image>')),
        (b"<foreignObject><p>x</p></foreignObject>", "<metadata><metadata></metadata></metadata>"),
        (b"<style>@import 'http://x/';rect{fill:url(http://x/)}</style>", "<style>rect{fill:linear-gradient(transparent,transparent)}</style>"),
        (b"<animate attributeName='href' values='javascript:ran()'/>", "<metadata></metadata>"),
        (b"<rect fill='url(http://x/#a)' style='fill:url(//x)'/>", '<rect style="fill:linear-gradient(transparent,transparent)"></rect>'),
        (b"<text>a &lt; b</text>", "<text>a &lt; b</text>"),
    ],
)  # fmt: skip
def test_a_drawing_only_draws(inner: bytes, cleaned: str) -> None:
    body = clean_svg(SVG + b">" + inner + b"</svg>").decode()

    assert f'<svg xmlns="http://www.w3.org/2000/svg">{cleaned}</svg>' == body


@pytest.mark.parametrize("body", [b"", b"<html/>", b"<svg", b"not xml", b"\xff\xfe"])
def test_what_is_no_drawing_is_nothing(body: bytes) -> None:
    assert b"" == clean_svg(body)


def test_entities_are_not_looked_up() -> None:
    bomb = (
        b'<!DOCTYPE svg [<!ENTITY a "ha"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
        + SVG[21:]
        + b">&a;&f;</svg>"
    )

    assert b"root" not in clean_svg(bomb)
