"""The small shop with its published rule, on a host that a test decides about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clustering.dom.addresses import url_hash
from clustering.models import Page
from monitoring.services.checks.checking import check_request, run_checks
from tests.apps.clustering.fake_host import Answer, Asked, FakeHost
from tests.apps.monitoring.monitored_shop import N, shop
from tests.apps.rules.shop_cast import product
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import enqueue

Maker = Callable[[int], tuple[str, bytes, str]]


class Routes(dict[str, Any]):
    """The host's pages, and what it answers to other addresses."""

    other: Answer | None = None

    def get(self, path: str, default: Any = None) -> Any:
        return super().get(path, self.other or default)


class Shop:
    """A shop whose pages can be exchanged; `status` is answered where `make` is None."""

    def __init__(self) -> None:
        self.make: Maker | None = product
        self.status = 403
        self.host = FakeHost({})
        self.routes = self.host.routes = Routes(
            {f"/p/{n}": self._answer(n) for n in range(1, N + 1)}
        )

    def open(self) -> Site:
        """Move the site's pages to the host."""
        site = shop()
        Site.objects.filter(pk=site.pk).update(root_url=f"{self.host.url}/", crawl_delay=0.0)
        for page in Page.objects.filter(site=site):
            url = page.url.replace(site.root_url, f"{self.host.url}/")
            Page.objects.filter(pk=page.pk).update(url=url, url_hash=url_hash(url))
        site.refresh_from_db()
        return site

    def asked(self) -> list[str]:
        """Return the product pages that were asked for."""
        return [request.path for request in self.host.asked if request.path.startswith("/p/")]

    def _answer(self, n: int) -> Callable[[Asked], Answer]:
        def answer(_asked: Asked) -> Answer:
            if self.make is None:
                return Answer(status=self.status)
            _, body, kind = self.make(n)
            return Answer(body, headers={"Content-Type": kind})

        return answer


def check_as_worker(site: Site) -> Job:
    """Let a worker check a site, and return how its job ended."""
    return run_job(enqueue(check_request(site=site)).pk, run_checks)


def come_back() -> Job:
    """Let the worker do the job that was put off."""
    job = Job.objects.get(task="monitoring.run_checks", state=Job.State.DUE)
    Job.objects.filter(pk=job.pk).update(due_at=job.created_at)
    return run_job(job.pk, run_checks)
