"""Fetch pages for all jobs that ask for them, in one process."""

from __future__ import annotations

import signal
from typing import Any

from clustering.services.crawl.engine import stopping
from clustering.services.crawl.fetch_service import FetchService
from vertex.celery import app
from vertex.core.management.output import WorkCommand
from vertex.core.tasks import FETCHING_WORK


class Command(WorkCommand):
    help = (
        "Do the jobs that fetch, crawls above all, many side by side, until the process is told to end. "
        "Several such processes may run, on one machine or on several. `up` starts one."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, lambda *_: stopping.set())
        app.loader.import_default_modules()  # where the kinds of jobs are registered
        FetchService(FETCHING_WORK).run()
