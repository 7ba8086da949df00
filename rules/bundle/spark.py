"""Run a bundle on Spark, for pages on S3, HDFS or a shared disk: tasks get file ranges, not HTML.

    python -m rules.bundle.spark FOLDER SOURCE … --output PLACE [--parts N] [--base-url URL]

Spark is an optional extra (requirements-spark.txt). A task copies the file of its range to its
machine, if it lies elsewhere, and runs `bundle.extract`. The lines go to the folder PLACE as text
files of JSON lines.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from rules.algorithms.running.record_lines import line_json, line_not_taken
from rules.bundle.bundle import BadBundle, FileRange, extract, ranges_of, read_bundle
from vertex.core.services.files.files import UnreadableFile

DEFAULT_PARTS = 8  # ranges of each source


class SparkMissing(Exception):
    """Spark is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "Spark is not installed; install it with: pip install -r requirements-spark.txt"
        )


def start_session() -> Any:
    """Return the Spark session that is there, or a new one. Raises SparkMissing."""
    try:
        sql = importlib.import_module("pyspark.sql")
    except ImportError:
        raise SparkMissing from None
    return sql.SparkSession.builder.appName("vertex-extract").getOrCreate()


def extract_by_spark(
    session: Any,
    folder: Path,
    sources: Sequence[str],
    *,
    n_parts: int = DEFAULT_PARTS,
    base_url: str = "",
) -> Any:
    """Return a distributed collection of JSON lines, those of all pages of the sources.

    Raises BadBundle.
    """
    read_bundle(folder)  # what is wrong with it is told here, not by a task
    context = session.sparkContext
    context.addFile(str(folder.resolve()), recursive=True)
    ranges = ranges_of(sources, n_parts)
    work = partial(lines_of_ranges, folder.resolve().name, base_url)
    return context.parallelize(ranges, len(ranges)).mapPartitions(work)


def lines_of_ranges(name: str, base_url: str, ranges: Iterable[FileRange]) -> Iterator[str]:
    """Yield the JSON lines of some ranges in a task; an unreadable source gives one saying so."""
    files = importlib.import_module("pyspark").SparkFiles
    bundle = read_bundle(Path(files.get(name)))
    for file_range in ranges:
        try:
            with local_file(file_range.source) as path:
                for line in extract(
                    bundle, FileRange(path, file_range.first, file_range.step), base_url=base_url
                ):
                    yield orjson.dumps(line_json(line)).decode()
        except (UnreadableFile, OSError) as error:
            line = line_not_taken("", file_range.source, "unreadable", str(error))
            yield orjson.dumps(line_json(line)).decode()


@contextmanager
def local_file(source: str) -> Iterator[str]:
    """Give a source's path on this machine; with a scheme, as s3:// and hdfs://, it is copied."""
    if "://" not in source:
        yield source
        return
    filesystems = importlib.import_module("pyarrow.fs")
    with tempfile.TemporaryDirectory(prefix="vertex-spark-") as folder:
        path = f"{folder}/{source.rstrip('/').rpartition('/')[2]}"
        filesystems.copy_files(source, path)
        yield path


def main(arguments: list[str]) -> int:
    """Run a bundle on sources and write the lines."""
    parser = argparse.ArgumentParser(prog="python -m rules.bundle.spark", description=__doc__)
    parser.add_argument(
        "folder", type=Path, metavar="FOLDER", help="a bundle, on the machine that starts it"
    )
    parser.add_argument(
        "sources", nargs="+", metavar="SOURCE", help="a manifest, a WARC, a zip or a folder"
    )
    parser.add_argument(
        "--output", required=True, metavar="PLACE", help="a new folder, as Spark names it"
    )
    parser.add_argument(
        "--parts", type=int, default=DEFAULT_PARTS, metavar="N", help="ranges of each source"
    )
    parser.add_argument(
        "--base-url", default="", metavar="URL", help="of a folder or zip without a manifest"
    )
    options = parser.parse_args(arguments)
    try:
        lines = extract_by_spark(
            start_session(),
            options.folder,
            options.sources,
            n_parts=max(1, options.parts),
            base_url=options.base_url,
        )
        lines.saveAsTextFile(options.output)
    except (SparkMissing, BadBundle) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
