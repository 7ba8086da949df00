"""Fetch pages for all jobs that ask for them, in one process."""

from __future__ import annotations

import resource
import signal
from typing import Any, Final

from clustering.services.crawl.engine import stopping
from clustering.services.crawl.fetch_service import FetchService
from vertex.celery import app
from vertex.core.management.output import WorkCommand
from vertex.core.tasks import FETCHING_WORK

# The connections of hundreds of crawls. One that cannot be opened would count as a failure of
# its host.
OPEN_FILES: Final = 16_384


class Command(WorkCommand):
    help = (
        "Do the jobs that fetch, crawls above all, many side by side, "
        "until the process is told to end. "
        "Several such processes may run, on one machine or on several. `up` starts one."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, lambda *_: stopping.set())
        open_more_files()
        app.loader.import_default_modules()  # where the kinds of jobs are registered
        FetchService(FETCHING_WORK).run()


def open_more_files() -> None:
    """Raise the number of files that this process may open: systems begin with 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
