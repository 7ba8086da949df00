"""Style sheets keep their rules and lose what loads by itself or depends on who looks."""

from __future__ import annotations

import time

import pytest

from clustering.dom.frame.stylesheets import (
    clean_declarations,
    clean_stylesheet,
    place_files,
    steady_media,
    unescape,
)

NONE = "linear-gradient(transparent,transparent)"


def resolve(written: str) -> str | None:
    return (
        None if written.startswith("javascript:") else f"https://shop.example/{written.lstrip('/')}"
    )


@pytest.mark.parametrize(
    ("css", "cleaned"),
    [
        ("p{color:red;}", "p{color:red;}"),
        ("p { background: url( 'a b.png' ) }", "p { background: " + NONE + " }"),  # resolved to no address
        ("p{background:url(a.png)}", 'p{background:url("image:https://shop.example/a.png")}'),
        ('p{background:URL(a.png) , url("b.png")}', 'p{background:url("image:https://shop.example/a.png") , url("image:https://shop.example/b.png")}'),
        ("p{background:url(javascript:x)}", "p{background:" + NONE + "}"),
        ("p{filter:url(#f)}", 'p{filter:url("#f")}'),
        ("p{background:url(data:image/png;base64,AA==)}", 'p{background:url("data:image/png;base64,AA==")}'),
        ("p{background:url(data:text/html,x)}", 'p{background:url("image:https://shop.example/data:text/html,x")}'),
        ("p{background:u\\72l(http://x/a)}", "p{background:vertex-none(http://x/a)}"),
        ("p{background:image-set('a.png' 1x)}", "p{background:vertex-none('a.png' 1x)}"),
        ("DIV.Big > IMG, Iframe:Hover::before, a[HREF=X] #ID{top:0}", "div.Big > img, vertex-iframe:Hover::before, a[HREF=X] #ID{top:0}"),
        ("svg linearGradient{x:y}", "svg linearGradient{x:y}"),
        ("@charset 'x';@namespace url(y);p{top:0}", "p{top:0}"),
        ("@media (prefers-color-scheme: dark){p{top:0}}", "@media (max-width:0px){p{top:0}}"),
        (":root{color-scheme:light dark;color:red}", ":root{color:red}"),
        (":root{color-scheme:dark}", ":root{color-scheme:dark}"),
        ("p{behavior:url(x.htc);-moz-binding:url(y);top:0}", "p{top:0}"),
        ("p{content:'a}b{c;'}q{top:0}", "p{content:'a}b{c;'}q{top:0}"),
        ("p{content:'open\n}q{top:0}", 'p{content:""\n}q{top:0}'),
        ("/* url(x) */p{top:0}<!-- -->", " p{top:0}   "),
        ("p{top:0}}}q{top:0", "p{top:0}q{top:0}"),
        ("@font-face{src:url(a.eot);src:url(a.ttf),url(a.woff2)}", '@font-face{src:local("");src:local(""),url("font:https://shop.example/a.woff2")}'),
        ("@import 'a.css' screen;@import url(b.css);p{top:0}@import 'c.css';", '@import url("sheet:https://shop.example/a.css") screen;@import url("sheet:https://shop.example/b.css");p{top:0}'),
        ("@\\69mport 'a.css';", '@import url("sheet:https://shop.example/a.css");'),
        ("@supports (display:grid){@media print{p{top:0}}}", ("@supports (display:grid){@media "
                                                             "print{p{top:0}}}")),
        ("", ""),
        ("@", "@"),
    ],
)  # fmt: skip
def test_what_a_sheet_says_after_cleaning(css: str, cleaned: str) -> None:
    def careful(written: str) -> str | None:
        return None if " " in written else resolve(written)

    assert cleaned == clean_stylesheet(css, careful)


def test_a_style_attribute_is_cleaned_in_the_same_way() -> None:
    assert 'top:0;background:url("image:https://shop.example/a.png")' == clean_declarations(
        "top:0;background:url(a.png)", resolve
    )
    assert "top:0" == clean_declarations("top:0}q{", resolve).partition("}")[0]


def test_stored_files_take_the_places_of_the_marks() -> None:
    sheets = {"https://shop.example/a.css": 'q{background:url("image:https://shop.example/b.png")}'}
    css = clean_stylesheet(
        "@import 'a.css' layer(x) supports(display:grid) "
        "print;@import 'a.css' layer;@import 'gone.css';"
        "p{background:url(b.png),url(gone.png)}@font-face{src:url(gone.woff)}",
        resolve,
    )
    placed = place_files(
        css, lambda url, kind: f"/{kind}/b" if url.endswith("b.png") else None, sheets.get
    )

    assert (
        '@layer x{@supports (display:grid){@media print{q{background:url("/image/b")}}}}'
        '@layer {q{background:url("/image/b")}}'
        f'p{{background:url("/image/b"),{NONE}}}@font-face{{src:local("")}}' == placed
    )


def test_sheets_that_import_each_other_come_to_an_end() -> None:
    own = '@import url("sheet:https://shop.example/a.css");p{top:0}'

    assert 6 == place_files(own, lambda _url, _kind: None, lambda _url: own).count("p{top:0}")


def test_everybody_prefers_light() -> None:
    assert "not (min-width:0px)" == steady_media("not (prefers-color-scheme:light)")
    assert "(min-width:0px)" == steady_media("(prefers-color-scheme)")


def test_escapes_mean_characters() -> None:
    assert "url" == unescape("u\\72 l")
    assert "\ufffd" == unescape("\\0")
    assert "(" == unescape("\\(")


def test_cleaning_takes_time_in_proportion() -> None:
    css = (
        "a" * 20_000
        + "{" * 20_000
        + "\\" * 20_000
        + "'" * 20_001
        + "url(" * 20_000
        + "@import " * 5_000
    )

    assert isinstance(clean_stylesheet(css, resolve), str)


@pytest.mark.parametrize(
    "css",
    [
        "a{b:url(" + " " * 300_000 + "(}",
        "@font-face{" * 100_000,
        "@font-face{a{" * 50_000,
        "url(" * 100_000,
        "a{b:c}" * 50_000,
        "{" * 300_000,
    ],
    ids=[
        "blanks in an address",
        "fonts in fonts",
        "rules in fonts",
        "addresses",
        "rules",
        "blocks",
    ],
)
def test_a_hostile_sheet_is_cleaned_in_linear_time(css: str) -> None:
    started = time.thread_time()

    place_files(clean_stylesheet(css, resolve), lambda _url, _kind: None, lambda _url: None)

    assert time.thread_time() - started < 4


def test_many_marks_in_a_string_are_read_in_linear_time() -> None:
    cleaned = clean_stylesheet("a{b:'" + '@import url("sheet:x")' * 20_000 + "'}", resolve)
    started = time.thread_time()

    place_files(cleaned, lambda _url, _kind: None, lambda _url: "")

    assert time.thread_time() - started < 1


def test_nothing_in_a_string_is_taken_for_a_mark() -> None:
    cleaned = clean_stylesheet("""a{b:'@import url("sheet:x");\\"'}""", resolve)

    placed = place_files(cleaned, lambda _url, _kind: "/stored", lambda _url: "'} c{d:e}")

    assert r"a{b:'@import url(\22 sheet:x\22 );\22 '}" == placed


def test_a_font_within_a_font_is_left_as_one() -> None:
    nested = "@font-face{src:url(a.ttf);@font-face{src:url(b.woff2)}}"

    cleaned = clean_stylesheet(nested, resolve)

    assert 1 == cleaned.count('url("font:')
