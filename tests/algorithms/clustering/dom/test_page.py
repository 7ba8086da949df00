"""Bytes of any kind become a tree, or nothing and a reason: in linear time, without a crash."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from lxml.html import HtmlElement

from clustering.dom.page import (
    EMPTY,
    MAX_ATTRIBUTES,
    MAX_BYTES,
    TOO_MANY_ATTRIBUTES,
    TRUNCATED,
    PageTooLarge,
    ParsedPage,
    decide_encoding,
    has_too_many_attributes,
    parse_page,
)

HTML_1252 = "text/html; charset=windows-1252"


def text_of(page: ParsedPage) -> str:
    assert page.tree is not None
    return str(page.tree.text_content())


class TestTree:
    def test_is_that_of_lxml_html(self) -> None:
        page = parse_page(b"<p>a<p>b<table><tr><td>c")
        assert isinstance(page.tree, HtmlElement)
        assert ["html", "body", "p", "p", "table", "tr", "td"] == [
            element.tag for element in page.tree.iter()
        ]
        assert ("utf-8", "") == (page.encoding, page.problem)

    def test_lets_no_page_load_anything(self) -> None:
        page = parse_page(b'<!DOCTYPE html SYSTEM "file:///etc/passwd"><p>&xxe;</p>')
        assert "root:" not in text_of(page)

    def test_keeps_comments_and_instructions_in_their_places(self) -> None:
        tree = parse_page(b"<p><!--c--><?php x?>a</p>").tree
        assert tree is not None
        assert 4 == len(list(tree.iter())) - 1


class TestEncoding:
    @pytest.mark.parametrize(
        ("body", "content_type", "encoding"),
        [
            (b"abc", "", "utf-8"),
            ("é".encode(), "", "utf-8"),
            (b"\xe9", "", "windows-1252"),
            (b"\xef\xbb\xbf\xe9", HTML_1252, "utf-8"),
            ("a".encode("utf-16"), HTML_1252, "utf-16le"),
            (b"\xfe\xff\0a", "", "utf-16be"),
            (b"\xe9", "text/html; charset=iso-8859-1", "windows-1252"),
            (b"\xe9", 'text/html;charset="ISO-8859-2"', "iso-8859-2"),
            (b"\xe9", "text/html; charset='koi8-r'", "koi8-r"),
            (b"abc", "text/html; charset=utf-7", "utf-8"),
            (b"+ADw-script+AD4-", "text/html; charset=utf-7", "utf-8"),
            (b"abc", "text/html; charset=hz-gb-2312", "utf-8"),
            (b"abc", "text/html; charset=klingon", "utf-8"),
            (b"abc", "text/html; charset=", "utf-8"),
            (b"abc", "charset", "utf-8"),
            (b"<meta charset=gb2312>", "", "gbk"),
            (b"<meta charset=gb2312>", "text/html; charset=big5", "big5"),
            (b"<META CHARSET = 'euc-kr' >", "", "euc-kr"),
            (
                b'<meta http-equiv=content-type content="text/html; charset=shift_jis">',
                "",
                "shift_jis",
            ),
            (
                b'<meta content="text/html; charset=shift_jis" http-equiv="Content-Type"/>',
                "",
                "shift_jis",
            ),
            (b'<meta name=x content="text/html; charset=shift_jis">', "", "utf-8"),
            (b'<meta name=x content=">"><meta charset=koi8-u>', "", "koi8-u"),
            (b"<!-- <meta charset=gbk> --><meta charset=koi8-u>", "", "koi8-u"),
            (b"<!-- <meta charset=gbk>", "", "utf-8"),
            (b'<a title="<meta charset=gbk>">', "", "utf-8"),
            (b"<meta charset=utf-16>", "", "utf-8"),
            (b"<meta charset=x-user-defined>", "", "windows-1252"),
            (b"<meta charset=utf-7><meta charset=koi8-r>", "", "koi8-r"),
            (b'<?xml version="1.0" encoding="iso-8859-5"?><p>', "", "iso-8859-5"),
            (b'<?xml version="1.0" encoding="iso-8859-5"?><meta charset=koi8-r>', "", "koi8-r"),
            (b" " * 3000 + b"<meta charset=koi8-r>", "", "koi8-r"),
            (b" " * 9000 + b"<meta charset=koi8-r>", "", "utf-8"),
        ],
    )
    def test_is_decided_as_browsers_do(self, body: bytes, content_type: str, encoding: str) -> None:
        assert encoding == decide_encoding(body, content_type)

    @pytest.mark.parametrize(
        ("encoding", "codec", "text"),
        [
            ("windows-1252", "cp1252", "“é” €"),
            ("iso-8859-2", "iso8859-2", "žluťoučký"),
            ("windows-1251", "cp1251", "привет"),
            ("koi8-r", "koi8-r", "привет"),
            ("x-mac-cyrillic", "mac-cyrillic", "привет"),
            ("windows-874", "cp874", "สวัสดี"),
            ("iso-8859-8-i", "iso8859-8", "שלום"),
            ("gbk", "gb18030", "简体中文 € 㐂"),
            ("big5", "big5hkscs", "繁體中文 啫"),
            ("shift_jis", "cp932", "日本語①"),
            ("euc-jp", "euc-jp", "日本語"),
            ("iso-2022-jp", "iso2022-jp", "日本語"),
            ("euc-kr", "cp949", "한국어 똠방각하"),
            ("utf-16le", "utf-16-le", "日本語"),
            ("utf-8", "utf-8", "日本語 😀"),
        ],
    )
    def test_is_decoded_as_browsers_do(self, encoding: str, codec: str, text: str) -> None:
        body = f"<p>{text}</p><p>end</p>".encode(codec)
        page = parse_page(body, f"text/html; charset={encoding}")
        assert encoding == page.encoding
        assert f"{text}end" == text_of(page)

    @pytest.mark.parametrize(
        "label",
        [
            "utf-8",
            "windows-1252",
            "euc-kr",
            "gbk",
            "shift_jis",
            "big5",
            "euc-jp",
            "iso-2022-jp",
            "utf-16",
        ],
    )
    def test_that_does_not_fit_never_ends_the_page(self, label: str) -> None:
        body = b"<p>a\xff\xfe\x80\x81\xc8\xff</p>" * 3 + b"<p>the end</p>"
        assert text_of(parse_page(body + b" " * (len(body) % 2), f"text/html; charset={label}"))
        if label != "utf-16":
            assert text_of(parse_page(body, f"text/html; charset={label}")).endswith("the end")

    def test_that_names_no_character_gives_a_control_character_as_in_browsers(self) -> None:
        assert "a\x81\x9db" == text_of(parse_page(b"<p>a\x81\x9db", HTML_1252))

    def test_of_a_mark_within_the_page_is_left_alone(self) -> None:
        assert "a\ufeffb" == text_of(parse_page("\ufeff<p>a\ufeffb".encode()))


class TestProblems:
    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b" \r\n\t",
            b"<!-- x -->",
            b"<!doctype html>",
            b"\xef\xbb\xbf",
            b"\xff\xfe",
            b"<?xml version='1.0'?>",
        ],
    )
    def test_of_nothing_is_empty(self, body: bytes) -> None:
        page = parse_page(body)
        assert (None, EMPTY) == (page.tree, page.problem)

    def test_of_text_alone_is_none(self) -> None:
        assert ("hello", "") == (text_of(parse_page(b"hello")), parse_page(b"hello").problem)

    def test_of_deep_nesting_is_truncation(self) -> None:
        assert TRUNCATED == parse_page(b"<div>" * 100_000).problem
        assert TRUNCATED == parse_page(b"</x>" * 1000 + b"<div>" * 300 + b"<p>lost").problem
        assert "" == parse_page(b"<div>" * 250).problem

    def test_of_long_text_is_truncation(self) -> None:
        page = parse_page(b"<p>first</p><p>" + b"x" * 10_100_000 + b"</p><p>last</p>")
        assert TRUNCATED == page.problem
        assert "last" not in text_of(page)

    def test_of_many_attributes_ends_before_the_parser(self) -> None:
        begin = time.process_time()
        page = parse_page(b"<a " + b" ".join(b"a%d" % n for n in range(1_000_000)) + b">x</a>")
        assert (None, TOO_MANY_ATTRIBUTES) == (page.tree, page.problem)
        assert time.process_time() - begin < 10

    def test_of_size_has_a_name(self) -> None:
        with pytest.raises(PageTooLarge, match="52,428,800 bytes"):
            parse_page(b"x" * 50 * 1024 * 1024)
        assert TRUNCATED == parse_page(b"x" * MAX_BYTES).problem

    def test_of_nul_bytes_is_none(self) -> None:
        page = parse_page(b"<p>a\0b</p>\0<p\0>c</p\0><b title='\0'>d</b>")
        assert "" == page.problem
        assert page.tree is not None
        assert ["a\ufffdb", "d"] == [
            page.tree.xpath("string(//p[1])"),
            page.tree.xpath("string(//b)"),
        ]
        assert text_of(parse_page(b"\0" * 1000 + b"<p>end")).endswith("end")

    @given(
        st.binary(max_size=200),
        st.sampled_from(["", HTML_1252, "text/html; charset=utf-8", "charset=utf-16"]),
    )
    def test_of_any_kind_is_no_crash(self, body: bytes, content_type: str) -> None:
        page = parse_page(body, content_type)
        assert (page.tree is None) == (page.problem == EMPTY)
        if page.tree is not None:
            etree.tostring(page.tree, encoding="unicode")


def most_attributes(body: bytes) -> int:
    """Return how many attributes the parser itself finds in the tag that has most."""

    class Counter:
        most = 0

        def start(self, _tag: str, attributes: dict[str, str]) -> None:
            self.most = max(self.most, len(attributes))

        def close(self) -> None:
            pass

    counter = Counter()
    etree.fromstring(body or b" ", etree.HTMLParser(encoding="utf-8", target=counter))  # type: ignore[arg-type]
    return counter.most


MANY = b" ".join(b"a%d" % n for n in range(MAX_ATTRIBUTES + 1))
PIECES = st.lists(
    st.sampled_from(
        [b"<", b">", b'"', b"'", b"=", b"/", b" ", b"a", b"<x ", b"<script>", b"</script>", b"<!--",
         b"-->", b"<title>", b"</title>", b"<textarea ", b'="', b"='", b'b="c"', MANY, b"\n", b"!",
         b"?"]
    ),
    max_size=12,
).map(b"".join)  # fmt: skip


class TestAttributes:
    @pytest.mark.parametrize(
        "tag",
        [
            b"<a " + MANY + b">",
            b"<a " + MANY,
            b"<a/" + MANY.replace(b" ", b"/") + b">",
            b"<a " + MANY.replace(b" ", b'="x"') + b">",
            b"<a " + MANY.replace(b" ", b'=">" ') + b">",
            b"<a " + MANY.replace(b" ", b"='<b>' ") + b">",
            b"<a " + MANY.replace(b" ", b' = "\'" ') + b">",
            b"<a " + MANY.replace(b" ", b"=x' ") + b">",
            b"<a " + MANY.replace(b" ", b'=<"x ') + b">",
            b"<a " + MANY.replace(b" ", b"=> <b>") + b"><a " + MANY + b">",
            b"<script>if (a<b) c='</script><a " + MANY + b">",
            b"<!-- <b c=' --><a " + MANY + b">",
            b"<b '><a " + MANY + b">",
            b'<title><b c="</title><a ' + MANY + b">",
        ],
    )
    def test_beyond_a_thousand_are_found(self, tag: bytes) -> None:
        assert has_too_many_attributes(tag)
        assert has_too_many_attributes(b"<a " + MANY + b">" + tag)

    @pytest.mark.parametrize(
        "body",
        [
            b"<a " + MANY.partition(b" ")[2] + b">",
            b"<script>for (i=0;i<n " + MANY + b"></script>",
            b"<!-- <a " + MANY + b"> -->",
            b"<textarea><a " + MANY + b"></textarea>",
            b"<a " + b"b " * 5000 + b">",
            b"<a b='" + MANY + b"'>",
            b"<p>" + MANY + b"</p>",
            b"< a " + MANY + b">",
        ],
    )
    def test_are_not_seen_where_there_are_none(self, body: bytes) -> None:
        assert most_attributes(body) <= MAX_ATTRIBUTES
        assert not has_too_many_attributes(body)

    @given(PIECES, PIECES)
    def test_are_counted_as_the_parser_does(self, before: bytes, after: bytes) -> None:
        body = before + b"<y " + MANY + after
        # A tag that never ends is refused too, though the parser would drop it: so it is
        # ended here.
        most = max(most_attributes(body + end) for end in (b"", b">", b'">', b"'>", b" >"))
        assert has_too_many_attributes(body) >= (most_attributes(body) > MAX_ATTRIBUTES)
        assert has_too_many_attributes(body) <= (most > MAX_ATTRIBUTES)

    @pytest.mark.parametrize(
        "piece",
        [b"<", b"<a", b"<a ", b"<a <b>", b'<a ="', b'<a b="', b"<a b='<a c=\"", b'="', b"='=\"",
         b"= ", b"<!--", b"<a>", b"<a b=c>", b"</", b"<script>", b"&", b"\0", b"a ", b"<a b='>' ",
         b"<a b='<c>' ", b'"<a ']
    )  # fmt: skip
    def test_are_counted_in_linear_time(self, piece: bytes) -> None:
        body = (piece * (MAX_BYTES // len(piece)))[:MAX_BYTES]
        begin = time.process_time()
        decide_encoding(body)
        has_too_many_attributes(body)
        assert time.process_time() - begin < 8
