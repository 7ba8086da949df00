"""Measure one thing for the scoreboard and print it as JSON; the scoreboard calls it as a child."""

import json
import sys

from benchmarks.clustering.measuring import measure, measure_growth

kind, *arguments = sys.argv[1:]
figures = measure_growth(*arguments) if kind == "growth" else measure(*arguments)
print(json.dumps(figures))
