"""Train the weights of matching on all sites: `python -m benchmarks.verticals DATA`."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.verticals.known_sites import Verticals, know
from benchmarks.verticals.swde import swde_sites
from benchmarks.verticals.training import train, write_weights

verticals = Verticals(know(site) for site in swde_sites(Path(sys.argv[1]) / "swde"))
write_weights(train(verticals, list(verticals.sites)))
