"""Page sources of every kind, and all that can be wrong with them."""

import contextlib
import gzip
import io
import os
import random
import stat
import struct
import zipfile
import zlib
from datetime import UTC, datetime
from pathlib import Path

import brotli
import orjson
import psutil
import pytest
import zstandard

from clustering.services.pages import archives
from clustering.services.pages.archives import MAX_ENTRIES, open_source, read_pages
from clustering.services.pages.source_pages import MAX_BODY, Item, NotTaken, Skipped, SourcePage
from vertex.core.services.files.files import UnreadableFile

HTML = b"<html><body>Trail Runner 4</body></html>"
BASE = "http://shop.example/"


def read(source: Path) -> list[Item]:
    return list(read_pages(source, BASE))


def pages(source: Path) -> dict[str, bytes]:
    return {item.url: item.body for item in read(source) if isinstance(item, SourcePage)}


def refusals(source: Path) -> list[tuple[str, str]]:
    return [(item.place, item.code) for item in read(source) if isinstance(item, NotTaken)]


def reason(source: Path) -> str:
    [item] = [item for item in read(source) if isinstance(item, NotTaken)]
    return item.reason


def skipped(source: Path) -> list[str]:
    return [item.kind for item in read(source) if isinstance(item, Skipped)]


def manifest(folder: Path, *lines: object, name: str = "manifest.jsonl") -> Path:
    """Write a manifest; a line that is no dictionary is written as it is."""
    path = folder / name
    text = (
        b"\n".join(line if isinstance(line, bytes) else orjson.dumps(line) for line in lines)
        + b"\n"
    )
    path.write_bytes(text)
    return path


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with one page in it."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "1.html").write_bytes(HTML)
    return folder


GOOD = {"url": "http://shop.example/p/1", "file": "1.html"}


class TestManifest:
    def test_names_urls_and_files_beside_it(self, shop: Path) -> None:
        assert {"http://shop.example/p/1": HTML} == pages(manifest(shop, GOOD))

    def test_lines_that_name_a_folder_leave_nothing_open(self, shop: Path) -> None:
        (shop / "folder").mkdir()
        source = manifest(shop, *[GOOD | {"file": "folder"}] * 50)
        before = psutil.Process().num_fds()
        assert [(f"manifest.jsonl:{n}", "missing_file") for n in range(1, 51)] == refusals(source)
        assert before == psutil.Process().num_fds()

    def test_tells_status_time_and_content_type(self, shop: Path) -> None:
        line = GOOD | {
            "status": 404,
            "fetched_at": "2024-05-01T14:00:00+02:00",
            "content_type": "text/html; charset=latin1",
            "inbound_xpath": "/html/body/ul/li[2]/a",
            "crawler": {"ignored": True},
        }
        [page] = read(manifest(shop, line))
        expected = SourcePage(
            place="manifest.jsonl:1",
            url="http://shop.example/p/1",
            body=HTML,
            status=404,
            content_type="text/html; charset=latin1",
            fetched_at=datetime(2024, 5, 1, 12, tzinfo=UTC),
            inbound_xpath="/html/body/ul/li[2]/a",
        )
        assert expected == page

    def test_takes_null_for_what_is_not_told(self, shop: Path) -> None:
        [page] = read(
            manifest(shop, GOOD | {"status": None, "fetched_at": None, "content_type": None})
        )
        assert isinstance(page, SourcePage)
        assert (200, None, "") == (page.status, page.fetched_at, page.content_type)

    def test_a_time_without_a_zone_is_utc(self, shop: Path) -> None:
        [page] = read(manifest(shop, GOOD | {"fetched_at": "2024-05-01T14:00:00"}))
        assert isinstance(page, SourcePage)
        assert datetime(2024, 5, 1, 14, tzinfo=UTC) == page.fetched_at

    @pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
    @pytest.mark.parametrize("name", ["pages.jsonl", "pages.jsonl.gz", "pages"])
    def test_may_be_compressed_whatever_its_name(self, shop: Path, pack: object, name: str) -> None:
        path = manifest(shop, GOOD, name=name)
        path.write_bytes(pack(path.read_bytes()))  # type: ignore[operator]
        assert {"http://shop.example/p/1": HTML} == pages(path)

    def test_may_begin_with_a_byte_order_mark_and_hold_blank_lines(self, shop: Path) -> None:
        path = manifest(shop, b"", b"\xef\xbb\xbf".strip() + orjson.dumps(GOOD), b"  ", GOOD)
        assert 1 == len([item for item in read(path) if isinstance(item, NotTaken)])
        path = manifest(shop, b"\xef\xbb\xbf" + orjson.dumps(GOOD), b"  ", b"", GOOD)
        assert ["manifest.jsonl:1", "manifest.jsonl:4"] == [item.place for item in read(path)]  # type: ignore[union-attr]

    def test_the_bytes_of_a_page_are_those_of_its_file(self, shop: Path) -> None:
        body = b"\xef\xbb\xbf<base href='http://else.example/'>\r\n\x00\xff<p>caf\xe9"
        (shop / "1.html").write_bytes(body)
        assert [body] == list(pages(manifest(shop, GOOD)).values())

    @pytest.mark.parametrize(
        "line",
        [
            b"{",
            b'{"url": "http://shop.example/p/1", "file": "1.html"',
            b"[]",
            b"null",
            b'"http://shop.example/p/1"',
            b'{"url": "http://shop.example/\xff", "file": "1.html"}',
            b'{"url": "http://shop.example/\\ud800", "file": "1.html"}',
            b"[" * 100_000,
            {"file": "1.html"},
            {"url": "http://shop.example/p/1"},
            GOOD | {"url": 7},
            GOOD | {"url": ""},
            GOOD | {"url": ["http://shop.example/p/1"]},
            GOOD | {"file": None},
            GOOD | {"file": {"name": "1.html"}},
            GOOD | {"file": "  "},
            GOOD | {"status": "200"},
            GOOD | {"status": 200.5},
            GOOD | {"status": True},
            GOOD | {"status": 0},
            GOOD | {"status": 99999999999},
            GOOD | {"fetched_at": "yesterday"},
            GOOD | {"fetched_at": 1714564800},
            GOOD | {"fetched_at": "2024-02-30T00:00:00Z"},
            GOOD | {"fetched_at": "0001-01-01T00:00:00+14:00"},
            GOOD | {"fetched_at": "9999-12-31T23:59:59-12:00"},
            GOOD | {"fetched_at": True},
            GOOD | {"content_type": 1},
            GOOD | {"content_type": "text/html\nX: 1"},
            GOOD | {"content_type": "text/html\0"},
            GOOD | {"content_type": "x" * 10_000},
            GOOD | {"inbound_xpath": ["/html/a"]},
            GOOD | {"inbound_xpath": "/a" * 10_000},
        ],
        ids=lambda line: str(line)[:60],
    )
    def test_a_bad_line_is_told_with_its_number_and_the_others_are_taken(
        self, shop: Path, line: object
    ) -> None:
        path = manifest(shop, GOOD, line, GOOD | {"url": "http://shop.example/p/2"})
        assert [("manifest.jsonl:2", "bad_line")] == refusals(path)
        assert ["http://shop.example/p/1", "http://shop.example/p/2"] == list(pages(path))

    def test_a_line_of_any_length_is_one_line(self, shop: Path) -> None:
        path = manifest(shop, GOOD, b'{"url": "' + b"x" * 9_000_000, GOOD)
        assert [("manifest.jsonl:2", "bad_line")] == refusals(path)
        assert "longer than 4,194,304 bytes" == reason(path)
        assert 2 == len([item for item in read(path) if isinstance(item, SourcePage)])

    @pytest.mark.parametrize("garbage", [b"\x00\x01\x02", b"no JSON at all", b"\xff\xfe{\x00"])
    def test_a_first_line_of_garbage_does_not_hide_the_rest(
        self, shop: Path, garbage: bytes
    ) -> None:
        path = manifest(shop, garbage, GOOD)
        assert [("manifest.jsonl:1", "bad_line")] == refusals(path)
        assert ["http://shop.example/p/1"] == list(pages(path))

    @pytest.mark.parametrize(
        "pack", [gzip.compress, zstandard.ZstdCompressor().compress], ids=["gzip", "zstandard"]
    )
    def test_what_stands_before_a_cut_off_end_is_taken(self, shop: Path, pack: object) -> None:
        numbers = random.Random(1)
        lines = [
            GOOD | {"url": f"http://shop.example/{n}", "note": numbers.randbytes(40).hex()}
            for n in range(3000)
        ]
        path = manifest(shop, *lines)
        packed: bytes = pack(path.read_bytes())  # type: ignore[operator]
        path.write_bytes(packed)
        assert 3000 == len(read(path))
        path.write_bytes(packed[: len(packed) // 2])
        assert 500 < len(pages(path)) < 3000
        assert "damaged or cut short" in reason(path)

    def test_pages_of_one_address_come_in_the_order_of_the_lines(self, shop: Path) -> None:
        (shop / "2.html").write_bytes(HTML + b"2")
        result = read(manifest(shop, GOOD, GOOD | {"file": "2.html"}))
        assert [HTML, HTML + b"2"] == [item.body for item in result if isinstance(item, SourcePage)]

    def test_an_empty_one_is_told(self, shop: Path) -> None:
        path = shop / "manifest.jsonl"
        path.write_bytes(b"")
        with pytest.raises(UnreadableFile, match=r"manifest\.jsonl is empty"):
            read(path)

    def test_a_folder_with_a_manifest_is_read_by_it(self, shop: Path) -> None:
        manifest(shop, GOOD)
        assert ["http://shop.example/p/1"] == list(pages(shop))


class TestFileOfAManifest:
    """What a manifest names as a file is no reason to read just anything."""

    @pytest.fixture
    def secret(self, tmp_path: Path) -> Path:
        path = tmp_path / "secret.html"
        path.write_bytes(b"secret")
        return path

    @pytest.mark.parametrize(
        "name",
        ["../secret.html", "a/../../secret.html", "..", "/etc/passwd", "C:/x", "..\\x", "a\0b"],
    )
    def test_may_not_lead_out_of_the_folder(self, shop: Path, secret: Path, name: str) -> None:
        assert [("manifest.jsonl:2", "bad_name")] == refusals(
            manifest(shop, GOOD, GOOD | {"file": name}, GOOD)
        )

    def test_may_not_be_a_link_that_leads_out(self, shop: Path, secret: Path) -> None:
        (shop / "link.html").symlink_to(secret)
        path = manifest(shop, GOOD | {"file": "link.html"})
        assert [("manifest.jsonl:1", "bad_name")] == refusals(path)
        (shop / "inside.html").symlink_to(shop / "1.html")
        assert [HTML] == list(pages(manifest(shop, GOOD | {"file": "inside.html"})).values())

    def test_may_not_pass_through_a_linked_folder_that_leads_out(
        self, shop: Path, secret: Path
    ) -> None:
        (shop / "out").symlink_to(secret.parent)
        assert [("manifest.jsonl:1", "bad_name")] == refusals(
            manifest(shop, GOOD | {"file": "out/secret.html"})
        )

    def test_may_stand_in_a_folder_below(self, shop: Path) -> None:
        (shop / "a" / "b").mkdir(parents=True)
        (shop / "a" / "b" / "2.html").write_bytes(HTML)
        assert [HTML] == list(pages(manifest(shop, GOOD | {"file": "a/b/2.html"})).values())

    def test_may_be_missing(self, shop: Path) -> None:
        path = manifest(shop, GOOD | {"file": "9.html"}, GOOD)
        assert [("manifest.jsonl:1", "missing_file")] == refusals(path)
        assert "file '9.html': no such file or directory" == reason(path)

    def test_may_be_a_folder_a_pipe_or_a_device(self, shop: Path) -> None:
        os.mkfifo(shop / "pipe.html")
        (shop / "folder.html").mkdir()
        (shop / "loop.html").symlink_to("loop.html")
        for name in ("pipe.html", "folder.html", "loop.html"):
            path = manifest(shop, GOOD | {"file": name})
            assert [("manifest.jsonl:1", "missing_file")] == refusals(path), name

    def test_may_have_a_name_longer_than_names_can_be(self, shop: Path) -> None:
        assert [("manifest.jsonl:1", "missing_file")] == refusals(
            manifest(shop, GOOD | {"file": "x" * 5000})
        )

    @pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
    def test_may_be_forbidden_to_read(self, shop: Path) -> None:
        (shop / "1.html").chmod(0)
        path = manifest(shop, GOOD)
        assert [("manifest.jsonl:1", "missing_file")] == refusals(path)
        assert "permission denied" in reason(path)

    def test_may_be_too_large(self, shop: Path) -> None:
        with (shop / "1.html").open("r+b") as stream:
            stream.truncate(MAX_BODY)
        assert [MAX_BODY] == [len(body) for body in pages(manifest(shop, GOOD)).values()]
        with (shop / "1.html").open("r+b") as stream:
            stream.truncate(50 * 2**20)
        assert [("manifest.jsonl:1", "too_large")] == refusals(manifest(shop, GOOD))

    def test_may_be_empty(self, shop: Path) -> None:
        (shop / "1.html").write_bytes(b"")
        assert {"http://shop.example/p/1": b""} == pages(manifest(shop, GOOD))


class TestFolder:
    def test_gives_each_file_the_address_of_its_path(self, shop: Path) -> None:
        (shop / "c").mkdir()
        (shop / "c" / "index.htm").write_bytes(HTML)
        (shop / "item.php").write_bytes(HTML)
        assert [BASE + "1.html", BASE + "c/index.htm", BASE + "item.php"] == list(pages(shop))

    def test_encodes_names_as_a_path(self, shop: Path) -> None:
        (shop / "1.html").unlink()
        for name in ("50% off?.html", "a#b.html", "über uns.html"):
            (shop / name).write_bytes(HTML)
        (shop / os.fsdecode(b"caf\xe9.html")).write_bytes(HTML)
        expected = {"50%25%20off%3F.html", "a%23b.html", "%C3%BCber%20uns.html", "caf%E9.html"}
        assert {BASE + name for name in expected} == set(pages(shop))

    def test_takes_files_without_an_ending_only_if_they_look_like_html(self, shop: Path) -> None:
        (shop / "42").write_bytes(b"\n<!doctype html><p>page")
        (shop / "README").write_bytes(b"Read me")
        assert [BASE + "1.html", BASE + "42"] == list(pages(shop))

    def test_leaves_out_what_is_no_html_and_hidden_files(self, shop: Path) -> None:
        for name in ("style.css", "logo.png", "truth.jsonl", ".hidden.html"):
            (shop / name).write_bytes(b"x")
        (shop / ".git").mkdir()
        (shop / ".git" / "x.html").write_bytes(HTML)
        assert [BASE + "1.html"] == list(pages(shop))
        assert ["not_html"] * 3 == skipped(shop)

    def test_follows_no_link_out_of_it(self, shop: Path, tmp_path: Path) -> None:
        (tmp_path / "secret.html").write_bytes(b"secret")
        (shop / "2.html").symlink_to(tmp_path / "secret.html")
        (shop / "up").symlink_to(tmp_path)
        assert [BASE + "1.html"] == list(pages(shop))
        assert [("shop/2.html", "bad_name"), ("shop/up", "bad_name")] == refusals(shop)

    def test_survives_pipes_and_broken_links(self, shop: Path) -> None:
        os.mkfifo(shop / "0.html")
        (shop / "2.html").symlink_to("nowhere")
        assert [("shop/0.html", "missing_file"), ("shop/2.html", "missing_file")] == refusals(shop)

    @pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
    def test_tells_of_a_folder_that_cannot_be_listed(self, shop: Path) -> None:
        (shop / "closed").mkdir(mode=0)
        assert [("shop/closed/", "missing_file")] == refusals(shop)

    def test_changes_its_state_with_its_files(self, shop: Path) -> None:
        with open_source(shop, BASE) as source:
            before = source.state
        with open_source(shop, BASE) as source:
            assert before == source.state
        (shop / "2.html").write_bytes(HTML)
        with open_source(shop, BASE) as source:
            assert before != source.state
            assert 2 == source.n_items


def zipped(path: Path, entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as whole:
        for name, body in entries.items():
            whole.writestr(name, body)
    return path


class TestZip:
    def test_gives_each_entry_the_address_of_its_path(self, tmp_path: Path) -> None:
        path = zipped(
            tmp_path / "x",
            {"b.html": HTML, "a/": b"", "a/1 2.html": HTML, "a/x.css": b"", "__MACOSX/b.html": b""},
        )
        assert {BASE + "b.html": HTML, BASE + "a/1%202.html": HTML} == pages(path)
        assert ["not_html"] == skipped(path)

    @pytest.mark.parametrize("below", ["", "shop/"])
    def test_is_read_by_its_manifest(self, tmp_path: Path, below: str) -> None:
        line = orjson.dumps(GOOD)
        path = zipped(
            tmp_path / "x.zip", {f"{below}1.html": HTML, f"{below}manifest.jsonl": line + b"\nbad"}
        )
        assert {"http://shop.example/p/1": HTML} == pages(path)
        assert [(f"x.zip/{below}manifest.jsonl:2", "bad_line")] == refusals(path)

    @pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    def test_may_be_packed_in_any_way(self, tmp_path: Path, method: int) -> None:
        assert [HTML] == list(pages(zipped(tmp_path / "x.zip", {"1.html": HTML}, method)).values())

    @pytest.mark.parametrize(
        "name", ["../1.html", "/etc/1.html", "a/../../1.html", "..\\1.html", "C:/1.html"]
    )
    def test_an_entry_that_leads_out_is_refused(self, tmp_path: Path, name: str) -> None:
        path = zipped(tmp_path / "x.zip", {name: HTML, "2.html": HTML})
        assert ["bad_name"] == [code for _, code in refusals(path)]
        assert [BASE + "2.html"] == list(pages(path))

    def test_a_link_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "x.zip"
        link = zipfile.ZipInfo("1.html")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        with zipfile.ZipFile(path, "w") as whole:
            whole.writestr(link, "/etc/passwd")
        assert [("x.zip/1.html", "not_a_file")] == refusals(path)

    def test_an_encrypted_entry_is_refused(self, tmp_path: Path) -> None:
        path = zipped(tmp_path / "x.zip", {"1.html": HTML})
        data = bytearray(path.read_bytes())
        for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            data[data.index(mark) + offset] |= 1
        path.write_bytes(data)
        assert [("x.zip/1.html", "encrypted")] == refusals(path)

    @pytest.mark.filterwarnings("ignore:Duplicate name")
    def test_a_name_that_stands_twice_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "x.zip"
        with zipfile.ZipFile(path, "w") as whole:
            for body in (HTML, b"<p>other"):
                whole.writestr("1.html", body)
            whole.writestr("2.html", HTML)
        assert [("x.zip/1.html", "doubled_name")] == refusals(path)
        assert [BASE + "2.html"] == list(pages(path))

    def test_a_damaged_entry_is_told_and_the_others_are_taken(self, tmp_path: Path) -> None:
        path = zipped(tmp_path / "x.zip", {"1.html": b"<p>" + os.urandom(5000), "2.html": HTML})
        data = bytearray(path.read_bytes())
        data[1000] ^= 0xFF
        path.write_bytes(data)
        assert [("x.zip/1.html", "damaged")] == refusals(path)
        assert [BASE + "2.html"] == list(pages(path))

    def test_an_entry_that_lies_about_its_size_is_told(self, tmp_path: Path) -> None:
        path = zipped(tmp_path / "x.zip", {"1.html": b"<p>" * 1000, "2.html": HTML})
        data = bytearray(path.read_bytes())
        struct.pack_into("<L", data, data.index(b"PK\x01\x02") + 24, 10)
        path.write_bytes(data)
        assert [("x.zip/1.html", "damaged")] == refusals(path)

    def test_an_entry_too_large_is_refused_unread(self, tmp_path: Path) -> None:
        path = zipped(
            tmp_path / "x.zip", {"1.html": b"\0" * (MAX_BODY + 1), "2.html": b"<p>" * 300_000}
        )
        before = psutil.Process().memory_info().rss
        assert [("x.zip/1.html", "too_large")] == refusals(path)
        assert 20 * 2**20 > psutil.Process().memory_info().rss - before
        assert [BASE + "2.html"] == list(pages(path))

    def test_a_bomb_is_refused_as_a_whole(self, tmp_path: Path) -> None:
        path = tmp_path / "x.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as whole:
            whole.writestr("0.html", b"\0" * 9_000_000)
        data = path.read_bytes()
        # One compressed stream under 200 names: the entries overlap.
        end = data.rindex(b"PK\x05\x06")
        start = data.index(b"PK\x01\x02")
        entry = data[start:end]
        directory = b"".join(entry.replace(b"0.html", f"{n:06d}".encode()) for n in range(200))
        tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 200, 200, len(directory), start, 0)
        path.write_bytes(data[:start] + directory + tail)
        with pytest.raises(UnreadableFile, match="refused as a bomb"):
            read(path)

    def test_too_many_entries_are_refused_before_they_are_read(self, tmp_path: Path) -> None:
        path = zipped(tmp_path / "x.zip", {"1.html": HTML})
        data = path.read_bytes()
        end = data.rindex(b"PK\x05\x06")
        zip64 = struct.pack(
            "<4sQHHLLQQQQ",
            b"PK\x06\x06",
            44,
            45,
            45,
            0,
            0,
            MAX_ENTRIES + 1,
            MAX_ENTRIES + 1,
            100,
            0,
        )
        locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1)
        path.write_bytes(data[:end] + zip64 + locator + data[end:])
        with pytest.raises(UnreadableFile, match="more than 200,000 entries"):
            read(path)

    def test_a_locator_that_leads_to_smaller_numbers_is_not_believed(self, tmp_path: Path) -> None:
        path = zipped(tmp_path / "x.zip", {"1.html": HTML})
        data = path.read_bytes()
        end = data.rindex(b"PK\x05\x06")
        record = "<4sQHHLLQQQQ"
        small = struct.pack(record, b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, 100, 0)
        large = struct.pack(
            record, b"PK\x06\x06", 44, 45, 45, 0, 0, MAX_ENTRIES + 1, MAX_ENTRIES + 1, 100, 0
        )
        locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1)
        path.write_bytes(data[:end] + small + large + locator + data[end:])
        with pytest.raises(UnreadableFile, match="more than 200,000 entries"):
            read(path)

    def test_entries_are_counted_whatever_the_zip_says_of_their_number(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = zipped(tmp_path / "x.zip", {f"{n}.html": HTML for n in range(5)})
        data = bytearray(path.read_bytes())
        end = data.rindex(b"PK\x05\x06")
        data[end + 8 : end + 12] = struct.pack("<HH", 1, 1)
        path.write_bytes(data)
        assert 5 == len(read(path))
        monkeypatch.setattr(archives, "MAX_ENTRIES", 4)
        with pytest.raises(UnreadableFile, match="more than 4 entries"):
            read(path)

    @pytest.mark.parametrize("cut", [30, 60, -1, -22, -40])
    def test_a_cut_off_one_is_told(self, tmp_path: Path, cut: int) -> None:
        path = zipped(tmp_path / "x.zip", {"1.html": HTML})
        path.write_bytes(path.read_bytes()[:cut])
        with pytest.raises(UnreadableFile, match="not a usable zip"):
            read(path)

    def test_any_damage_ends_in_a_message(self, tmp_path: Path) -> None:
        numbers = random.Random(7)
        whole = zipped(
            tmp_path / "x.zip",
            {"1.html": HTML, "2.html": HTML * 50, "manifest.jsonl": orjson.dumps(GOOD)},
        ).read_bytes()
        path = tmp_path / "y.zip"
        n_readable = 0
        for _ in range(500):
            data = bytearray(whole)
            for _ in range(numbers.randint(1, 4)):
                data[numbers.randrange(4, len(data))] = numbers.randrange(256)
            path.write_bytes(data)
            try:
                n_readable += bool(read(path))
            except UnreadableFile:
                continue
        assert n_readable > 0

    def test_an_empty_one_holds_nothing(self, tmp_path: Path) -> None:
        assert [] == read(zipped(tmp_path / "x.zip", {}))


def record(url: str, block: bytes, kind: str = "response", **headers: str) -> bytes:
    """Return a WARC record."""
    line = {
        "WARC-Type": kind,
        "WARC-Target-URI": url,
        "WARC-Date": "2024-05-01T12:00:00Z",
        "WARC-Record-ID": "<urn:uuid:00000000-0000-0000-0000-000000000001>",
        "Content-Type": "application/http; msgtype=response",
        "Content-Length": str(len(block)),
    } | headers
    lines = "".join(f"{name}: {value}\r\n" for name, value in line.items())
    return b"WARC/1.0\r\n" + lines.encode() + b"\r\n" + block + b"\r\n\r\n"


def answer(
    body: bytes, *headers: str, status: str = "200 OK", content_type: str = "text/html"
) -> bytes:
    """Return an HTTP response."""
    typed = [f"Content-Type: {content_type}"] if content_type else []
    head = "\r\n".join([f"HTTP/1.1 {status}", *typed, *headers])
    return head.encode("latin-1") + b"\r\n\r\n" + body


def chunked(body: bytes, size: int = 7) -> bytes:
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x;note=1\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def warc(path: Path, *records: bytes) -> Path:
    path.write_bytes(b"".join(records))
    return path


PAGE = record("http://shop.example/p/1", answer(HTML))
OTHER = record("http://shop.example/p/2", answer(HTML + b"2"))
BOTH = {"http://shop.example/p/1": HTML, "http://shop.example/p/2": HTML + b"2"}


class TestWarc:
    def test_gives_its_responses(self, tmp_path: Path) -> None:
        block = answer(HTML, status="404 Not Found", content_type="text/html; charset=utf-8")
        [page] = read(warc(tmp_path / "x.warc", record("http://shop.example/p/1", block)))
        expected = SourcePage(
            place="x.warc:0",
            url="http://shop.example/p/1",
            body=HTML,
            status=404,
            content_type="text/html; charset=utf-8",
            fetched_at=datetime(2024, 5, 1, 12, tzinfo=UTC),
        )
        assert expected == page

    def test_may_be_compressed_record_by_record_or_as_a_whole(self, tmp_path: Path) -> None:
        zstd = zstandard.ZstdCompressor().compress
        for packed in (
            [gzip.compress(PAGE, mtime=0), gzip.compress(OTHER)],
            [gzip.compress(PAGE + OTHER, mtime=0)],
            [zstd(PAGE), zstd(OTHER)],
            [zstd(PAGE + OTHER)],
            [PAGE, OTHER],
        ):
            assert BOTH == pages(warc(tmp_path / "x.warc", *packed))

    def test_skips_and_counts_what_is_no_page(self, tmp_path: Path) -> None:
        path = warc(
            tmp_path / "x.warc",
            record("http://shop.example/", b"software: test\r\n", "warcinfo"),
            record("http://shop.example/p/1", b"GET / HTTP/1.1\r\n\r\n", "request"),
            record("http://shop.example/p/1", answer(b""), "revisit"),
            record("http://shop.example/x.png", answer(b"\x89PNG", content_type="image/png")),
            record("http://shop.example/old", answer(HTML, "Location: /new", status="301 Moved")),
            record("dns:shop.example", b"20240501 shop.example. IN A 192.0.2.1"),
            PAGE,
        )
        assert ["revisit", "not_html", "redirect", "not_http"] == skipped(path)
        assert [HTML] == list(pages(path).values())

    @pytest.mark.parametrize(
        ("body", "headers"),
        [
            (chunked(HTML), ["Transfer-Encoding: chunked"]),
            (gzip.compress(HTML, mtime=0), ["Content-Encoding: gzip"]),
            (zlib.compress(HTML), ["Content-Encoding: deflate"]),
            (brotli.compress(HTML), ["Content-Encoding: br"]),
            (zstandard.ZstdCompressor().compress(HTML), ["Content-Encoding: zstd"]),
            (
                chunked(gzip.compress(HTML, mtime=0)),
                ["Content-Encoding: gzip", "Transfer-Encoding: chunked"],
            ),
            (HTML, ["Content-Encoding: gzip", "Transfer-Encoding: chunked"]),
            (HTML, ["Content-Encoding: unheard-of"]),
        ],
        ids=[
            "chunked",
            "gzip",
            "deflate",
            "br",
            "zstd",
            "both",
            "bare in spite of its headers",
            "bare, unknown",
        ],
    )
    def test_undoes_what_the_payload_really_has(
        self, tmp_path: Path, body: bytes, headers: list[str]
    ) -> None:
        path = warc(tmp_path / "x.warc", record("http://shop.example/p/1", answer(body, *headers)))
        assert [HTML] == list(pages(path).values())

    @pytest.mark.parametrize(
        ("body", "headers", "code"),
        [
            (gzip.compress(HTML, mtime=0)[:-20], ["Content-Encoding: gzip"], "encoding"),
            (b"\x00\x01\x02", ["Content-Encoding: gzip"], "encoding"),
            (b"\x00\x01\x02", ["Content-Encoding: unheard-of"], "encoding"),
            (b"zz\r\n" + HTML, ["Transfer-Encoding: chunked"], "damaged"),
            (chunked(gzip.compress(HTML, mtime=0))[:20], ["Transfer-Encoding: chunked"], "damaged"),
        ],
    )
    def test_tells_of_a_payload_that_is_broken(
        self, tmp_path: Path, body: bytes, headers: list[str], code: str
    ) -> None:
        path = warc(
            tmp_path / "x.warc", record("http://shop.example/p/1", answer(body, *headers)), OTHER
        )
        assert [("x.warc:0", code)] == refusals(path)
        assert ["http://shop.example/p/2"] == list(pages(path))

    @pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "gzip, gzip"])
    def test_a_bomb_is_refused_in_little_memory(self, tmp_path: Path, encoding: str) -> None:
        bomb = b"\0" * 200_000_000
        for name in encoding.split(", "):
            bomb = {
                "gzip": gzip.compress,
                "deflate": zlib.compress,
                "br": lambda body: brotli.compress(body, quality=1),
                "zstd": zstandard.ZstdCompressor().compress,
            }[name](bomb)
        block = answer(bomb, f"Content-Encoding: {encoding}")
        path = warc(tmp_path / "x.warc", record("http://shop.example/p/1", block), OTHER)
        before = psutil.Process().memory_info().rss
        assert [("x.warc:0", "too_large")] == refusals(path)
        assert 64 * 2**20 > psutil.Process().memory_info().rss - before
        assert ["http://shop.example/p/2"] == list(pages(path))

    def test_a_record_too_large_is_refused_and_the_next_one_taken(self, tmp_path: Path) -> None:
        huge = record("http://shop.example/p/1", answer(b"<p>" * 20_000_000))
        path = warc(tmp_path / "x.warc", gzip.compress(huge, 1, mtime=0), gzip.compress(OTHER))
        assert ["too_large"] == [code for _, code in refusals(path)]
        assert ["http://shop.example/p/2"] == list(pages(path))

    def test_a_page_that_the_crawler_cut_short_is_refused(self, tmp_path: Path) -> None:
        path = warc(
            tmp_path / "x.warc",
            record("http://shop.example/p/1", answer(HTML), **{"WARC-Truncated": "length"}),
        )
        assert [("x.warc:0", "cut_short")] == refusals(path)

    @pytest.mark.parametrize("cut", [10, 30, 55])
    def test_tells_where_a_cut_off_archive_ends(self, tmp_path: Path, cut: int) -> None:
        path = warc(tmp_path / "x.warc", PAGE, OTHER[:-cut])
        assert [(f"x.warc:{len(PAGE)}", "damaged")] == refusals(path)
        assert ["http://shop.example/p/1"] == list(pages(path))

    def test_tells_where_a_cut_off_compressed_archive_ends(self, tmp_path: Path) -> None:
        big = record("http://shop.example/p/2", answer(b"<p>" + os.urandom(20_000)))
        path = warc(
            tmp_path / "x.warc.gz", gzip.compress(PAGE, mtime=0), gzip.compress(big)[:-9000]
        )
        assert ["damaged"] == [code for _, code in refusals(path)]
        assert ["http://shop.example/p/1"] == list(pages(path))

    def test_garbage_between_records_does_not_hide_the_rest(self, tmp_path: Path) -> None:
        path = warc(tmp_path / "x.warc", PAGE, b"garbage\r\n" * 30, OTHER)
        assert list(BOTH) == list(pages(path))

    @pytest.mark.parametrize("length", ["-5", "zz", "", "99999999999999999999999999"])
    def test_a_senseless_length_does_not_hide_the_rest(self, tmp_path: Path, length: str) -> None:
        broken = record("http://shop.example/p/1", answer(HTML), **{"Content-Length": length})
        assert "http://shop.example/p/2" in pages(warc(tmp_path / "x.warc", broken, OTHER))

    @pytest.mark.parametrize(
        "moment",
        ["2024-99-01T00:00:00Z", "", "soon", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59Z"],
    )
    def test_a_senseless_date_is_no_date(self, tmp_path: Path, moment: str) -> None:
        [page] = read(
            warc(
                tmp_path / "x.warc",
                record("http://shop.example/p/1", answer(HTML), **{"WARC-Date": moment}),
            )
        )
        assert isinstance(page, SourcePage)
        assert page.fetched_at is None

    def test_a_header_without_end_is_told(self, tmp_path: Path) -> None:
        path = warc(tmp_path / "x.warc", PAGE, b"WARC/1.0\r\nX: " + b"x" * 1_000_000)
        assert ["damaged"] == [code for _, code in refusals(path)]
        assert ["http://shop.example/p/1"] == list(pages(path))

    def test_any_damage_ends_in_a_message(self, tmp_path: Path) -> None:
        numbers = random.Random(7)
        whole = (
            PAGE
            + record(
                "http://shop.example/3",
                answer(
                    chunked(gzip.compress(HTML, mtime=0)),
                    "Content-Encoding: gzip",
                    "Transfer-Encoding: chunked",
                ),
            )
            + OTHER
        )
        for packed in (whole, gzip.compress(whole, mtime=0)):
            for _ in range(300):
                data = bytearray(packed)
                for _ in range(numbers.randint(1, 5)):
                    data[numbers.randrange(8, len(data))] = numbers.randrange(256)
                with contextlib.suppress(UnreadableFile):  # where no beginning can be made out
                    read(warc(tmp_path / "x.warc", bytes(data)))


class TestNoSource:
    @pytest.mark.parametrize(
        "content",
        [
            b"hello\n",
            b"\x89PNG\r\n",
            b"%PDF-1.4",
            b"<html></html>",
            os.urandom(500).replace(b"{", b""),
        ],
    )
    def test_what_is_no_source_is_told(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "x.warc.gz"
        path.write_bytes(content)
        with pytest.raises(
            UnreadableFile, match="neither a manifest, nor a WARC, a zip or a folder of HTML"
        ):
            read(path)

    def test_a_missing_one_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableFile, match="no such file or directory"):
            read(tmp_path / "x.zip")

    def test_a_pipe_is_told_and_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "x.zip")
        with pytest.raises(UnreadableFile, match="not a regular file"):
            read(tmp_path / "x.zip")

    def test_a_device_is_told(self) -> None:
        with pytest.raises(UnreadableFile, match="not a regular file"):
            read(Path("/dev/zero"))

    def test_an_empty_file_and_an_empty_folder_hold_nothing(self, tmp_path: Path) -> None:
        (tmp_path / "x.warc").touch()
        with pytest.raises(UnreadableFile, match="is empty"):
            read(tmp_path / "x.warc")
        (tmp_path / "folder").mkdir()
        assert [] == read(tmp_path / "folder")


@pytest.mark.bar
def test_memory_stays_flat_over_a_large_archive(tmp_path: Path) -> None:
    stream = io.BytesIO()
    for n in range(300):
        stream.write(
            gzip.compress(
                record(f"http://shop.example/{n}", answer(b"<p>" + os.urandom(1000) * 500)), 1
            )
        )
    path = warc(tmp_path / "x.warc.gz", stream.getvalue())
    before = psutil.Process().memory_info().rss
    assert 300 == sum(1 for _ in read_pages(path, BASE))
    assert 32 * 2**20 > psutil.Process().memory_info().rss - before
