"""Jobs that are about to begin, one of each kind, on a small shop of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from django.conf import settings

from annotation.services.samples.sampling import DRAW_SAMPLES, samples_request
from clustering.services.clusters.arrivals import ASSIGN_ARRIVALS, arrivals_request
from clustering.services.clusters.clusterings import CLUSTER_SITE, clustering_request
from clustering.services.pages.importing import IMPORT_PAGES, import_pages, import_request
from monitoring.services.checks.checking import RUN_CHECKS, check_request
from monitoring.services.repair.repairing import HEAL_SITE, repair_request
from rules.services.learning.learning import LEARN_RULES, learning_request
from rules.services.records.extracting import (
    EXTRACT_RECORDS,
    extract_records,
    extraction_request,
)
from rules.services.records.record_exports import EXPORT_RECORDS, record_export_request
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import shop as unlabelled_shop
from tests.apps.clustering.demo_sites import store
from tests.apps.monitoring import monitored_shop
from tests.apps.rules.shop_cast import annotate_product, learnt_shop, product, shop
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import JobRequest, create_here, enqueue

WORK_BY_TASK = {
    kind.task: kind.work
    for kind in (
        IMPORT_PAGES,
        CLUSTER_SITE,
        ASSIGN_ARRIVALS,
        DRAW_SAMPLES,
        LEARN_RULES,
        EXTRACT_RECORDS,
        EXPORT_RECORDS,
        RUN_CHECKS,
        HEAL_SITE,
    )
}


def _import_pages() -> int:
    site = site_of("shop")
    source = monitored_shop.archive(_folder("import"), site)
    return _created(import_request(site=site, source=Path(source)))


def _cluster_site() -> int:
    return _created(clustering_request(site=unlabelled_shop("shop", 9)))


def _assign_arrivals() -> int:
    site = shop(9)
    store(site, [product(n) for n in range(20, 26)])
    return _created(arrivals_request(site=site))


def _draw_samples() -> int:
    return _created(samples_request(site=shop(12)))


def _learn_rules() -> int:
    site = shop(12)
    for number in (1, 3):
        annotate_product(site, number)
    return _created(learning_request(site=site, is_draft=False))


def _extract_records() -> int:
    return _created(extraction_request(site=learnt_shop(12)[0]))


def _extract_again() -> int:
    """Extract where records are there already and some pages changed."""
    site = monitored_shop.shop()
    run_job(create_here(extraction_request(site=site)).pk, extract_records)
    source = monitored_shop.archive(_folder("dearer"), site, monitored_shop.dearer)
    run_job(create_here(import_request(site=site, source=Path(source))).pk, import_pages)
    return _created(extraction_request(site=site))


def _export_records() -> int:
    site = monitored_shop.shop()
    run_job(create_here(extraction_request(site=site)).pk, extract_records)
    return _created(record_export_request(site=site))


def _run_checks() -> int:
    site = monitored_shop.shop()
    source = monitored_shop.archive(_folder("check"), site, monitored_shop.redesigned)
    return _created(check_request(site=site, source=source, is_patient=False))


def _repair_site() -> int:
    site = monitored_shop.shop()
    source = monitored_shop.archive(_folder("repair"), site, monitored_shop.redesigned)
    return _created(repair_request(site=site, source=source, is_accepted=True, is_patient=False))


def _created(request: JobRequest) -> int:
    return int(enqueue(request).pk)


def _folder(name: str) -> Path:

    folder = Path(settings.VAR_DIR) / "sources" / name
    shutil.rmtree(folder, ignore_errors=True)
    return folder


KINDS: dict[str, Callable[[], int]] = {
    "import_pages": _import_pages,
    "cluster_site": _cluster_site,
    "assign_arrivals": _assign_arrivals,
    "draw_samples": _draw_samples,
    "learn_rules": _learn_rules,
    "extract_records": _extract_records,
    "extract_again": _extract_again,
    "export_records": _export_records,
    "run_checks": _run_checks,
    "repair_site": _repair_site,
}
