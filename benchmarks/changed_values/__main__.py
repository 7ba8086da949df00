"""Train the weights of changed values on all sites of a folder and write them.

Run it with: python -m benchmarks.changed_values DATA
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.changed_values.attributes import changed_attributes
from benchmarks.changed_values.training import train, write_weights
from benchmarks.wrong_values import read_sites

sites = read_sites(Path(sys.argv[1]) / "swde")
write_weights(train([changed for site in sites for changed in changed_attributes(site)]))
