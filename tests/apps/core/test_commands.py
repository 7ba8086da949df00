"""Commands as a script meets them: exit status, standard output, standard error, files."""

import gzip
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.models import Assignment, Vertical
from clustering.models import Page, SearchClick
from tests.installation import own_database
from vertex.core.management.output import open_input, open_output, read_json_lines
from vertex.core.models import Job, Site
from vertex.core.services.files.files import BadLine, UnreadableFile
from vertex.core.services.jobs.requests import create_here

HTML = b"<html><a href='/next'>next</a></html>"


def call(name: str, *arguments: object, **options: Any) -> tuple[list[Any], str]:
    """Call a command in this process; return its lines and what it told."""
    stdout, stderr = StringIO(), StringIO()
    call_command(name, *map(str, arguments), stdout=stdout, stderr=stderr, **options)
    return [orjson.loads(line) for line in stdout.getvalue().splitlines()], stderr.getvalue()


def fail(name: str, *arguments: object, **options: Any) -> str:
    with pytest.raises(CommandError) as error:
        call(name, *arguments, **options)
    return str(error.value)


def manage(
    var: Path, *arguments: object, stdin: bytes = b"", **environ: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "manage.py", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=settings.BASE_DIR,
        env=environment(var) | environ,
        check=False,
        timeout=300,
    )


def environment(var: Path) -> dict[str, str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("DATABASE", "DJANGO", "VERTEX"))
    }
    return inherited | {"VERTEX_VAR": str(var)}


def told(run: subprocess.CompletedProcess[bytes]) -> list[str]:
    return run.stderr.decode().splitlines()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "1.html").write_bytes(HTML)
    lines: list[Any] = [{"url": f"http://shop.example/{n}", "file": "1.html"} for n in range(3)]
    (folder / "pages.jsonl").write_bytes(b"\n".join(map(orjson.dumps, lines)))
    return folder / "pages.jsonl"


class TestLinesOut:
    @pytest.mark.parametrize(
        ("name", "read"),
        [
            ("x.jsonl", bytes),
            ("x.jsonl.gz", gzip.decompress),
            ("x.zst", lambda text: zstandard.ZstdDecompressor().decompressobj().decompress(text)),
        ],
    )
    def test_are_json_in_utf8_compressed_as_the_name_says(
        self, tmp_path: Path, name: str, read: Any
    ) -> None:
        with open_output(tmp_path / name) as lines:
            lines.write({"url": "http://shop.example/ü", "n": 1})
            lines.write({"url": None})
        assert (
            '{"url":"http://shop.example/ü","n":1}\n{"url":null}\n'
            == read((tmp_path / name).read_bytes()).decode()
        )

    def test_appear_under_their_name_only_when_all_are_written(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_text("before")
        with open_output(tmp_path / "x") as lines:
            lines.write({})
            assert "before" == (tmp_path / "x").read_text()
        assert "{}\n" == (tmp_path / "x").read_text()

    def test_leave_nothing_behind_after_a_failure(self, tmp_path: Path) -> None:
        def fail_in_the_middle() -> None:
            with open_output(tmp_path / "x") as lines:
                lines.write({})
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail_in_the_middle()
        assert [] == list(tmp_path.iterdir())

    def test_go_through_links_and_into_devices(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(tmp_path / "x")
        for path in (tmp_path / "link", Path("/dev/null")):
            with open_output(path) as lines:
                lines.write({})
        assert ("{}\n", True) == ((tmp_path / "x").read_text(), (tmp_path / "link").is_symlink())

    def test_have_the_rights_that_new_files_have(self, tmp_path: Path) -> None:
        with open_output(tmp_path / "x"):
            pass
        (tmp_path / "y").touch()
        assert (tmp_path / "y").stat().st_mode == (tmp_path / "x").stat().st_mode


class TestLinesIn:
    @pytest.mark.parametrize(
        ("name", "pack"),
        [("x", bytes), ("x.gz", gzip.compress), ("x.zst", zstandard.ZstdCompressor().compress)],
    )
    def test_are_read_whatever_their_compression(
        self, tmp_path: Path, name: str, pack: Any
    ) -> None:
        (tmp_path / name).write_bytes(pack(b'\xef\xbb\xbf{"a":1}\r\n\n{"b":2}'))
        assert [(1, {"a": 1}), (3, {"b": 2})] == list(read_json_lines(tmp_path / name))
        with open_input(tmp_path / name) as stream:
            assert b'\xef\xbb\xbf{"a":1}\r\n' == stream.readline()

    def test_that_are_bad_come_with_their_numbers(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_bytes(b'{}\n{"a":}\n[]\n{"a":"\xff"}\n{}')
        lines = list(read_json_lines(tmp_path / "x"))
        assert [1, 2, 3, 4, 5] == [number for number, _ in lines]
        assert [False, True, True, True, False] == [isinstance(line, BadLine) for _, line in lines]

    def test_of_no_file_are_an_error(self, tmp_path: Path) -> None:
        for path in (tmp_path / "missing", tmp_path):
            with pytest.raises(UnreadableFile):
                list(read_json_lines(path))


@pytest.mark.django_db
class TestAddSite:
    def test_adds_a_site_once(self) -> None:
        for _ in range(2):
            call("add_site", "shop", url="http://shop.example")
        assert [("shop", "http://shop.example/")] == list(
            Site.objects.values_list("name", "root_url")
        )

    def test_assigns_a_vertical(self, tmp_path: Path) -> None:
        (tmp_path / "v.json").write_text('{"name": "product", "attributes": [{"name": "price"}]}')
        call("load_vertical", tmp_path / "v.json")
        call("add_site", "shop", url="http://shop.example/", vertical="product")
        assert "product" == Assignment.objects.get(site__name="shop").vertical.name

    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            (
                {"url": "http://other.example/"},
                "there is already a site “shop”, at http://shop.example/",
            ),
            ({"url": "nonsense"}, "not an absolute address"),
            ({"url": "http://shop.example/", "vertical": "nope"}, "there is no vertical 'nope'"),
        ],
    )
    def test_says_what_cannot_be(self, arguments: dict[str, str], problem: str) -> None:
        call("add_site", "shop", url="http://shop.example/")
        assert problem in fail("add_site", "shop", **arguments)

    def test_adds_no_site_where_the_vertical_is_unknown(self) -> None:
        fail("add_site", "shop", url="http://shop.example/", vertical="nope")
        assert not Site.objects.exists()

    def test_refuses_a_name_that_is_none(self) -> None:
        assert "is no name for a site" in fail("add_site", "a/b", url="http://shop.example/")


@pytest.mark.django_db
class TestLoadVertical:
    def test_creates_and_updates(self, tmp_path: Path) -> None:
        path = tmp_path / "v.json.gz"
        for names in (["a", "b"], ["b", "c"]):
            document = {
                "vertical": "x",
                "attributes": [{"name": name, "type": "image/url"} for name in names],
            }
            path.write_bytes(gzip.compress(orjson.dumps(document)))
            call("load_vertical", path)
        attributes = Vertical.objects.get(name="x").attributes
        assert [("b", "image"), ("c", "image")] == list(
            attributes.live().values_list("name", "type")
        )

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            (b"{", "not JSON"),
            (b"", "not JSON"),
            (b'{"name": "x", "attributes": [{"name": "a", "regex": "(?=b)"}]}', "no look-around"),
            (b" " * 2_000_000, "larger than 1 MiB"),
        ],
    )
    def test_says_in_which_file_what_is_wrong(
        self, tmp_path: Path, text: bytes, problem: str
    ) -> None:
        (tmp_path / "v.json").write_bytes(text)
        message = fail("load_vertical", tmp_path / "v.json")
        assert ("v.json: " in message, problem in message, "\n" in message) == (True, True, False)

    def test_says_where_the_compression_is_damaged(self, tmp_path: Path) -> None:
        (tmp_path / "v.json.gz").write_bytes(gzip.compress(b"{" * 1000)[:-9])
        assert "v.json.gz: compressed file ended" in fail("load_vertical", tmp_path / "v.json.gz")


@pytest.mark.django_db
class TestImportPages:
    @pytest.fixture(autouse=True)
    def shop(self) -> Site:
        return Site.objects.create(name="shop", root_url="http://shop.example/")

    def test_writes_a_line_for_each_page_in_order(self, source: Path) -> None:
        lines, _ = call("import_pages", "shop", source)
        assert [{"url": f"http://shop.example/{n}", "snapshot": "new"} for n in range(3)] == lines
        lines, _ = call("import_pages", "shop", source)
        assert ["unchanged"] * 3 == [line["snapshot"] for line in lines]

    def test_writes_to_a_file(self, source: Path, tmp_path: Path) -> None:
        lines, _ = call("import_pages", "shop", source, output=str(tmp_path / "out.gz"))
        assert ([], 3) == (
            lines,
            len(gzip.decompress((tmp_path / "out.gz").read_bytes()).splitlines()),
        )

    def test_tells_bad_lines_and_takes_the_others(self, source: Path) -> None:
        with source.open("ab") as stream:
            stream.write(
                b'\nbad\n{"url": "http://shop.example/9", "file": "9.html"}\n'
                b'{"url": "x", "file": "1.html"}'
            )
        stdout, stderr = StringIO(), StringIO()
        with pytest.raises(CommandError, match=r"3 bad line\(s\)"):
            call_command("import_pages", "shop", str(source), stdout=stdout, stderr=stderr)
        lines = [orjson.loads(line) for line in stdout.getvalue().splitlines()]
        assert ["new"] * 3 + ["failed"] * 2 == [line["snapshot"] for line in lines]
        assert "file '9.html': no such file or directory" == lines[3]["reason"]
        assert ["pages.jsonl:4: ", "pages.jsonl:5: ", "pages.jsonl:6: "] == [
            line[:15] for line in stderr.getvalue().splitlines()[:3]
        ]
        assert 3 == Page.objects.count()

    def test_takes_a_folder_below_a_base(self, source: Path) -> None:
        source.unlink()
        lines, _ = call("import_pages", "shop", source.parent, base_url="https://other.example/a")
        assert [{"url": "https://other.example/a/1.html", "snapshot": "new"}] == lines

    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            (["nowhere", "x"], "there is no site 'nowhere'"),
            (["shop", "missing.jsonl"], "missing.jsonl: no such file or directory"),
            (["shop", "manage.py"], "is neither a manifest"),
            (["shop", "/dev/zero"], "not a regular file"),
            (["shop", "tests", "--base-url", "nonsense"], "not an absolute address"),
        ],
    )
    def test_says_what_cannot_be(
        self, arguments: list[str], problem: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(settings.BASE_DIR)
        assert problem in fail("import_pages", *arguments)

    def test_leaves_no_job_that_a_worker_would_try_again(
        self, source: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def break_down(*_: object) -> None:
            raise ZeroDivisionError("by accident")

        monkeypatch.setattr("clustering.services.pages.importing.store_visits", break_down)
        assert (
            "ZeroDivisionError" in fail("import_pages", "shop", source)
            or Job.objects.get().is_finished
        )
        assert Job.objects.get().is_finished

    def test_refuses_to_do_what_another_process_is_doing(self, source: Path) -> None:
        from clustering.services.pages.importing import import_request
        from vertex.core.services.jobs.jobs import claim_job

        claim_job(create_here(import_request(site=Site.objects.get(), source=source)).pk)
        assert "is already being done by another process" in fail("import_pages", "shop", source)


@pytest.mark.django_db
class TestImportSearchLog:
    def test_stores_clicks_and_tells_bad_lines(self, tmp_path: Path) -> None:
        Site.objects.create(name="shop", root_url="http://shop.example/")
        (tmp_path / "log.tsv").write_text("shoes\thttp://shop.example/\t3\nbad\n")
        stderr = StringIO()
        with pytest.raises(CommandError, match=r"1 bad line\(s\)"):
            call_command("import_search_log", "shop", str(tmp_path / "log.tsv"), stderr=stderr)
        assert stderr.getvalue().startswith("log.tsv:2: 1 field(s)")
        assert ["shoes"] == list(SearchClick.objects.values_list("query", flat=True))


@pytest.fixture(scope="module")
def var(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation with a site."""
    var = tmp_path_factory.mktemp("commands") / "var"
    own_database(var, "")
    added = manage(var, "add_site", "shop", "--url", "http://shop.example/")
    assert (0, b"") == (added.returncode, added.stdout), added.stderr
    return var


class TestProcess:
    """What only a process of its own shows."""

    def test_the_first_command_makes_the_database(self, tmp_path: Path) -> None:
        var = tmp_path / "empty"
        both = [
            subprocess.Popen(
                [sys.executable, "manage.py", "add_site", name, "--url", "http://shop.example/"],
                cwd=settings.BASE_DIR,
                env=environment(var),
                stderr=subprocess.PIPE,
            )
            for name in ("one", "two")
        ]
        ends = [(child.communicate()[1], child.returncode) for child in both]
        assert [0, 0] == [status for _, status in ends], ends

    def test_a_database_of_another_version_is_told(self, tmp_path: Path) -> None:
        import sqlite3

        (tmp_path / "var").mkdir()
        database = sqlite3.connect(tmp_path / "var" / "vertex.sqlite3")
        database.execute("CREATE TABLE other (id)")
        database.close()
        run = manage(tmp_path / "var", "add_site", "shop", "--url", "http://shop.example/")
        assert 1 == run.returncode
        assert [
            (
                "add_site: the database is not of this version; bring it up to date with: "
                "manage.py migrate"
            )
        ] == told(run)

    def test_a_failure_is_one_line_and_status_1(self, var: Path) -> None:
        run = manage(var, "import_pages", "nowhere", "x")
        assert (1, b"") == (run.returncode, run.stdout)
        assert [
            (
                "import_pages: there is no site 'nowhere'; add it with: "
                "manage.py add_site nowhere --url URL"
            )
        ] == told(run)

    def test_wrong_usage_is_status_2(self, var: Path) -> None:
        for arguments in (
            ["import_pages"],
            ["import_pages", "shop", "x", "--nope"],
            ["add_site", "shop"],
        ):
            assert 2 == manage(var, *arguments).returncode

    def test_bad_lines_make_status_1_after_the_others_are_taken(
        self, var: Path, source: Path
    ) -> None:
        with source.open("ab") as stream:
            stream.write(b"\nbad")
        run = manage(var, "import_pages", "shop", source)
        assert (1, 3) == (run.returncode, len(run.stdout.splitlines()))
        assert told(run)[0].startswith("pages.jsonl:4: not JSON")

    def test_standard_input_is_a_source(self, var: Path, source: Path) -> None:
        line = orjson.dumps({"url": "http://shop.example/stdin", "file": "LICENSE"})
        run = manage(var, "import_pages", "shop", "-", stdin=line)
        assert "file 'LICENSE'" in told(run)[0]
        line = orjson.dumps({"url": "http://shop.example/stdin", "file": "templates/base.html"})
        run = manage(var, "import_pages", "shop", "-", stdin=line)
        assert (0, b'{"url":"http://shop.example/stdin","snapshot":"new"}\n') == (
            run.returncode,
            run.stdout,
        )
        assert [] == list((var / "uploads").iterdir())

    def test_results_are_utf8_whatever_the_locale(self, var: Path, source: Path) -> None:
        source.write_bytes('{"url": "http://shop.example/ü", "file": "1.html"}'.encode())
        run = manage(var, "import_pages", "shop", source, PYTHONIOENCODING="latin-1", LC_ALL="C")
        assert {
            "url": "http://shop.example/ü",
            "normalized_url": "http://shop.example/%C3%BC",
            "snapshot": "new",
        } == orjson.loads(run.stdout)
        assert "ü".encode() in run.stdout

    def test_a_reader_that_goes_away_ends_it_quietly(self, var: Path, source: Path) -> None:
        lines = [{"url": f"http://shop.example/pipe/{n}", "file": "1.html"} for n in range(3000)]
        source.write_bytes(b"\n".join(map(orjson.dumps, lines)))
        child = subprocess.Popen(
            [sys.executable, "manage.py", "import_pages", "shop", str(source)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=settings.BASE_DIR,
            env=environment(var),
        )
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.readline().startswith(b'{"url"')
        child.stdout.close()
        assert b"" == child.stderr.read()
        child.stderr.close()
        assert 1 == child.wait(300)

    def test_an_interrupt_is_one_line(self, var: Path, source: Path) -> None:
        lines = [
            {"url": f"http://shop.example/interrupt/{n}", "file": "1.html"} for n in range(20_000)
        ]
        source.write_bytes(b"\n".join(map(orjson.dumps, lines)))
        with started(var, "import_pages", "shop", source) as child:
            assert child.stdout is not None
            assert child.stdout.readline()
            child.send_signal(signal.SIGINT)
            _, stderr = child.communicate(timeout=300)
        assert (130, ["import_pages: interrupted; what was done until now is stored"]) == (
            child.returncode,
            stderr.decode().splitlines(),
        )

    def test_no_bar_is_drawn_where_nobody_sees_it(self, var: Path, source: Path) -> None:
        assert b"\x1b" not in manage(var, "import_pages", "shop", source).stderr


@contextmanager
def started(var: Path, *arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "manage.py", *map(str, arguments)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=settings.BASE_DIR,
        env=environment(var),
    ) as child:
        try:
            yield child
        finally:
            child.kill()
