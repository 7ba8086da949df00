import os
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from tests.apps.clustering.api_cast import caller
from vertex.core.models import Job, Role, Site
from vertex.running import metrics

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[4]


def scrape(**headers: str) -> str:
    response = Client().get("/metrics", headers=headers)
    assert 200 == response.status_code, response.content
    return response.content.decode()


def figure(text: str, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else 0.0


def test_what_the_database_says() -> None:
    Site.objects.create(name="one", n_pages=3, root_url="https://one.example/")
    Site.objects.create(name="two", n_pages=4, root_url="https://two.example/")
    late = timezone.now() - timedelta(minutes=10)
    Job.objects.create(task="t", queue="fetch", title="Late", due_at=late)
    Job.objects.create(task="t", queue="keep", title="Broke", state=Job.State.FAILED)
    Job.objects.create(
        task="t", queue="keep", title="Left", state=Job.State.RUNNING, lease="x", leased_until=late
    )
    text = scrape()

    assert (2, 7) == (figure(text, "vertex_sites"), figure(text, "vertex_pages"))
    assert 1 == figure(text, 'vertex_jobs{queue="fetch",state="due"}')
    assert 1 == figure(text, 'vertex_jobs{queue="keep",state="failed"}')
    assert 1 == figure(text, "vertex_jobs_abandoned")
    assert 600 <= figure(text, 'vertex_queue_age_seconds{queue="fetch"}') < 660
    assert 0 == figure(text, 'vertex_queue_age_seconds{queue="learn"}')
    assert 1 == figure(text, "vertex_database_up")
    assert 0 < figure(text, "vertex_disk_free_bytes")


def test_requests_are_counted_by_route_and_not_by_path() -> None:
    name = 'vertex_requests_total{method="GET",route="api/v1/sites/<name:name>/",status="404"}'
    before = figure(scrape(), name)
    ada = caller("ada", Role.ADMINISTRATOR)
    ada.get("sites/one/"), ada.get("sites/two/")

    assert 2 == figure(scrape(), name) - before
    assert "sites/one" not in scrape()


def test_strangers_make_up_no_series() -> None:
    for n in range(20):
        Client().get(f"/nothing/{n}")
        Client().generic(f"METHOD{n}", "/healthz")

    assert "METHOD" not in scrape()
    assert "nothing" not in scrape()


def test_counts_of_all_processes_are_added_up() -> None:
    name = 'vertex_requests_total{method="GET",route="elsewhere",status="200"}'
    before = figure(scrape(), name)
    program = (
        "import django; django.setup(); from vertex.running import metrics;"
        "metrics.count_request('GET', 'elsewhere', 200, 0.1)"
    )
    environ = os.environ | {
        "DJANGO_SETTINGS_MODULE": "vertex.settings",
        "PROMETHEUS_MULTIPROC_DIR": str(metrics.FOLDER),
    }
    for _ in range(2):
        subprocess.run([sys.executable, "-c", program], env=environ, cwd=ROOT, check=True)

    assert 2 == figure(scrape(), name) - before


class TestWhoMayScrape:
    def status(self, **options: Any) -> int:
        return int(Client().get("/metrics", **options).status_code)

    def test_without_a_token_only_this_machine(self) -> None:
        assert 200 == self.status()
        assert 200 == self.status(REMOTE_ADDR="::1")
        assert 403 == self.status(REMOTE_ADDR="192.0.2.1")
        assert 403 == self.status(REMOTE_ADDR="")

    def test_a_proxy_on_this_machine_is_not_this_machine(self) -> None:
        assert 403 == self.status(headers={"X-Forwarded-For": "127.0.0.1"})

    def test_with_a_token_whoever_knows_it(self, settings: Any) -> None:
        settings.METRICS_TOKEN = "figures-please"

        assert 401 == self.status()
        assert 401 == self.status(headers={"Authorization": "Bearer wrong"})
        assert 401 == self.status(headers={"Authorization": "Bearer ü"})
        assert 200 == self.status(
            headers={"Authorization": "Bearer figures-please"}, REMOTE_ADDR="192.0.2.1"
        )
