"""Pages that came to a site are observed before anybody clusters it."""

from __future__ import annotations

import pytest

from clustering.services.clusters import observing
from clustering.services.clusters.arrivals import arrivals_request
from clustering.services.clusters.observer_processes import count_missing
from clustering.services.clusters.observing import (
    observe_pages,
    observing_request,
    with_observing,
)
from clustering.services.pages.stored_pages import stored_pages
from tests.apps.clustering.demo_sites import articles, shop, store
from vertex.celery import app
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import JobRun, run_job
from vertex.core.services.jobs.requests import create_here

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def observe(site: Site) -> Job:
    return run_job(create_here(observing_request(site=site)).pk, observe_pages)


def test_only_what_is_not_known_yet_is_observed() -> None:
    site = shop()
    assert {"pages": 12} == observe(site).result
    store(site, articles([77]))

    assert {"pages": 1} == observe(site).result
    assert 0 == count_missing(stored_pages(site))


@pytest.mark.parametrize(("most", "n_jobs"), [(11, 1), (12, 0)])
def test_an_import_of_many_pages_starts_the_job(
    most: int, n_jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observing, "MAX_PAGES_IN_PROCESS", most)
    site = shop()

    def work(_run: JobRun) -> dict[str, int]:
        return {"new": 12}

    job = run_job(create_here(arrivals_request(site=site)).pk, with_observing(work))
    assert ({"new": 12}, n_jobs) == (
        job.result,
        Job.objects.filter(task="clustering.observe_pages").count(),
    )


def test_workers_know_the_job() -> None:
    app.loader.import_default_modules()
    assert "clustering.observe_pages" in app.tasks
