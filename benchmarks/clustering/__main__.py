"""Measure one thing for the scoreboard and print it as JSON; the scoreboard calls it as a child."""

import json
import sys

from benchmarks.clustering.measuring import measure, measure_growth

print(json.dumps({"site": measure, "growth": measure_growth}[sys.argv[1]](*sys.argv[2:])))
