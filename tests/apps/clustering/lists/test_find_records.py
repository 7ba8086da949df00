"""find_records as a script meets it."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
from django.core.management.base import CommandError
from lxml import html

from clustering.management.commands import find_records, list_table
from tests.apps.clustering.children import burdens
from tests.apps.core.test_commands import call, fail

LIST = "<ul class=results>{}</ul>".format(
    "".join(
        f"<li><h3><a href='/{n}'>Result number {n}</a></h3><p>What the thing {n} is about, "
        "at some length.</p></li>"
        for n in range(12)
    )
)
EMPTY = "<h1>Not found</h1><p>There is nothing at this address.</p>"


def manifest(folder: Path, bodies: dict[str, str]) -> Path:
    for name, body in bodies.items():
        (folder / f"{name}.html").write_text(body)
    lines = [{"url": f"https://shop.example/{name}", "file": f"{name}.html"} for name in bodies]
    path = folder / "manifest.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


class TestFindRecords:
    def test_each_page_has_a_line_with_the_xpaths_of_its_records(self, tmp_path: Path) -> None:
        lines, _ = call("find_records", manifest(tmp_path, {"list": LIST}))
        (line,) = lines
        tree = html.document_fromstring(LIST)
        tags = {tree.getroottree().getpath(element): element.tag for element in tree.iter()}

        assert ("https://shop.example/list", 1) == (line["url"], line["rank"])
        assert 0 < line["score"] <= 1
        assert [["li"]] * 12 == [[tags[path] for path in record] for record in line["records"]]

    def test_a_page_without_a_list_has_no_records(self, tmp_path: Path) -> None:
        lines, _ = call("find_records", manifest(tmp_path, {"missing": EMPTY, "list": LIST}))

        assert [0, 12] == [len(line["records"]) for line in lines]

    def test_u_rest_as_published_can_be_chosen(self, tmp_path: Path) -> None:
        source = manifest(tmp_path, {"list": LIST})
        (line,), _ = call("find_records", source, "--algorithm", "urest")

        assert (1, 12) == (line["rank"], len(line["records"]))
        assert {1} == {len(record) for record in line["records"]}
        assert 0 < line["score"] < 1

    def test_more_lists_are_ranked(self, tmp_path: Path) -> None:
        rows = "".join(f"<tr><td>row {n}<td><b>text {n}</b><td>{n}.00 $" for n in range(9))
        lines, _ = call(
            "find_records", manifest(tmp_path, {"two": f"{LIST}<table>{rows}</table>"}), "--best", 2
        )

        assert [1, 2] == [line["rank"] for line in lines]
        assert lines[0]["score"] >= lines[1]["score"]

    def test_a_folder_stands_at_the_base(self, tmp_path: Path) -> None:
        (tmp_path / "list.html").write_text(LIST)
        lines, _ = call("find_records", tmp_path, "--base-url", "https://shop.example")

        assert ["https://shop.example/list.html"] == [line["url"] for line in lines]

    def test_a_zip_is_read(self, tmp_path: Path) -> None:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("list.html", LIST)
        (tmp_path / "pages.zip").write_bytes(packed.getvalue())
        lines, _ = call("find_records", tmp_path / "pages.zip")

        assert 12 == len(lines[0]["records"])

    def test_a_bad_line_is_told_and_the_rest_is_done(self, tmp_path: Path) -> None:
        path = manifest(tmp_path, {"list": LIST})
        path.write_text(
            '{"url": "https://shop.example/gone", "file": "gone.html"}\n' + path.read_text()
        )
        output = tmp_path / "records.jsonl"
        with pytest.raises(CommandError, match="1 bad line"):
            call("find_records", path, "--output", output)
        lines = [json.loads(line) for line in output.read_text().splitlines()]

        assert [0, 12] == [len(line["records"]) for line in lines]
        assert "gone.html" in lines[0]["reason"]

    @pytest.mark.parametrize(
        ("command", "finder"),
        [(find_records, "lists_of_body"), (list_table, "rows_of_body")],
    )
    def test_a_page_that_is_too_heavy_ends_a_child_and_not_the_command(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: ModuleType, finder: str
    ) -> None:
        monkeypatch.setattr(command, finder, burdens.lists_unless_heavy)
        name = command.__name__.rpartition(".")[2]
        output = tmp_path / "lines.jsonl"
        source = manifest(tmp_path, {"heavy": "<p>heavy", "light": "<p>light"})
        with pytest.raises(CommandError, match="1 bad line"):
            call(name, source, "--output", output)
        heavy, light = [json.loads(line) for line in output.read_text().splitlines()]

        assert "takes more than 5 seconds of a processor" in heavy["reason"]
        assert "processor" not in light.get("reason", "")

    def test_a_page_that_has_no_tree_says_why(self, tmp_path: Path) -> None:
        lines, _ = call("find_records", manifest(tmp_path, {"blank": ""}))

        assert [
            {
                "url": "https://shop.example/blank",
                "rank": 1,
                "score": 0.0,
                "records": [],
                "reason": "empty",
            }
        ] == lines

    def test_no_list_at_all_is_wrong_usage(self, tmp_path: Path) -> None:
        with pytest.raises(CommandError) as wrong:
            call("find_records", manifest(tmp_path, {"list": LIST}), "--best", 0)

        assert 2 == wrong.value.returncode

    def test_what_is_no_source_is_an_error(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("nothing of the kind")

        assert "neither a manifest" in fail("find_records", tmp_path / "notes.txt")
