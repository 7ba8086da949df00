"""Let a demo site's stream flow for days of a moved clock: `playing DIR DAYS` prints one line."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import django
import numpy as np
import time_machine

from benchmarks.histories.playing import call
from benchmarks.stream.simulated_pages import NEVER, SimulatedPages
from benchmarks.stream_month.prices import (
    GOAL_HOURS,
    dearer,
    draw_changes,
    euros_of,
    is_product,
)
from tests.apps.clustering.fake_host import Answer, Asked, FakeHost
from vertex.demo import sites
from vertex.demo.sites import DemoPage
from vertex.demo.sites.site import annotation_lines

SITE: Final = "alpine-shop"
CLUSTERED_TYPES: Final = frozenset({"product", "list", "guide", "brand"})
N_ANNOTATED: Final = 3
BEGAN: Final = datetime(2026, 1, 5, tzinfo=UTC)
PATIENCE: Final = 120.0  # seconds of the clock on the wall that the visits of an hour may take


def main(arguments: list[str]) -> int:
    """Print what came of the days, once they are over."""
    folder, days = Path(arguments[0]), int(arguments[1])
    os.environ["DJANGO_SETTINGS_MODULE"] = "vertex.settings"
    django.setup()
    call("migrate", "--no-input", "-v0")
    with time_machine.travel(BEGAN) as clock:
        print(json.dumps(Month(folder).play(clock, days)), flush=True)
    return 0


class Month:
    """A demo site whose prices change by a clock, and the records that the product has of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.demo = sites.load(SITE)
        self.hour = 0
        self.products = [page for page in self.demo.pages.values() if is_product(page)]
        self.changes: dict[str, Any] = {}  # by path, the hours at which the price is another one
        self.host = FakeHost({path: self._answer(page) for path, page in self.demo.pages.items()})

    def play(self, clock: time_machine.Traveller, days: int) -> dict[str, Any]:
        """Return what came of the days, hour by hour."""
        with self.host:
            self._begin()
            pages = self._draw_changes(days)
            n_before = len(self.host.asked)
            late_by_hour = []
            for hour in range(1, 24 * days + 1):
                self.hour = hour
                clock.move_to(BEGAN + timedelta(hours=hour))
                flow()
                late_by_hour.append(self._late_share(pages))
            asked = Counter(request.path for request in self.host.asked[n_before:])
        n_of_products = sum(asked[path] for path in self.changes)
        return {
            "pages": len(pages.kinds),
            "changing": sum(kind != NEVER for kind in pages.kinds),
            "late": float(np.mean(late_by_hour)),
            "worst_day": float(np.array(late_by_hour).reshape(-1, 24).mean(axis=1).max()),
            "requests": n_of_products,
            "other_requests": asked.total() - n_of_products,
        }

    def _begin(self) -> None:
        """Bring the site in, with a rule for its products and their records."""
        from monitoring.services.checks.schedules import change_schedule
        from vertex.core.models import Site

        (self.folder / "vertical.json").write_text(json.dumps(self.demo.vertical))
        call("load_vertical", f"{self.folder}/vertical.json")
        call(
            "add_site", SITE, "--url", f"{self.host.url}/", "--vertical", self.demo.vertical["name"]
        )
        call("import_pages", SITE, self._manifest())
        call("cluster_site", SITE)
        lines = [
            json.dumps({"url": self.host.url + page.path} | line)
            for page in self.products[:N_ANNOTATED]
            for line in annotation_lines(page)
        ]
        (self.folder / "annotations.jsonl").write_text("\n".join(lines))
        call("import_annotations", SITE, f"{self.folder}/annotations.jsonl")
        call("learn_rules", SITE)
        call("extract_records", SITE)
        # Checks ask for pages of their own; here those that the stream asks for are counted.
        change_schedule(site=Site.objects.get(name=SITE), is_active=False)
        Site.objects.filter(name=SITE).update(crawl_delay=0.0)

    def _manifest(self) -> str:
        """Write the pages that are clustered as an archive, and return its manifest."""
        manifest = self.demo.write(self.folder / "pages", self.host.url)
        wanted = {
            self.host.url + page.path
            for page in self.demo.pages.values()
            if page.type in CLUSTERED_TYPES
        }
        lines = manifest.read_text().splitlines()
        entries = [json.loads(line) for line in lines]
        kept = [
            json.dumps(entry | {"fetched_at": BEGAN.isoformat()})
            for entry in entries
            if entry["url"] in wanted
        ]
        manifest.write_text("\n".join(kept))
        return str(manifest)

    def _draw_changes(self, days: int) -> SimulatedPages:
        """Draw when each product's price changes; only those with a priced record count."""
        shown = self._shown_prices()
        known = [page for page in self.products if page.path in shown]
        pages = draw_changes(len(known), days)
        self.changes = dict(zip((page.path for page in known), pages.changes, strict=True))
        return pages

    def _answer(self, page: DemoPage) -> Callable[[Asked], Answer]:
        headers = {"Content-Type": page.content_type}

        def answer(_asked: Asked) -> Answer:
            n = self._n_changes(page.path)
            return Answer(dearer(page, n) if n else page.body, page.status, headers)

        return answer

    def _n_changes(self, path: str) -> int:
        return int(np.searchsorted(self.changes.get(path, []), self.hour, side="right"))

    def _shown_prices(self) -> dict[str, int]:
        """Return the whole euros of each record's price, by path."""
        from rules.models import Record

        rows = Record.objects.there().filter(site__name=SITE).values_list("page__url", "values")
        return {
            url.removeprefix(self.host.url): euros_of(str(values["price"]))
            for url, values in rows
            if values.get("price")
        }

    def _late_share(self, pages: SimulatedPages) -> float:
        """Return the share of late records.

        They have shown another price than their page for longer than the goal.
        """
        shown = self._shown_prices()
        price_by_path = {page.path: euros_of(str(page.values["price"])) for page in self.products}
        n_late = 0
        for path, changes in self.changes.items():
            n_seen = shown[path] - price_by_path[path]
            stale_from = changes[n_seen] if n_seen < len(changes) else np.inf
            n_late += bool(stale_from < self.hour - GOAL_HOURS)
        return n_late / len(pages.kinds)


def flow() -> None:
    """Tick the clock and do what it asks for.

    The one loop that fetches makes the visits, a worker does the rest.
    """
    from celery import current_app

    from clustering.services.crawl.fetch_service import FetchService
    from clustering.services.crawl.revisiting import REVISIT_PAGES, revisit
    from monitoring.services.stream.chain import go_on
    from monitoring.services.stream.planning import plan_goals
    from vertex.core.models import Job

    current_app.loader.import_default_modules()
    plan_goals()
    go_on()
    visits = Job.objects.unfinished().filter(task=REVISIT_PAGES.task)
    if not visits.exists():
        return
    service = FetchService({REVISIT_PAGES.task: revisit})
    until = time.monotonic() + PATIENCE
    with service.engine:
        while visits.exists():
            assert time.monotonic() < until, "visits of an hour do not end"
            service.go_on()
    go_on()
    for job in Job.objects.unfinished().exclude(queue=Job.Queue.FETCH).order_by("pk"):
        current_app.tasks[job.task].apply(args=(job.pk,))
    plan_goals()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
