"""Kill an exploration in the middle: it goes on with what it has; model and pages are the same."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apps.clustering.fake_host import Answer, Asked, FakeHost, page
from tests.journeys.test_crawl_survives_kill import JOB, Installation

pytestmark = pytest.mark.both_databases


CRAWL, HOW = "crawl_site", ("--delay", "0", "--strategy", "densest_first")
OF_SITE = "JOIN core_site AS site ON site.id = site_id WHERE site.name = "
N_LISTS, N_ITEMS = 8, 20


def routes() -> dict[str, Any]:
    """Return lists of items; each item has a page below it."""
    pages: dict[str, Any] = {"/": page(*(f"/list/l-{n}" for n in range(N_LISTS)))}
    for number in range(N_LISTS):
        items = "".join(
            f"<tr><td><a href=/item/i-{number * N_ITEMS + n}>i</a>" for n in range(N_ITEMS)
        )
        pages[f"/list/l-{number}"] = html(f"<table>{items}</table><p>list {number}")
    for number in range(N_LISTS * N_ITEMS):
        pages[f"/item/i-{number}"] = html(
            f"<h1>{number}</h1><b><a href=/item/i-{number}/more>more</a></b>"
        )
        pages[f"/item/i-{number}/more"] = html(f"<i><a href=/item/i-{number}>back</a></i>{number}")
    return pages


def html(body: str) -> Answer:
    return Answer(f"<html><body>{body}".encode(), headers={"Content-Type": "text/html"})


def slowly(answer: Answer) -> Any:
    """Answer after a moment, so that there is a middle to be killed in."""

    def wait(_asked: Asked) -> Answer:
        time.sleep(0.05)
        return answer

    return wait


@pytest.fixture
def host() -> Iterator[FakeHost]:
    with FakeHost({path: slowly(answer) for path, answer in routes().items()}) as serving:
        yield serving


def pages_of(installation: Installation, site: str) -> list[Any]:
    pages = "SELECT url, state, page.status, depth, body FROM clustering_page AS page"
    snapshots = "LEFT JOIN clustering_snapshot AS snapshot ON snapshot.id = latest_snapshot_id"
    return installation.rows(f"{pages} {snapshots} {OF_SITE} '{site}' ORDER BY page.id")


def result_of(installation: Installation, site: str) -> Any:
    ((result,),) = installation.rows(f"SELECT job.result FROM core_job AS job {OF_SITE} '{site}'")
    return json.loads(result) if isinstance(result, str) else result


def kill_in_the_middle(installation: Installation, site: str, n_at_least: int) -> bool:
    """Start the exploration, kill it after so many pages; return whether it was at work then."""
    with installation.start(CRAWL, site, *HOW) as process:
        while process.poll() is None:
            job = installation.rows(JOB)
            if job[0][0] == "running" and job[0][1] >= n_at_least:
                break
            time.sleep(0.01)
        process.kill()
        process.wait()
        return process.returncode == -signal.SIGKILL and installation.rows(JOB)[0][0] == "running"


@pytest.mark.slow
def test_an_exploration_that_is_killed_ends_with_the_same_model_and_pages(
    host: FakeHost, tmp_path: Path
) -> None:
    product = Installation(tmp_path)
    for site in ("calm", "disturbed"):
        assert product.do("add_site", site, "--url", f"{host.url}/") == 0
    assert product.do(CRAWL, "calm", *HOW) == 0

    assert kill_in_the_middle(product, "disturbed", 7)
    assert product.do(CRAWL, "disturbed", *HOW) == 0

    assert pages_of(product, "calm") == pages_of(product, "disturbed")
    result = result_of(product, "calm")
    assert result == result_of(product, "disturbed")
    assert result["classes"] >= 4
    assert result["fetched"] < 0.3 * len(routes())
