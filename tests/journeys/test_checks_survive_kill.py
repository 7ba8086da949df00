"""A worker is killed in the middle of a check and of a repair, with two clocks ticking at once.

Worker, clocks and database are real. Each slot is taken once, nothing is asked for twice but what
was under way, nothing is lost, and nothing stays behind.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.apps.clustering.fake_host import Answer, Asked, FakeHost
from tests.apps.monitoring.monitored_shop import Made, N, redesigned
from tests.apps.rules.shop_cast import product
from tests.installation import Installation, kill_group, new_installation, wait_until

APP = "tests.journeys.stepping"
SECONDS = 0.3  # that a page takes to answer, so that there is a middle
N_AT_LEAST = 3  # pages kept when the worker is killed
LATEST = 1  # pages that were under way then and may be asked for again
BEGIN = """
from datetime import timedelta
from django.utils import timezone
from clustering.dom.addresses import url_hash
from clustering.models import Page
from vertex.core.models import Site
from vertex.core.services.jobs.requests import enqueue
from monitoring.models import Schedule
from monitoring.services.repair.repairing import repair_request
from monitoring.services.checks.schedules import change_schedule
from tests.apps.monitoring.monitored_shop import shop
from rules.models import Rule

def moved(name, address):
    site = shop()
    for page in Page.objects.filter(site=site):
        url = page.url.replace(site.root_url, address + "/")
        Page.objects.filter(pk=page.pk).update(url=url, url_hash=url_hash(url))
    Site.objects.filter(pk=site.pk).update(name=name, root_url=address + "/", crawl_delay=0.01)
    return Site.objects.get(pk=site.pk)

checked, mended = moved("checked", {checked!r}), moved("mended", {mended!r})
change_schedule(site=mended, is_active=False)
change_schedule(site=checked)
Schedule.objects.filter(site=checked).update(next_at=timezone.now() - timedelta(minutes=1))
enqueue(repair_request(site=mended))
"""


class SlowHost:
    """A host that answers after a while and counts what it is asked for."""

    def __init__(self, make: Callable[[int], Made]) -> None:
        self.host = FakeHost({f"/p/{n}": self._page(make(n)) for n in range(1, N + 1)})

    def asked(self) -> Counter[str]:
        return Counter(
            request.path for request in self.host.asked if request.path.startswith("/p/")
        )

    def _page(self, installation: Made) -> Callable[[Asked], Answer]:
        def answer(_asked: Asked) -> Answer:
            time.sleep(SECONDS)
            return Answer(installation[1], headers={"Content-Type": installation[2]})

        return answer


@pytest.fixture
def hosts() -> Iterator[tuple[SlowHost, SlowHost]]:
    both = SlowHost(product), SlowHost(redesigned)
    with ExitStack() as stack:
        for each in both:
            stack.enter_context(each.host)
        yield both


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    with new_installation(tmp_path / "var") as new:
        new.more["VERTEX_ALLOWED_NETWORKS"] = "127.0.0.0/8"
        new.more["TICKS_WAITED_FOR"] = "sweep_jobs go_on"
        yield new


def kept(installation: Installation) -> dict[str, int]:
    """Return how many pages each kind of job has fetched."""
    rows = installation.query(
        "SELECT CASE WHEN check_run_id IS NULL THEN 'mended' ELSE 'checked' END, count(*)"
        " FROM monitoring_fetchedpage GROUP BY 1"
    )
    return {str(kind): int(n) for kind, n in rows}


def work(installation: Installation, number: int) -> Any:
    options = (
        "-Q",
        "check,learn",
        "-c",
        "2",
        "-n",
        f"work{number}@%h",
        "--without-gossip",
        "--without-mingle",
    )
    return installation.start("-m", "celery", "--quiet", "-A", APP, "worker", *options, log="work")


def tick_twice(installation: Installation) -> None:
    """Start two clocks, and a worker that takes two ticks at once."""
    for number in (1, 2):
        beat = ("beat", "-s", str(installation.var / f"beat{number}"), "--pidfile", "")
        installation.start("-m", "celery", "--quiet", "-A", APP, *beat, log=f"beat{number}")
    options = ("-Q", "clock", "-c", "2", "-n", "clock@%h", "--without-gossip", "--without-mingle")
    installation.start("-m", "celery", "--quiet", "-A", APP, "worker", *options, log="clock")


@pytest.mark.slow
def test_check_and_repair_go_on_where_a_killed_worker_stopped(
    installation: Installation, hosts: tuple[SlowHost, SlowHost]
) -> None:
    checked, mended = hosts
    script = BEGIN.format(checked=checked.host.url, mended=mended.host.url)
    installation.manage("shell", "--no-imports", "--verbosity=0", "-c", script)
    tick_twice(installation)
    worker = work(installation, 1)
    wait_until(
        lambda: (
            min(kept(installation).get(each, 0) for each in ("checked", "mended")) >= N_AT_LEAST
        ),
        "the middle",
    )
    kill_group(worker)
    in_the_middle = kept(installation)
    assert {"running"} == {state for (state,) in installation.query(JOBS)}
    assert max(in_the_middle.values()) < N, "no work was in progress"

    work(installation, 2)
    wait_until(
        lambda: {"done"} == {state for (state,) in installation.query(JOBS)}, "the end of both"
    )
    for host in hosts:
        assert (N, N + LATEST) >= (len(host.asked()), host.asked().total())
    assert [("done", 1)] == installation.query(
        "SELECT state, count(*) FROM monitoring_slot GROUP BY state"
    )
    assert [("done", N, N)] == installation.query(
        "SELECT state, n_pages, n_reachable FROM monitoring_check"
    )
    assert [(N,)] == installation.query("SELECT count(*) FROM monitoring_checkedpage")
    assert [("proposed",)] == installation.query(
        "SELECT decision FROM monitoring_proposal WHERE state = 'waiting' AND "
        "from_cluster_id IS NOT NULL"
    )
    assert [] == installation.query("SELECT name FROM clustering_host WHERE leased_by <> ''")


JOBS = "SELECT state FROM core_job WHERE task IN ('monitoring.run_checks', 'monitoring.heal_site')"
