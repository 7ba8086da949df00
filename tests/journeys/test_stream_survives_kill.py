"""Clocks, the process that fetches and the worker that extracts die while the stream flows.

All processes and the database are real. Each page is visited once but for what was under way, each
change reaches the records once, and no step of the chain starts twice for the same pages.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apps.clustering.fake_host import Answer, Asked, FakeHost
from tests.apps.monitoring.monitored_shop import N, dearer
from tests.installation import Installation, kill_group, new_installation, wait_until

APP = "tests.journeys.stepping"
SECONDS = 0.2  # that a page takes to answer, so that there is a middle
N_AT_LEAST = 3  # pages visited when the process that fetches is killed
BEGIN = """
from datetime import timedelta
from django.utils import timezone
from clustering.dom.addresses import url_hash
from clustering.models import Page
from monitoring.models import ChainStep, Revisit
from monitoring.services.checks.schedules import change_schedule
from monitoring.services.stream.planning import plan_goals
from rules.services.records.extracting import extract_records, extraction_request
from tests.apps.monitoring.monitored_shop import shop
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here

site = shop()
for page in Page.objects.filter(site=site):
    url = page.url.replace(site.root_url, {address!r} + "/")
    Page.objects.filter(pk=page.pk).update(url=url, url_hash=url_hash(url))
Site.objects.filter(pk=site.pk).update(root_url={address!r} + "/", crawl_delay=0.0)
run_job(create_here(extraction_request(site=site)).pk, extract_records)
change_schedule(site=site, is_active=False)
plan_goals()
Job.objects.all().delete()
ChainStep.objects.create(site=site, step="extract", started_for=timezone.now())
due = timezone.now() - timedelta(minutes=1)
Revisit.objects.filter(is_listing=False).update(next_at=due)
"""


@pytest.fixture
def host() -> Iterator[FakeHost]:
    def slowly(n: int) -> Callable[[Asked], Answer]:
        def answer(_asked: Asked) -> Answer:
            time.sleep(SECONDS)
            _, body, kind = dearer(n)
            return Answer(body, headers={"Content-Type": kind})

        return answer

    with FakeHost({f"/p/{n}": slowly(n) for n in range(1, N + 1)}) as made:
        yield made


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    with new_installation(tmp_path / "var") as new:
        new.more["VERTEX_ALLOWED_NETWORKS"] = "127.0.0.0/8"
        new.more["TICKS_WAITED_FOR"] = "sweep_jobs go_on"
        yield new


def asked(host: FakeHost) -> Counter[str]:
    return Counter(each.path for each in host.asked if each.path.startswith("/p/"))


def worker(installation: Installation, queues: str, number: int) -> Any:
    options = ("-c", "2", "-n", f"{queues}{number}@%h", "--without-gossip", "--without-mingle")
    return installation.start(
        "-m", "celery", "--quiet", "-A", APP, "worker", "-Q", queues, *options, log=queues
    )


def beat(installation: Installation, number: int) -> None:
    options = ("-s", str(installation.var / f"beat{number}"), "--pidfile", "")
    installation.start("-m", "celery", "--quiet", "-A", APP, "beat", *options, log=f"beat{number}")


def jobs(installation: Installation, task: str) -> list[str]:
    rows = installation.query(f"SELECT state FROM core_job WHERE task = '{task}' ORDER BY id")
    return [str(state) for (state,) in rows]


@pytest.mark.slow
def test_each_page_is_visited_and_each_change_extracted_once(
    installation: Installation, host: FakeHost
) -> None:
    script = BEGIN.format(address=host.url)
    installation.manage("shell", "--no-imports", "--verbosity=0", "-c", script)
    first_change = installation.query("SELECT max(change_number) FROM rules_record")[0][0]
    for number in (1, 2):
        beat(installation, number)
    clock = worker(installation, "clock", 1)
    fetching = installation.start("manage.py", "fetch", log="fetch")

    wait_until(lambda: len(asked(host)) >= N_AT_LEAST, "the middle of the visits")
    kill_group(fetching)
    kill_group(clock)
    n_asked = asked(host).total()
    assert n_asked < N, "all pages were visited before the kill"
    worker(installation, "clock", 2)
    extracting = worker(installation, "extract,learn", 1)
    installation.start("manage.py", "fetch", log="fetch")
    wait_until(
        lambda: jobs(installation, "clustering.revisit_pages") == ["done"], "the end of the visits"
    )
    kill_group(extracting)
    worker(installation, "extract,learn", 2)

    changed = f"SELECT count(*) FROM rules_record WHERE change_number > {first_change}"
    wait_until(lambda: installation.query(changed) == [(N,)], "the new records")
    wait_until(
        lambda: set(jobs(installation, "rules.extract_records")) == {"done"},
        "the end of the extraction",
    )
    assert N == len(asked(host))
    assert asked(host).total() <= N + 8, "more than what was under way was asked for again"
    assert ["done"] == jobs(installation, "clustering.revisit_pages")
    versions = installation.query(
        "SELECT count(*), count(DISTINCT record_id) FROM rules_recordversion"
    )
    assert [(N, N)] == versions
    assert [] == installation.query("SELECT name FROM clustering_host WHERE leased_by <> ''")
