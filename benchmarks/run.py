"""Run benchmarks by name and write their pages: `python -m benchmarks.run [NAME …] [--data DIR]`.

A benchmark is a module of this package with a TITLE and `run(data)`, which returns the body of its
page in Markdown. `data` is a folder of real pages, or None; a benchmark leaves out what it does not
find there and says so.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
from pathlib import Path

import django

import benchmarks
from benchmarks.report import machine, write_page

NOT_BENCHMARKS = {"labelled_sites", "report", "run"}


def main(arguments: list[str]) -> int:
    """Run the named benchmarks, or all, one after the other."""
    names = benchmark_names()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"one or more of: {', '.join(names)}"
    )
    parser.add_argument("--data", metavar="DIR", default="", help="a folder of real pages")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(names)
    if unknown:
        parser.error(
            f"no benchmark named {', '.join(sorted(unknown))}; there are: {', '.join(names)}"
        )
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vertex.settings")
    django.setup()
    for name in options.names or names:
        module = importlib.import_module(f"benchmarks.{name}")
        section = module.run(Path(options.data) if options.data else None)
        how = f"`python -m benchmarks.run {name}` on {machine()}."
        write_page(name, module.TITLE, f"{how}\n\n{section}")
        print(f"# {module.TITLE}\n\n{section}\n", flush=True)
    return 0


def benchmark_names() -> list[str]:
    """Return the names of all benchmarks."""
    modules = {module.name for module in pkgutil.iter_modules(benchmarks.__path__)}
    return sorted(modules - NOT_BENCHMARKS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
