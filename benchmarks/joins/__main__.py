"""Train the model of pairs of groups, and judge it on sites that it was not trained on.

python -m benchmarks.joins --data FOLDER            left-out figures, printed
python -m benchmarks.joins --data FOLDER --write    and the weights, trained on all sites
python -m benchmarks.joins --data FOLDER --last-look  the product's weights on the sites kept aside
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.joins.left_out import (
    figures_of,
    judge_left_out,
    leave_out,
    observe_sites,
    table_of,
)
from benchmarks.joins.likeliest import learn_likeliest
from benchmarks.joins.pairs import pairs_of_sites, pooled
from benchmarks.joins.sites_to_join import last_look, load_sites
from benchmarks.joins.training import N_FITS, as_json, fit_several
from clustering.algorithms.automatic.join_model import WEIGHTS as WEIGHTS_FILE
from clustering.algorithms.automatic.join_model import trained_model


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.joins")
    parser.add_argument("--data", type=Path, required=True, help="the folder of labelled sites")
    parser.add_argument("--write", action="store_true", help="write the weights of the product")
    parser.add_argument("--last-look", action="store_true", help="judge on the sites kept aside")
    options = parser.parse_args(arguments)
    if options.last_look:
        model = trained_model()
        kept_aside = observe_sites(last_look(options.data))
        print(table_of([figures_of(site, model) for site in kept_aside]))
        return 0
    sites = observe_sites(load_sites(options.data))
    pairs = pairs_of_sites(sites)
    parts = leave_out(sites, pairs, N_FITS)
    print(table_of(judge_left_out(sites, parts)))
    if options.write:
        likeliest = learn_likeliest([join for part in parts for join in part.joins], sites)
        trained = as_json(fit_several(pooled(pairs), range(N_FITS)), likeliest)
        text = json.dumps(trained, separators=(",", ":"))
        Path(str(WEIGHTS_FILE)).write_text(text + "\n", "utf-8")
    return 0


sys.exit(main(sys.argv[1:]))
