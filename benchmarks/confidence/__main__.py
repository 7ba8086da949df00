"""Fit the weights of confidence on all sites of a folder; print and write them for the product.

python -m benchmarks.confidence FOLDER [--write]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.confidence.left_out import FoundValues, fit, found_on_sites
from benchmarks.confidence.lone_values import LoneValue, lone_values
from benchmarks.unseen_sites import swde_sites
from rules.algorithms.running.confidence import WEIGHTS_FILE


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.confidence")
    parser.add_argument("data", type=Path, help="a folder of real pages")
    parser.add_argument("--write", action="store_true", help="write the weights of the product")
    options = parser.parse_args(arguments)
    swde_site: list[FoundValues] = []
    lone: list[LoneValue] = []
    for site in swde_sites(options.data / "swde"):
        swde_site += found_on_sites([site])
        lone += lone_values(site)
    weights = fit(swde_site, lone)
    text = json.dumps(weights.as_json())
    if options.write:
        Path(str(WEIGHTS_FILE)).write_text(text + "\n", "utf-8")
    print(text)
    return 0


sys.exit(main(sys.argv[1:]))
