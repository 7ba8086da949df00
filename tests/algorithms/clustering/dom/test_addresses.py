"""One address has one spelling; what is no address of a page is refused with the reason."""

from __future__ import annotations

import re
import time
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clustering.dom.addresses import (
    MAX_LENGTH,
    Address,
    BadAddress,
    belongs_to_site,
    join_url,
    netloc_of,
    normalise_url,
    origin_of,
    parse_url,
    url_hash,
)

SHOP = "http://shop.example"


class TestNormalForm:
    @pytest.mark.parametrize(
        ("written", "normal"),
        [
            (f"{SHOP}/a/b?x=1", f"{SHOP}/a/b?x=1"),
            ("HTTP://Shop.EXAMPLE/A", f"{SHOP}/A"),
            (SHOP, f"{SHOP}/"),
            (f"{SHOP}?q", f"{SHOP}/?q"),
            (f"{SHOP}/?", f"{SHOP}/"),
            (f"{SHOP}/a#top", f"{SHOP}/a"),
            (f"{SHOP}#a?b", f"{SHOP}/"),
            (f" \t{SHOP}/a\n", f"{SHOP}/a"),
            (f"{SHOP}:80/", f"{SHOP}/"),
            ("https://shop.example:443/", "https://shop.example/"),
            ("https://shop.example:80/", "https://shop.example:80/"),
            (f"{SHOP}:08080/", f"{SHOP}:8080/"),
            (f"{SHOP}:/", f"{SHOP}/"),
            ("http://shop.example./a", f"{SHOP}/a"),
            (f"{SHOP}/a/./b/../c", f"{SHOP}/a/c"),
            (f"{SHOP}/../../a", f"{SHOP}/a"),
            (f"{SHOP}/a/..", f"{SHOP}/"),
            (f"{SHOP}/a/.", f"{SHOP}/a/"),
            (f"{SHOP}/a/%2e%2E/b", f"{SHOP}/b"),
            (f"{SHOP}/a//b", f"{SHOP}/a//b"),
            (f"{SHOP}/%e9%7e%41", f"{SHOP}/%E9~A"),
            (f"{SHOP}/%zz%", f"{SHOP}/%zz%"),
            (f"{SHOP}/a b|c", f"{SHOP}/a%20b|c"),
            (f"{SHOP}/é?ü", f"{SHOP}/%C3%A9?%C3%BC"),
            (f"{SHOP}/?b=2&a=1&a=0", f"{SHOP}/?b=2&a=1&a=0"),
            (f"{SHOP}/?q='\"<>", f"{SHOP}/?q=%27%22%3C%3E"),
            ("http://bücher.example/", "http://xn--bcher-kva.example/"),
            ("http://BÜCHER.example/", "http://xn--bcher-kva.example/"),
            ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/"),
            ("http://[::1]:8000/", "http://[::1]:8000/"),
            ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
            ("http://[2001:DB8::A]/", "http://[2001:db8::a]/"),
        ],
    )
    def test_is_one_for_all_spellings(self, written: str, normal: str) -> None:
        assert normal == normalise_url(written)

    def test_has_the_query_in_the_encoding_of_the_page(self) -> None:
        assert f"{SHOP}/%C3%A9?q=%E9" == normalise_url(f"{SHOP}/é?q=é", "windows-1252")
        assert f"{SHOP}/?q=%26%238364%3B" == normalise_url(f"{SHOP}/?q=€", "iso-8859-2")
        assert f"{SHOP}/?q=%C3%A9" == normalise_url(f"{SHOP}/?q=é", "utf-16le")
        assert f"{SHOP}/?q=%C3%A9" == normalise_url(f"{SHOP}/?q=é", "x-user-defined")

    @given(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        st.text("abAB%0129./;?&=#éß()~ _:@", max_size=60),
    )
    @example("", "/a;jsess;jsessionid=1ionid=2")
    @example("", "/(S(a));jsessionid=1/b")
    @example("", "/..;jsessionid=1/a")
    @example("", "?sid=0123456789ab&sid=1")
    def test_is_its_own_normal_form(self, host: str, rest: str) -> None:
        try:
            normal = normalise_url(f"http://a{host}.example{rest}")
        except BadAddress:
            return
        assert normal == normalise_url(normal)
        assert normal == str(parse_url(normal))
        assert normal.isascii()
        assert len(normal) <= MAX_LENGTH

    def test_has_named_parts(self) -> None:
        assert Address("https", "::1", 8443, "/a", "b=c") == parse_url("https://[::1]:8443/a?b=c#d")
        assert parse_url("https://[::1]:8443/a?b=c").origin == "https://[::1]:8443"
        assert parse_url("https://[::1]:8443/a?b=c").target == "/a?b=c"


class TestSessions:
    @pytest.mark.parametrize(
        "written",
        [
            "/a;jsessionid=0AFE12.node1?x=1",
            "/a;JSESSIONID=0AFE12?x=1",
            "/a?jsessionid=1&x=1",
            "/a?x=1&PHPSESSID=abc",
            "/a?x=1&phpsessid=",
            "/a?x=1&sid=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
            "/a?x=1&SID=1234567890123456",
            "/a?x=1&session_id=0f1e2d3c4b5a",
            "/a?ASPSESSIONIDQQABCDEF=KJHGFDSA&x=1",
            "/a?CFID=123&CFTOKEN=456&x=1",
            "/a?osCsid=0f1e&x=1",
            "/(S(lit3py55t21z5v55vlm25s55))/a?x=1",
            "/(A(abc)S(lit3py55t21z5v55vlm25s55))/a?x=1",
            "/(lit3py55t21z5v55vlm25s55)/a?x=1",
        ],
    )
    def test_are_no_part_of_an_address(self, written: str) -> None:
        assert f"{SHOP}/a?x=1" == normalise_url(SHOP + written)

    @pytest.mark.parametrize(
        "written",
        [
            "/a?sid=12",
            "/a?sid=sports",
            "/a?sid=04/11/18/1234",
            "/a?session=morning&session_id=7",
            "/a?residence=x&inside=y",
            "/a?utm_source=mail",
            "/f(x)/a",
            "/(new)/a",
            "/assessments/sid",
        ],
    )
    def test_are_not_seen_where_there_are_none(self, written: str) -> None:
        assert SHOP + written == normalise_url(SHOP + written)


class TestRefusal:
    @pytest.mark.parametrize(
        ("written", "problem"),
        [
            ("", "not an absolute address"),
            ("shop.example/a", "not an absolute address"),
            ("/a", "not an absolute address"),
            ("http:shop.example", "not an absolute address"),
            ("http:/shop.example", "not an absolute address"),
            ("ftp://shop.example/", "ftp is not fetched"),
            ("file:///etc/passwd", "file is not fetched"),
            ("javascript://shop.example/%0aalert(1)", "javascript is not fetched"),
            ("http://", "names no host"),
            ("http:///a", "names no host"),
            ("http://:80/", "names no host"),
            ("http://user@shop.example/", "user name"),
            ("http://user:pass@shop.example/", "user name"),
            ("http://shop.example\\@evil.example/", "backslash"),
            ("http://shop.example/\\", "backslash"),
            ("http://shop.example/a\tb", "control character"),
            ("http://shop.example/a\0", "control character"),
            ("http://shop\n.example/", "control character"),
            ("http://shop.example/\ud800", "control character"),
            ("http://shop.example:port/", "no port"),
            ("http://shop.example:0/", "no port"),
            ("http://shop.example:65536/", "no port"),
            ("http://shop.example:٨٠/", "no port"),
            ("http://shop.example:-1/", "no port"),
            ("http://sh op.example/", "no host name"),
            ("http://shop..example/", "no host name"),
            ("http://shop%2eexample/", "no host name"),
            ("http://shop,example/", "no host name"),
            (f"http://{'a' * 64}.example/", "no host name"),
            (f"http://{'a.' * 130}example/", "no host name"),
            ("http://\u202e.example/", "not an international host name"),
            ("http://0x7f.1/", "no IPv4 address"),
            ("http://127.1/", "no IPv4 address"),
            ("http://2130706433/", "no IPv4 address"),
            ("http://0177.0.0.1/", "no IPv4 address"),
            ("http://127.0.0.1.0x/", "no IPv4 address"),
            ("http://256.0.0.1/", "no IPv4 address"),
            ("http://[::1/", "no IPv6 address"),
            ("http://[::1]a/", "no port"),
            ("http://[fe80::1%25eth0]/", "IPv6 address"),
            ("http://[::ffff:127.0.0.1%1]/", "IPv6 address"),
            ("http://[]/", "no IPv6 address"),
            (f"{SHOP}/{'a' * 2048}", "longer than 2048"),
            (f"{SHOP}/{'é' * 1000}", "longer than 2048"),
        ],
    )
    def test_says_what_is_wrong(self, written: str, problem: str) -> None:
        with pytest.raises(BadAddress, match=re.escape(problem)):
            normalise_url(written)

    def test_full_width_digits_are_the_address_that_they_look_like(self) -> None:
        assert "http://127.0.0.1/" == normalise_url("http://１２７.0.0.1/")

    def test_message_is_short_and_printable(self) -> None:
        with pytest.raises(BadAddress) as caught:
            normalise_url("http://\x1b[31m" + "x" * 5_000_000)
        assert len(str(caught.value)) < 300
        assert str(caught.value).isprintable()

    @given(st.text(max_size=80))
    def test_is_the_only_error(self, text: str) -> None:
        for url in (text, f"http://{text}", f"http://a.example/{text}", f"https://[{text}]/"):
            with suppress(BadAddress):
                assert normalise_url(url).startswith(("http://", "https://"))

    @pytest.mark.parametrize(
        "part", ["http://", "/..", ";jsessionid=1", "/(S(a)", "%2e/", "?sid=", "@", ":", "[", "é"]
    )
    def test_of_hostile_length_takes_no_time(self, part: str) -> None:
        begin = time.process_time()
        for url in (part * 5_000_000, f"{SHOP}/{part * 200}"):
            with suppress(BadAddress):
                normalise_url(url)
        assert time.process_time() - begin < 2


class TestJoining:
    @pytest.mark.parametrize(
        ("href", "joined"),
        [
            ("c", "/a/c"),
            ("./c", "/a/c"),
            ("../c", "/c"),
            ("/c", "/c"),
            ("?y=2", "/a/b?y=2"),
            ("", "/a/b?x=1"),
            ("#c", "/a/b?x=1"),
            ("c?d#e", "/a/c?d"),
            (" c\n", "/a/c"),
            ("//shop.example/c", "/c"),
            ("http://shop.example/c", "/c"),
            ("HTTP://shop.example/c", "/c"),
            ("c;d", "/a/c;d"),
            ("c/", "/a/c/"),
            ("1:2", None),
            ("mailto:a@shop.example", None),
            ("tel:+1", None),
            ("data:text/html,x", None),
            ("javascript:void(0)", None),
            ("http:c", None),
        ],
    )
    def test_follows_the_base(self, href: str, joined: str | None) -> None:
        base = f"{SHOP}/a/b?x=1#f"
        if joined is None and not href[0].isdigit():
            with pytest.raises(BadAddress):
                join_url(base, href)
        else:
            assert SHOP + (joined or "/a/1:2") == normalise_url(join_url(base, href))

    def test_needs_no_path_in_the_base(self) -> None:
        assert f"{SHOP}/a" == join_url(SHOP, "a")
        assert f"{SHOP}/a" == join_url(f"{SHOP}?x/y", "a")
        assert f"{SHOP}/a" == join_url(f"{SHOP}?x//y", "/a")


class TestSite:
    @pytest.mark.parametrize(
        "url",
        [
            "http://shop.example/a",
            "https://shop.example/a",
            "http://www.shop.example/a",
            "http://img.shop.example/a",
            "http://img.shop.example:8080/a",
            "http://cdn.example:81/a",
            "http://WWW.Shop.example:80/a",
        ],
    )
    def test_owns_its_hosts(self, url: str) -> None:
        assert belongs_to_site(
            url, "http://www.shop.example/", ["img.shop.example", "cdn.example:81"]
        )

    @pytest.mark.parametrize(
        "url",
        [
            "http://shop.example:8080/",
            "http://other.example/",
            "http://shop.example.evil.example/",
            "http://evilshop.example/",
            "http://cdn.example/",
            "http://cdn.example:82/",
        ],
    )
    def test_owns_no_other_host(self, url: str) -> None:
        assert not belongs_to_site(
            url, "http://shop.example/", ["img.shop.example", "cdn.example:81"]
        )

    def test_on_another_port_is_another_site(self) -> None:
        assert belongs_to_site("http://127.0.0.1:8001/a", "http://127.0.0.1:8001/")
        assert not belongs_to_site("http://127.0.0.1:8002/a", "http://127.0.0.1:8001/")
        assert belongs_to_site("http://[::1]:8001/a", "http://127.0.0.1:8001/", ["[::1]"])


def test_origin_leaves_the_default_port_out() -> None:
    assert "http://shop.example" == origin_of("HTTP://Shop.example:80/a?b")
    assert "https://shop.example:80" == origin_of("https://shop.example:80")


def test_hash_is_half_a_sha256() -> None:
    assert bytes.fromhex("781bc04ec9bd049cdfacaec4ae202610") == url_hash("http://example.org/")


@pytest.mark.parametrize(
    ("host", "netloc"),
    [
        ("Shop.Example", "shop.example"),
        ("shop.example:81", "shop.example:81"),
        (" [::1]:81 ", "[::1]:81"),
        ("bücher.example", "xn--bcher-kva.example"),
    ],
)
def test_netloc_is_read_from_what_a_person_enters(host: str, netloc: str) -> None:
    assert netloc == netloc_of(host)


@pytest.mark.parametrize(
    "host",
    ["", "shop.example/", "shop.example/a", "http://shop.example", "a@b", "shop.example?x", "a b"],
)
def test_netloc_is_not_read_from_anything_else(host: str) -> None:
    with pytest.raises(BadAddress):
        netloc_of(host)
