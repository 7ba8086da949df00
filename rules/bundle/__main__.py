"""Run a bundle where neither database nor Django is.

python -m rules.bundle FOLDER SOURCE [--jobs N] [--output FILE] [--base-url URL]
python -m rules.bundle FOLDER --check
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import orjson

from rules.bundle.bundle import BadBundle, check_bundle
from rules.bundle.parallel import extract_bundle
from vertex.core.services.files.files import UnreadableFile


def main(arguments: list[str], program: str = "python -m rules.bundle") -> int:
    """Run a bundle on a source, or on its own fixtures."""
    parser = argparse.ArgumentParser(
        prog=program, description="Run a bundle where neither database nor Django is."
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("source", type=Path, nargs="?", metavar="SOURCE")
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="processes that extract at a time"
    )
    parser.add_argument("--output", default="-", metavar="FILE", help="- is standard output")
    parser.add_argument(
        "--base-url", default="", metavar="URL", help="of a folder or zip without a manifest"
    )
    parser.add_argument(
        "--check", action="store_true", help="compare with the bundle's own fixtures"
    )
    options = parser.parse_args(arguments)
    if options.source is None and not options.check:
        parser.error("name a SOURCE of pages, or --check")
    try:
        if options.check:
            return _print_check(options.folder)
        lines = extract_bundle(
            options.folder, options.source, n_jobs=options.jobs, base_url=options.base_url
        )
        if options.output == "-":
            _write_lines(lines, sys.stdout.buffer)
        else:
            with Path(options.output).open("wb") as stream:
                _write_lines(lines, stream)
    except (BadBundle, UnreadableFile, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _write_lines(lines: Iterable[dict[str, Any]], stream: IO[bytes]) -> None:
    for line in lines:
        stream.write(orjson.dumps(line) + b"\n")
    stream.flush()


def _print_check(folder: Path) -> int:
    differences = check_bundle(folder)
    for difference in differences:
        sys.stderr.write(
            f"{difference.url}: expected {difference.expected}, found {difference.extracted}\n"
        )
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
