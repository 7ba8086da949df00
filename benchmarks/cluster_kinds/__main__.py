"""Learn the weights of cluster kinds from all labelled sites.

Run it with: python -m benchmarks.cluster_kinds --data DIR
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.cluster_kinds.labelled_clusters import load_sites
from benchmarks.cluster_kinds.learning import learn_weights, measure_site, weights_json
from clustering.algorithms.kinds import cluster_kinds

WEIGHTS = Path(cluster_kinds.__file__).parent / "weights" / "kinds.json"

parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_kinds", description=__doc__)
parser.add_argument("--data", metavar="DIR", required=True, help="a folder of real pages")
options = parser.parse_args()
sites = load_sites(Path(options.data))
weights = learn_weights([row for site in sites for row in measure_site(site)])
WEIGHTS.write_text(json.dumps(weights_json(weights), indent=1) + "\n")
print(f"wrote {WEIGHTS}")
