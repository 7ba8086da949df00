"""Spark gives the lines a bundle gives alone; without Spark, a sentence says what to install."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rules.bundle import spark
from rules.bundle.bundle import write_bundle
from rules.bundle.parallel import extract_bundle
from rules.bundle.spark import SparkMissing, local_file, start_session
from tests.algorithms.rules.bundle.test_bundle import ROOT, body, made_bundle

HAS_SPARK = importlib.util.find_spec("pyspark") is not None


@pytest.fixture
def source(tmp_path: Path) -> Path:
    pages = tmp_path / "pages" / "p"
    pages.mkdir(parents=True)
    for number in range(5):
        (pages / f"{number}.html").write_bytes(body(number))
    write_bundle(tmp_path / "bundle", made_bundle())
    return tmp_path / "pages"


@pytest.mark.skipif(not HAS_SPARK, reason="needs Spark: pip install -r requirements-spark.txt")
@pytest.mark.skipif(shutil.which("java") is None, reason="needs Java")
def test_in_local_mode_the_lines_are_those_of_the_bundle(source: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rules.bundle.spark", str(tmp_path / "bundle"), str(source)]
    options = ["--output", str(tmp_path / "out"), "--parts", "2", "--base-url", "http://s.example/"]
    place = {
        "SPARK_MASTER": "local[2]",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    done = subprocess.run(
        [*command, *options],
        cwd=ROOT,
        env=os.environ | place,
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == done.returncode, done.stderr[-2000:]
    written = sorted(
        line for part in (tmp_path / "out").glob("part-*") for line in part.read_text().split("\n")
    )
    lines = [json.loads(line) for line in written if line]
    alone = list(extract_bundle(tmp_path / "bundle", source, base_url="http://s.example/"))
    assert sorted(alone, key=lambda line: line["url"]) == sorted(
        lines, key=lambda line: line["url"]
    )


def test_without_spark_the_way_to_get_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)

    with pytest.raises(SparkMissing, match=r"pip install -r requirements-spark\.txt"):
        start_session()


def test_a_bundle_that_cannot_be_read_ends_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(spark, "start_session", lambda: None)

    assert 1 == spark.main([str(tmp_path), "pages", "--output", "out"])
    assert "holds no bundle" in capsys.readouterr().err


def test_a_file_elsewhere_is_copied_here_and_removed(tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(b"x")

    with local_file(f"file://{tmp_path}/a.warc") as path:
        assert (b"x", "a.warc") == (Path(path).read_bytes(), Path(path).name)
    assert not Path(path).exists()
    with local_file("pages/a.warc") as path:
        assert "pages/a.warc" == path
