"""Pages that came to a site are observed before anybody clusters it."""

from __future__ import annotations

import pytest

from clustering.services.clusters import observing
from clustering.services.clusters.observer_processes import count_missing
from clustering.services.clusters.observing import (
    is_worth_a_job,
    observe_pages,
    observing_request,
)
from clustering.services.pages.stored_pages import stored_pages
from tests.apps.clustering.demo_sites import articles, shop, store
from vertex.celery import app
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import run_job
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


def test_many_pages_are_worth_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    site = shop()
    monkeypatch.setattr(observing, "FEW_PAGES", 11)
    assert is_worth_a_job(site)

    monkeypatch.setattr(observing, "FEW_PAGES", 12)
    assert not is_worth_a_job(site)


def test_workers_know_the_job() -> None:
    app.loader.import_default_modules()
    assert "clustering.observe_pages" in app.tasks
