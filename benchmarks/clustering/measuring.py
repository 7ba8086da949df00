"""Run an algorithm on one site in its own process, so that time and memory are its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.clustering import growing, memory, typed_sites
from benchmarks.clustering.typed_sites import TypedSite
from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.grouping import (
    Clusterer,
    ClusteringInputs,
    EvidenceMissing,
    RawPage,
    TooManyPages,
)
from clustering.algorithms.measures import compare

ROOT = Path(__file__).resolve().parent.parent.parent
LONGEST = 900  # seconds that one algorithm may take for one site
DERIVED = "keyclus, derived log"


def in_child(*arguments: str) -> dict[str, Any]:
    """Return what a child measured; why, where it could not."""
    child = [sys.executable, "-m", "benchmarks.clustering", *arguments]
    try:
        process = subprocess.run(
            child, cwd=ROOT, check=True, stdout=subprocess.PIPE, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        return {"why": f"not done after {LONGEST} s"}
    except subprocess.CalledProcessError as error:
        return {"why": f"ended with status {error.returncode}"}
    figures: dict[str, Any] = json.loads(process.stdout)
    return figures


def measure(name: str, algorithm: str, data: str) -> dict[str, Any]:
    """Cluster a site with types and compare."""
    site = typed_sites.load(name, Path(data) if data else None)
    derives_log = algorithm == DERIVED
    clusterer = CLUSTERERS["keyclus" if derives_log else algorithm]
    return timed(clusterer, site, site.evidence(derives_log=derives_log))


def measure_growth(algorithm: str, n_pages: str) -> dict[str, Any]:
    """Cluster a site of so many pages that is made here."""
    clusterer, n = CLUSTERERS[algorithm], int(n_pages)
    if clusterer.max_pages is not None and n > clusterer.max_pages:
        return {"why": f"refuses more than {clusterer.max_pages:,}"}
    return growing.measure(clusterer, n)


def timed(clusterer: Clusterer, site: TypedSite, evidence: ClusteringInputs) -> dict[str, Any]:
    """Return measures, seconds of processor time and peak memory above what the pages take."""
    before = memory.start()
    began = time.process_time()
    observations = observe_all(clusterer, site)
    try:
        grouping = clusterer.cluster_pages(site.urls, observations, evidence)
    except (EvidenceMissing, TooManyPages) as error:
        return {"why": str(error)}
    seconds = time.process_time() - began
    result = compare(
        dict(zip(site.urls, grouping.labels(len(site.urls)), strict=True)),
        site.type_by_url,
    )
    return {
        "rand": result.adjusted_rand,
        "precision": result.pair_precision,
        "recall": result.pair_recall,
        "clusters": result.n_clusters,
        "types": result.n_types,
        "pages": result.n_pages,
        "seconds": seconds,
        "mib": memory.peak() - before,
    }


def observe_all(clusterer: Clusterer, site: TypedSite) -> Sequence[Any]:
    """Observe each page from a fresh parse, and keep no tree."""
    observe = clusterer.observe
    if observe is None:
        return [None] * len(site.pages)
    return [observe(RawPage(page.url, page.body, page.content_type)) for page in site.pages]
